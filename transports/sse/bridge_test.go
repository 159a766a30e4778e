package sse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

const (
	call     = `{"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{"name":"t","arguments":{},"_meta":{"progressToken":"p"}}}`
	progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`
)

// TestOlderClientNewerServer lets a client of HTTP+SSE use a server of
// Streamable HTTP.
func TestOlderClientNewerServer(t *testing.T) {
	p := newPeer(t)
	p.handle(mcp.ToolsCall, func(w http.ResponseWriter, m *mcp.Message) {
		token, _ := m.ProgressToken()
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, event(fmt.Sprintf(progress, token.Raw()))+
			event(string(m.Answer(mcp.MustObject(`{"structuredContent":{"n":9007199254740993}}`)).Bytes())))
	})
	b := newBridge(t, newer(t, p.URL).Conversation)
	u, heard := listening(t, dial(t, b.URL+StreamPath, ClientConfig{}).Conversation())
	start(t, u, "2024-11-05", `{"roots":{}}`)
	got, err := send(t, u, call)
	if err != nil || len(got) != 1 || !strings.Contains(got[0], `{\"n\":9007199254740993}`) || !strings.Contains(got[0], `"id":"c1"`) {
		t.Errorf("%v %q", err, got)
	}
	if got := within(t, "the progress", heard); !strings.Contains(got, `"progressToken":"p"`) {
		t.Errorf("heard %q", got)
	}
	within(t, "the start upstream", p.told)
	question := mcp.NewRequest(mcp.RootsList, nil)
	question.ID = mcp.TextID("q")
	p.news <- question
	asked := message(t, within(t, "the question", heard))
	if _, err := send(t, u, string(asked.Answer(mcp.MustObject(`{"roots":[]}`)).Bytes())); err != nil {
		t.Error(err)
	}
	if got := within(t, "the answer upstream", p.told); got != `{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}` {
		t.Errorf("the server was told %s", got)
	}
	if err := u.Close(t.Context()); err != nil {
		t.Error(err)
	}
	within(t, "the end upstream", p.ended)
}

// TestBeforeInitialize has a client that reconnects and goes on as if nothing
// had happened (field report 125).
func TestBeforeInitialize(t *testing.T) {
	p := newPeer(t)
	b := newBridge(t, newer(t, p.URL).Conversation)
	u, _ := listening(t, dial(t, b.URL+StreamPath, ClientConfig{}).Conversation())
	if got, err := send(t, u, `{"jsonrpc":"2.0","id":9,"method":"ping"}`); err != nil || len(got) != 1 || got[0] != `{"jsonrpc":"2.0","id":9,"result":{}}` {
		t.Errorf("%v %q", err, got)
	}
	if _, err := send(t, u, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`); err != nil {
		t.Error(err)
	}
	got, err := send(t, u, call)
	if err != nil || len(got) != 1 || !strings.Contains(got[0], `"id":"c1"`) || !strings.Contains(got[0], "-32600") {
		t.Errorf("%v %q", err, got)
	}
	if len(p.seen) != 0 {
		t.Errorf("the server was sent %v", p.seen)
	}
	start(t, u, "2024-11-05", `{}`)
	if got, err := send(t, u, initializing("2024-11-05", "{}")); err != nil || !strings.Contains(got[0], "already initialized") {
		t.Errorf("%v %q", err, got)
	}
	if p.count(mcp.Initialize) != 1 {
		t.Errorf("the server was initialized %d times", p.count(mcp.Initialize))
	}
}

// TestRefusedHandshake has a server that wants credentials: the POST says so
// as the server did, and the stream's credentials are what it gets.
func TestRefusedHandshake(t *testing.T) {
	p := newPeer(t)
	p.handle(mcp.Initialize, func(w http.ResponseWriter, m *mcp.Message) {
		p.mu.Lock()
		given := p.headers[len(p.headers)-1].Get("Authorization")
		p.mu.Unlock()
		if given == "Bearer good" {
			reply(w, m, opening)
			return
		}
		w.Header().Set("Www-Authenticate", `Bearer resource_metadata="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	b := newBridge(t, newer(t, p.URL).Conversation)
	for credential, ok := range map[string]bool{"": false, "Bearer bad": false, "Bearer good": true} {
		u, _ := listening(t, dial(t, b.URL+StreamPath, ClientConfig{}).Conversation())
		m := message(t, initializing("2024-11-05", "{}"))
		if credential != "" {
			m.Header = http.Header{"Authorization": {credential}}
		}
		err := u.Send(t.Context(), m, transports.Outgoing{Receive: func(*mcp.Message) {}})
		r, refused := errors.AsType[*mcp.Refusal](err)
		if (err == nil) != ok || !ok && (!refused || r.Status != 401 || r.Header.Get("Www-Authenticate") == "") {
			t.Errorf("%q: %v", credential, err)
		}
	}
}

// TestUpstreamForgets has a server that loses the session and is another one
// then: the stream ends, which is all that a client of this transport can be
// told.
func TestUpstreamForgets(t *testing.T) {
	p := newPeer(t)
	b := newBridge(t, newer(t, p.URL).Conversation)
	u, _ := listening(t, dial(t, b.URL+StreamPath, ClientConfig{}).Conversation())
	start(t, u, "2024-11-05", "{}")
	p.handle(mcp.ToolsCall, func(w http.ResponseWriter, _ *mcp.Message) { w.WriteHeader(http.StatusNotFound) })
	p.handle(mcp.Initialize, func(w http.ResponseWriter, m *mcp.Message) {
		reply(w, m, strings.Replace(opening, `"tools":{},`, "", 1))
	})
	ended := make(chan error, 1)
	go func() { ended <- u.Listen(context.Background(), transports.Outgoing{Receive: func(*mcp.Message) {}}) }()
	got, err := send(t, u, call)
	if err != nil && !errors.Is(err, transports.ErrBroken) || err == nil && !strings.Contains(got[0], "error") {
		t.Errorf("%v %q", err, got)
	}
	if err := within(t, "the end of the stream", ended); !errors.Is(err, transports.ErrBroken) || b.Sessions() != 0 {
		t.Errorf("%v, %d sessions", err, b.Sessions())
	}
}

// older is a scripted server of HTTP+SSE that answers as an MCP server does.
// Hung has a token for each call that is never answered.
func older(t *testing.T) (s *script, hung chan struct{}) {
	s, hung = newScript(t), make(chan struct{}, 8)
	s.post = answer(func(_ *http.Request, body string) string {
		m := message(t, body)
		switch {
		case m.Kind != mcp.Request:
			return ""
		case m.Method == mcp.Initialize:
			return event(string(m.Answer(mcp.MustObject(strings.Replace(opening, "2025-11-25", "2024-11-05", 1))).Bytes()))
		case m.Method == mcp.ToolsCall && m.Body.Text("name") == "hang":
			hung <- struct{}{}
			return ""
		case m.Method == mcp.ToolsCall:
			token, _ := m.ProgressToken()
			return event(fmt.Sprintf(progress, token.Raw())) + event(string(m.Answer(mcp.MustObject(`{"content":[{"type":"text","text":"x"}]}`)).Bytes()))
		}
		return event(string(m.Answer(mcp.NewObject()).Bytes()))
	})
	return s, hung
}

// TestNewerClientOlderServer lets a client of Streamable HTTP use a server of
// HTTP+SSE, also after that lost its stream with a call under way.
func TestNewerClientOlderServer(t *testing.T) {
	s, hung := older(t)
	b := newBridge(t, dial(t, s.URL+"/sse", ClientConfig{}).Conversation)
	u := newer(t, b.URL+"/mcp").Conversation()
	t.Cleanup(func() { _ = u.Close(context.Background()) })
	start(t, u, "2025-06-18", "{}")
	got, err := send(t, u, call)
	if err != nil || len(got) != 2 || !strings.Contains(got[0], `"progressToken":"p"`) || !strings.Contains(got[1], `"id":"c1"`) {
		t.Errorf("%v %q", err, got)
	}
	hanging := make(chan []string, 1)
	go func() {
		got, _ := send(t, u, strings.Replace(call, `"t"`, `"hang"`, 1))
		hanging <- got
	}()
	within(t, "the call's arrival", hung)
	s.stream <- ""
	if got := within(t, "the call's end", hanging); len(got) != 1 || !strings.Contains(got[0], "-32603") {
		t.Errorf("%q", got)
	}
	if got, err := send(t, u, call); err != nil || len(got) != 2 {
		t.Errorf("after the stream ended: %v %q", err, got)
	}
	if len(s.gets) != 2 {
		t.Errorf("%d streams were opened", len(s.gets))
	}
	if err := u.Close(t.Context()); err != nil {
		t.Error(err)
	}
	within(t, "the end upstream", s.gone)
}

// TestOlderClientOlderServer has the old transport on both sides.
func TestOlderClientOlderServer(t *testing.T) {
	s, _ := older(t)
	b := newBridge(t, dial(t, s.URL+"/sse", ClientConfig{}).Conversation)
	u, heard := listening(t, dial(t, b.URL+StreamPath, ClientConfig{}).Conversation())
	start(t, u, "2024-11-05", "{}")
	got, err := send(t, u, call)
	if err != nil || len(got) != 1 || !strings.Contains(got[0], `"text":"x"`) {
		t.Errorf("%v %q", err, got)
	}
	if got := within(t, "the progress", heard); !strings.Contains(got, `"progressToken":"p"`) {
		t.Errorf("heard %q", got)
	}
	s.stream <- event(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	if got := within(t, "the news", heard); !strings.Contains(got, "list_changed") {
		t.Errorf("heard %q", got)
	}
}
