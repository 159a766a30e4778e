package bridge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// A server that asks without end and takes no answer does not make the bridge
// grow.
func TestHostilePings(t *testing.T) {
	r := newRig(t, nil)
	const pings = 2000
	release, sent := make(chan struct{}), make(chan struct{})
	r.up.set(func() {
		r.up.first = func(c *call) bool {
			if c.Message != nil && c.IsAnswer() {
				c.wait(release)
			}
			return false
		}
	})
	r.up.handle("tools/call ask", func(c *call) {
		for range pings {
			_, _ = c.post(mcp.Ping, `{}`)
		}
		close(sent)
		c.wait(release)
		c.text("done")
	})
	c := r.open(v4, `{}`)
	call := hosted(c, toolCall(`1`, "ask", `1`))
	within(t, "the last ping", sent)
	c.works()
	if n := running("conversation).do"); n > 100 {
		t.Errorf("%d goroutines answer", n)
	}
	close(release)
	if got := <-call; !strings.Contains(got.body, "done") {
		t.Errorf("%d %s", got.status, got.body)
	}
	r.heard.await(t, "sent server result ping", pings)
}

// A server may spell our ids its own way, and answer on whatever stream it
// likes: the answers arrive, and nothing counts as a failure.
func TestHostileIDs(t *testing.T) {
	for name, script := range map[string]func(*call){
		"a string": func(c *call) {
			c.reply(200, "application/json", `{"jsonrpc":"2.0","id":"`+c.ID.String()+`","result":{"content":[]}}`)
		},
		"with a fraction": func(c *call) {
			c.reply(200, "application/json", `{"jsonrpc":"2.0","id":`+c.ID.String()+`.0,"result":{"content":[]}}`)
		},
		"twice": func(c *call) {
			_ = c.event(`{"jsonrpc":"2.0","id":` + c.ID.String() + `,"result":{"content":[]}}`)
			_ = c.event(`{"jsonrpc":"2.0","id":` + c.ID.String() + `,"result":{"content":[1]}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.up.handle("tools/call f", script)
			c := r.open(v4, `{}`)
			if got := c.post(toolCall(`"f"`, "f", `1`)); got.body != `{"jsonrpc":"2.0","id":"f","result":{"content":[]}}` {
				t.Errorf("%d %s", got.status, got.body)
			}
			gives(t, "the exchange does not end", func() bool { return running("conversation).run") == 0 })
			if n := r.heard.starting("failed") - r.heard.count("failed server unknown_response"); n != 0 {
				t.Errorf("heard %v", r.heard.counts)
			}
		})
	}
}

// The answer of one call comes on the stream of another (report 63).
func TestReport63AnswerOnAnotherStream(t *testing.T) {
	r := newRig(t, nil)
	first := make(chan string, 1)
	done := make(chan struct{})
	r.up.handle("tools/call a", func(c *call) {
		first <- c.ID.String()
		c.wait(done)
		c.stream() // and ends without a word
	})
	r.up.handle("tools/call b", func(c *call) {
		_ = c.event(`{"jsonrpc":"2.0","id":` + <-first + `,"result":{"content":[]}}`)
		c.text("b")
	})
	c := r.open(v4, `{}`)
	a := hosted(c, toolCall(`1`, "a", `1`))
	r.up.await(t, mcp.ToolsCall, 1)
	if got := c.post(toolCall(`2`, "b", `1`)); !strings.Contains(got.body, `"id":2,"result":{"content":[{"type":"text","text":"b"}]}`) {
		t.Errorf("b got %s", got.body)
	}
	if got := <-a; got.body != `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}` {
		t.Errorf("a got %s", got.body)
	}
	close(done)
	gives(t, "the exchange does not end", func() bool { return running("conversation).run") == 0 })
	if n := r.heard.starting("failed"); n != 0 {
		t.Errorf("heard %v", r.heard.counts)
	}
}

// A server that talks without end before it answers initialize.
func TestHostileOpening(t *testing.T) {
	r := newRig(t, nil)
	r.up.stateless = true
	f, release := newFlood(plenty), make(chan struct{})
	r.up.opens(func(c *call) {
		f.pour(c)
		c.wait(release)
		r.up.initialize(c)
	})
	before := heap()
	c := r.client()
	opening := hosted(c, initializeWith(`0`, v4, `{}`))
	within(t, "the end of the flood", f.done)
	if grown := heap() - before; grown > allowance {
		t.Errorf("the heap has grown by %d MiB", grown>>20)
	}
	close(release)
	c.session = (<-opening).header.Get(mcp.HeaderSession)
	if got := c.post(toolCall(`1`, "t", `1`)); !strings.Contains(got.body, echoed(`1`, `1`)) {
		t.Errorf("%d %d bytes, at the end %s", got.status, len(got.body), got.body[max(0, len(got.body)-300):])
	}
}

// One client cannot answer what another was asked, although the ids are the
// same.
func TestHostileAnswersOfOneSessionToAnother(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle("tools/call ask", asking(mcp.RootsList, `{}`))
	a, b := r.open(v4, allClientCapabilities), r.open(v4, allClientCapabilities)
	s := a.stream(http.MethodPost, toolCall(`1`, "ask", `1`))
	question := s.next()
	b.accepted(answerTo(t, question, `"result":{"roots":[{"uri":"file:///evil"}]}`))
	r.heard.await(t, "failed client unknown_response", 1)
	a.accepted(answerTo(t, question, `"result":{"roots":[]}`))
	s.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"roots\":[]}"}]}}`)
}
