//go:build unix

package stdio_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/internal/schema"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/metrics"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/stdio"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// newBridge returns a bridge before an upstream.
func newBridge(t *testing.T, dial func() transports.Upstream, name string) *bridge.Bridge {
	t.Helper()
	ladder := rewrite.Standard()
	b := bridge.New(bridge.Settings{
		Ladder: ladder, Dial: dial, UpstreamTransport: name, Upstream: "the server",
		Deps: rewrite.Deps{Validate: schema.Validate}, Options: mcp.DefaultOptions(),
		Observer: metrics.New(prometheus.NewRegistry(), ladder.Versions()), Log: zerolog.Nop(),
	})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			t.Errorf("closing the bridge: %v", err)
		}
	})
	return b
}

// web serves a bridge to HTTP clients.
func web(t *testing.T, b *bridge.Bridge) (url string) {
	t.Helper()
	site := httptest.NewUnstartedServer(nil)
	guard, err := transports.NewGuard(site.Listener.Addr().String(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	site.Config.Handler = streamable.NewServer(b, guard, streamable.ServerConfig{})
	site.Start()
	t.Cleanup(func() {
		site.CloseClientConnections()
		site.Close()
	})
	return site.URL
}

// visit returns an HTTP client of the bridge.
func visit(t *testing.T, url string) *peer {
	t.Helper()
	c, err := streamable.NewClient(url, streamable.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	p := &peer{t: t, Upstream: c.Conversation()}
	t.Cleanup(func() { _ = p.Close(context.Background()) })
	return p
}

// opened returns a client that has completed its handshake.
func (c *peer) opened() *peer {
	c.t.Helper()
	answer := c.open()
	c.Agree(mcp.Version(answer.Body.Text("protocolVersion")), mcp.Traits{Sessions: true, VersionHeader: true})
	if err := c.Send(c.t.Context(), mcp.NewNotification(mcp.Initialized, nil), transports.Outgoing{}); err != nil {
		c.t.Fatal(err)
	}
	return c
}

func TestHTTPClientsOfChildren(t *testing.T) {
	p, j := program(t, "server", nil)
	b := newBridge(t, p.Conversation, stdio.Name)
	url := web(t, b)
	one, other := visit(t, url).opened(), visit(t, url).opened()
	first, neighbour := one.call("pid"), other.call("pid")
	if first == neighbour || p.Running() != 2 {
		t.Errorf("two sessions have the children %s and %s; %d run", first, neighbour, p.Running())
	}
	if got := one.call("exits"); !strings.HasPrefix(got, "error: the process of the upstream server ") || !strings.Contains(got, "(exit status ") || strings.Contains(got, "disk") {
		t.Errorf("the client is told %q", got)
	}
	j.await(t, "the disk is full")
	if next := one.call("pid"); next == first || strings.HasPrefix(next, "error: ") {
		t.Errorf("the next call got %q", next)
	}
	if got := one.call("exits"); !strings.HasPrefix(got, "error: ") {
		t.Errorf("the client is told %q", got)
	}
	if got := one.call("pid"); !strings.HasPrefix(got, "error: ") { // its command rests for a second
		t.Errorf("the call after two deaths got %q", got)
	}
	if got := other.call("pid"); got != neighbour {
		t.Errorf("the other session has the child %s", got)
	}
	if third := visit(t, url).opened().call("pid"); strings.HasPrefix(third, "error: ") {
		t.Errorf("a new session got %q", third)
	}
	if err := one.Close(t.Context()); err != nil { // DELETE
		t.Error(err)
	}
	if got := other.call("noise"); got != "quiet" {
		t.Errorf("got %q", got)
	}
}

func TestCommandsThatDoNotWork(t *testing.T) {
	for kind, path := range map[string]string{"exits": "", "server": "no-such-command"} {
		p, _ := program(t, kind, func(s *stdio.Command) {
			if path != "" {
				s.Path = path
			}
		})
		b := newBridge(t, p.Conversation, stdio.Name)
		url := web(t, b)
		for range 3 {
			answer, err := visit(t, url).ask(mcp.Initialize, `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
			if err != nil || answer.Kind != mcp.Failure || strings.Contains(textOf(answer), "configuration") {
				t.Errorf("%s%s: the client is told %v %v", kind, path, answer, err)
			}
		}
		if b.Sessions() != 0 {
			t.Errorf("%d sessions are left", b.Sessions())
		}
	}
}

// upstreamServer is an HTTP server whose tool "never" is not answered until
// it is cancelled.
func upstreamServer(t *testing.T) (url string, seen *journal) {
	seen = newJournal()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, err := mcp.DecodeMessage(body)
		switch {
		case r.Method == http.MethodDelete:
			seen.note("told")("DELETE")
		case r.Method != http.MethodPost || err != nil:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.Kind != mcp.Request:
			seen.note("told")(m.Method)
			w.WriteHeader(http.StatusAccepted)
		case m.Method == mcp.ToolsCall && m.Body.Text("name") == "never":
			seen.note("asked")("never")
			<-r.Context().Done()
		default:
			result := `{}`
			switch m.Method {
			case mcp.ToolsCall:
				result = text("over HTTP")
			case mcp.Initialize:
				w.Header().Set(mcp.HeaderSession, "s")
				result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"up","version":"1"}}`, m.Body.Text("protocolVersion"))
			}
			w.Header().Set("Content-Type", "application/json")
			w.Write(answer(m, result))
		}
	}))
	t.Cleanup(func() {
		site.CloseClientConnections()
		site.Close()
	})
	return site.URL, seen
}

const handshake = `{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// session writes a client's input to the bridge, all at once, and returns the
// bridge's output by id.
func session(t *testing.T, b *bridge.Bridge, input string) map[string]string {
	t.Helper()
	var out strings.Builder
	if err := stdio.Serve(t.Context(), b, strings.NewReader(input), &out, stdio.ServerConfig{Linger: patience}); err != nil {
		t.Error(err)
	}
	got := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var m struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("the client gets %q: %v", line, err)
		}
		got[string(m.ID)] = line
	}
	return got
}

func TestStdioClient(t *testing.T) {
	calls := handshake + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"crlf"}}` + "\n" +
		`{"jsonrpc":"2.0","id":"2","method":"ping"}` + "\n" + "nonsense\n" + `{"jsonrpc":"2.0","id":2.5,"method":"ping"}` + "\n"
	check := func(t *testing.T, b *bridge.Bridge, text string) {
		t.Helper()
		got := session(t, b, calls)
		for id, want := range map[string]string{`"a"`: `"protocolVersion":"2024-11-05"`, "2": text, `"2"`: `"result":{}`} {
			if !strings.Contains(got[id], want) {
				t.Errorf("the answer to %s is %s", id, got[id])
			}
		}
		if len(got) != 3 {
			t.Errorf("the client gets %d kinds of lines: %v", len(got), got)
		}
		if b.Sessions() != 0 {
			t.Errorf("%d sessions are left", b.Sessions())
		}
	}
	t.Run("of an HTTP server", func(t *testing.T) {
		transporttest.Goroutines(t)
		descriptors(t)
		url, seen := upstreamServer(t)
		up, err := streamable.NewClient(url, streamable.ClientConfig{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(up.CloseIdleConnections)
		check(t, newBridge(t, up.Conversation, streamable.Name), "over HTTP")
		seen.await(t, "DELETE")
	})
	t.Run("of a child", func(t *testing.T) {
		p, _ := program(t, "server", nil)
		check(t, newBridge(t, p.Conversation, stdio.Name), "crlf")
	})
}

// TestLeavingCancels lets a stdio client leave while the server works for it.
func TestLeavingCancels(t *testing.T) {
	transporttest.Goroutines(t)
	url, seen := upstreamServer(t)
	up, err := streamable.NewClient(url, streamable.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(up.CloseIdleConnections)
	b := newBridge(t, up.Conversation, streamable.Name)
	in, input := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- stdio.Serve(t.Context(), b, in, io.Discard, stdio.ServerConfig{Linger: time.Millisecond})
	}()
	io.WriteString(input, handshake+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"never"}}`+"\n")
	seen.await(t, "never")
	input.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	seen.await(t, mcp.Cancelled)
	seen.await(t, "DELETE")
}
