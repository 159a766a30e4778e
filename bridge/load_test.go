package bridge_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// worker is one of many clients; what it sends bears its name, so that an
// answer to another would show.
type worker struct {
	*client
	name    string
	version string
}

// steps is what every worker does, in an order of its own.
func (w *worker) steps() []func() error {
	return []func() error{w.echo, w.progress, w.asked, w.cancelled, w.batch, w.list}
}

func (w *worker) work(n int) error {
	steps := w.steps()
	for i := range steps {
		if err := steps[(i+n)%len(steps)](); err != nil {
			return fmt.Errorf("client %s: %w", w.name, err)
		}
	}
	if n%2 == 0 {
		_, err := w.try(http.MethodDelete, "")
		return err
	}
	return nil
}

func (w *worker) begin() error {
	got, err := w.try(http.MethodPost, initializeWith(`0`, w.version, allClientCapabilities))
	if err != nil {
		return err
	}
	if w.session = got.header.Get(mcp.HeaderSession); w.session == "" {
		return fmt.Errorf("no session: %d %s", got.status, got.body)
	}
	return w.expect(initialized, "")
}

// expect posts a message and wants that answer.
func (w *worker) expect(body, want string) error {
	got, err := w.try(http.MethodPost, body)
	if err == nil && got.body != want {
		err = fmt.Errorf("%s is answered %d %s", body, got.status, got.body)
	}
	return err
}

func (w *worker) echo() error {
	v := strconv.Quote(w.name)
	return w.expect(toolCall(`1`, "echo", v), echoed(`1`, v))
}

// hears posts a call and wants these events and then the end.
func (w *worker) hears(body string, want ...string) error {
	s, err := w.tryStream(http.MethodPost, body)
	if err != nil {
		return err
	}
	defer s.leave()
	for _, event := range want {
		if got, err := s.event(); err != nil || got != event {
			return fmt.Errorf("heard %s %v, want %s", got, err, event)
		}
	}
	if got, err := s.event(); err != io.EOF {
		return fmt.Errorf("no end but %s %v", got, err)
	}
	return nil
}

func (w *worker) progress() error {
	v := strconv.Quote(w.name)
	return w.hears(request(`1`, mcp.ToolsCall, `{"name":"steps","arguments":{"v":`+v+`},"_meta":{"progressToken":`+v+`}}`),
		progressNote(v, "0"), progressNote(v, "1"), progressNote(v, "2"), echoed(`1`, v))
}

// asked is a call during which the server asks; before elicitation there was
// sampling.
func (w *worker) asked() error {
	tool, answer := "elicit", `{"action":"accept","content":{"name":"`+w.name+`"}}`
	if w.version < v3 {
		tool, answer = "sample", `{"role":"assistant","content":{"type":"text","text":"`+w.name+`"},"model":"m"}`
	}
	s, err := w.tryStream(http.MethodPost, toolCall(`1`, tool, strconv.Quote(w.name)))
	if err != nil {
		return err
	}
	defer s.leave()
	question, err := s.event()
	if err != nil || !strings.Contains(question, `"`+w.name+`?"`) {
		return fmt.Errorf("was asked %s %w", question, err)
	}
	m, err := mcp.DecodeMessage([]byte(question))
	if err != nil {
		return err
	}
	if err := w.expect(`{"jsonrpc":"2.0","id":`+m.ID.String()+`,"result":`+answer+`}`, ""); err != nil {
		return err
	}
	if got, err := s.event(); err != nil || !strings.Contains(got, string(mcp.Quote(answer))) {
		return fmt.Errorf("answered %s, got %s %w", answer, got, err)
	}
	return nil
}

func (w *worker) cancelled() error {
	s, err := w.tryStream(http.MethodPost, request(`1`, mcp.ToolsCall, `{"name":"hang","_meta":{"progressToken":1}}`))
	if err != nil {
		return err
	}
	defer s.leave()
	if got, err := s.event(); err != nil || got != progressNote(`1`, "0") {
		return fmt.Errorf("heard %s %w", got, err)
	}
	if err := w.expect(cancelNote(`1`), ""); err != nil {
		return err
	}
	if got, err := s.event(); err != io.EOF {
		return fmt.Errorf("after the cancellation came %s %w", got, err)
	}
	return nil
}

func (w *worker) batch() error {
	v := strconv.Quote(w.name)
	got, err := w.try(http.MethodPost, batch(toolCall(`1`, "echo", `1`), toolCall(`2`, "steps", v), request(`3`, mcp.Ping, `{}`)))
	if err != nil {
		return err
	}
	for _, want := range []string{echoed(`1`, `1`), echoed(`2`, v), pong(`3`)} {
		if strings.Count(got.body, "data: "+want+"\n\n") != 1 {
			return fmt.Errorf("the batch is answered %s", got.body)
		}
	}
	return nil
}

func (w *worker) list() error {
	return w.expect(request(`"l"`, mcp.ToolsList, `{}`), `{"jsonrpc":"2.0","id":"l","result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}`)
}

// busy scripts the server that the workers talk to.
func (s *server) busy() {
	s.handle("tools/call steps", func(c *call) {
		if _, wanted := c.ProgressToken(); wanted {
			for i := range 3 {
				_ = c.progress(i)
			}
		}
		c.standard()
	})
	s.handle("tools/call elicit", func(c *call) {
		name := c.Body.Object("arguments").Text("v")
		m := c.ask(mcp.Elicit, `{"message":"`+name+`?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`)
		c.text(string(m.Body.Raw()))
	})
	s.handle("tools/call sample", func(c *call) {
		name := c.Body.Object("arguments").Text("v")
		m := c.ask(mcp.CreateMessage, `{"messages":[],"maxTokens":1,"systemPrompt":"`+name+`?"}`)
		c.text(string(m.Body.Raw()))
	})
	s.handle("tools/call hang", func(c *call) {
		_ = c.progress(0)
		c.wait(nil)
	})
}

// Many clients do everything at once: no answer is lost or crossed, and
// nothing is left when the bridge is closed.
func TestManySessions(t *testing.T) {
	r := newRig(t, nil)
	r.up.busy()
	before := runtime.NumGoroutine()
	const sessions = 200
	done := make(chan error)
	for i := range sessions {
		go func() {
			w := &worker{client: r.client(), name: "w" + strconv.Itoa(i), version: []string{v1, v2, v3, v4}[i%4]}
			err := w.begin()
			if err == nil {
				err = w.work(i)
			}
			done <- err
		}()
	}
	for range sessions {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := r.bridge.Sessions(); n != sessions/2 {
		t.Errorf("%d sessions are left", n)
	}
	if err := r.close(patience); err != nil {
		t.Fatal(err)
	}
	r.idle()
	gives(t, "goroutines are left", func() bool { return runtime.NumGoroutine() <= before })
	for _, fact := range []string{"failed", "lost", "answered after"} {
		if n := r.heard.starting(fact); n != 0 {
			t.Errorf("heard %v", r.heard.counts)
		}
	}
}
