package sse

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// TestStream has servers that write the answer to a ping, and other things,
// in every way that is seen (field reports 32, 37, 38, 39 and 41).
func TestStream(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		heard   []string
		garbage int
	}{
		"plain":          {event(pong), nil, 0},
		"CRLF":           {"event: message\r\ndata: " + pong + "\r\n\r\n", nil, 0},
		"CR":             {"data: " + pong + "\r\r", nil, 0},
		"mixed":          {"data: " + pong + "\n\r\n", nil, 0},
		"no type":        {"data: " + pong + "\n\n", nil, 0},
		"empty type":     {"event:\ndata: " + pong + "\n\n", nil, 0},
		"no blank":       {"data:" + pong + "\n\n", nil, 0},
		"type last":      {"data: " + pong + "\nevent: message\n\n", nil, 0},
		"two lines":      {"data: " + strings.Replace(pong, ",", ",\ndata: ", 1) + "\n\n", nil, 0},
		"heartbeat":      {`data: {"type":"heartbeat","timestamp":"2025-10-31T11:30:41.100Z"}` + "\n\n" + event(pong), nil, 1},
		"no JSON":        {"data: Accepted\n\ndata: {\n\n" + event(pong), nil, 2},
		"pings":          {"event: ping\ndata:\n\ndata: \n\n: ping - 2025-07-15 00:00:00\r\n\r\nid: 7\ndata:\n\n" + event(pong), nil, 0},
		"keepalive":      {"event: keepalive\ndata: {}\n\nevent: endpoint\ndata: /other\n\n" + event(pong), nil, 0},
		"news first":     {event(update) + event(asked) + event(pong), []string{update, asked}, 0},
		"array":          {event("[" + update + "," + pong + ",{}]"), []string{update}, 1},
		"unknown answer": {event(strings.Replace(pong, `"id":1`, `"id":99`, 1)) + event(pong), []string{strings.Replace(pong, `"id":1`, `"id":99`, 1)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			s.post = answer(func(*http.Request, string) string { return c.text })
			var garbage atomic.Int32
			u, heard := s.conversation(t, ClientConfig{SiteConfig: web.SiteConfig{Garbage: func(string) { garbage.Add(1) }}})
			got, err := send(t, u, ping)
			if err != nil || len(got) != 1 || got[0] != pong || int(garbage.Load()) != c.garbage {
				t.Errorf("%v %q, %d pieces of garbage", err, got, garbage.Load())
			}
			for _, want := range c.heard {
				if got := within(t, "the news", heard); got != want {
					t.Errorf("heard %q", got)
				}
			}
		})
	}
}

// TestLostSession has a server that forgets the session although its stream
// is there, or whose stream ends.
func TestLostSession(t *testing.T) {
	for name, lose := range map[string]func(*script){
		"404":        func(s *script) { s.post = says(404, "", "Could not find session") },
		"the stream": func(s *script) { s.stream <- "" },
		"the server": func(s *script) { s.CloseClientConnections() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			s.post = answer(func(*http.Request, string) string { return event(pong) })
			u, _ := s.conversation(t, ClientConfig{})
			ended := make(chan error, 1)
			if _, err := send(t, u, initialize); err != nil {
				t.Fatal(err)
			}
			go func() { ended <- u.Listen(context.Background(), transports.Outgoing{}) }()
			s.mu.Lock()
			lose(s)
			s.mu.Unlock()
			if name != "404" { // or nobody has noticed yet
				within(t, "the end", ended)
			}
			if _, err := send(t, u, ping); !errors.Is(err, transports.ErrSessionGone) {
				t.Errorf("%v", err)
			}
			s.mu.Lock()
			s.post = answer(func(*http.Request, string) string { return event(pong) })
			s.mu.Unlock()
			u.Reset()
			if _, err := send(t, u, initialize); err != nil || len(s.gets) != 2 {
				t.Errorf("a new handshake: %v after %d streams", err, len(s.gets))
			}
		})
	}
}

// TestHeaders holds which headers go where.
func TestHeaders(t *testing.T) {
	s := newScript(t)
	s.post = answer(func(_ *http.Request, body string) string {
		if strings.Contains(body, `"id"`) {
			return event(pong)
		}
		return ""
	})
	config := ClientConfig{SiteConfig: web.SiteConfig{Header: http.Header{"X-Static": {"s"}, "Authorization": {"Bearer static"}}}}
	u, _ := s.conversation(t, config)
	m := message(t, initialize)
	m.Header = http.Header{"Authorization": {"Bearer client"}, "X-Static": {"c"}, "X-Own": {"1"}, mcp.HeaderSession: {"x"}, mcp.HeaderVersion: {"x"}}
	if err := u.Send(t.Context(), m, transports.Outgoing{Receive: func(*mcp.Message) {}}); err != nil {
		t.Fatal(err)
	}
	u.Agree("v1", mcp.Traits{VersionHeader: true})
	if _, err := send(t, u, initNote); err != nil {
		t.Fatal(err)
	}
	u.Agree("v1", mcp.Traits{})
	if _, err := send(t, u, initNote); err != nil {
		t.Fatal(err)
	}
	get, opening := s.gets[0].Header, s.posts[0].Header
	for _, h := range []http.Header{get, opening} {
		if h.Get("Authorization") != "Bearer static" || h.Get("X-Static") != "s" || h.Get("X-Own") != "1" ||
			h.Get(mcp.HeaderSession) != "" || h.Get(mcp.HeaderVersion) != "" || h.Get("Accept-Encoding") != "identity" {
			t.Errorf("%v", h)
		}
	}
	if get.Get("Accept") != "text/event-stream" || get.Get("Content-Type") != "" || opening.Get("Content-Type") != "application/json" {
		t.Errorf("%v %v", get, opening)
	}
	if got := s.posts[1].Header.Get(mcp.HeaderVersion) + s.posts[2].Header.Get(mcp.HeaderVersion); got != "v1" {
		t.Errorf("the version headers are %q", got)
	}
}

// TestClientCredentials sends what the client has where the operator chose
// nothing, with the GET too: it opens the session.
func TestClientCredentials(t *testing.T) {
	s := newScript(t)
	s.post = answer(func(*http.Request, string) string { return event(pong) })
	u, _ := s.conversation(t, ClientConfig{})
	m := message(t, initialize)
	m.Header = http.Header{"Authorization": {"Bearer client"}}
	if err := u.Send(t.Context(), m, transports.Outgoing{Receive: func(*mcp.Message) {}}); err != nil {
		t.Fatal(err)
	}
	if s.gets[0].Header.Get("Authorization") != "Bearer client" || s.posts[0].Header.Get("Authorization") != "Bearer client" {
		t.Errorf("%v %v", s.gets[0].Header, s.posts[0].Header)
	}
	if transports.NameOf(u, "") != "http+sse" {
		t.Errorf("the transport is called %q", transports.NameOf(u, ""))
	}
}

// TestReach asks whether a server is there, and leaves no stream behind.
func TestReach(t *testing.T) {
	s := newScript(t)
	r := dial(t, s.URL+"/sse", ClientConfig{})
	if err := r.Reach(t.Context()); err != nil || len(s.paths()) != 0 {
		t.Errorf("%v %q", err, s.paths())
	}
	within(t, "the end of the stream", s.gone)
	for status, ok := range map[int]bool{401: true, 404: true, 500: false, 503: false} {
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if err := r.Reach(t.Context()); (err == nil) != ok {
			t.Errorf("%d: %v", status, err)
		}
	}
	s.CloseClientConnections()
	s.Close()
	if err := r.Reach(t.Context()); err == nil {
		t.Error("a server that is down is there")
	}
}

func TestLargeEvent(t *testing.T) {
	s := newScript(t)
	s.post = answer(func(*http.Request, string) string { return event(`"` + strings.Repeat("x", 5000) + `"`) })
	u, _ := s.conversation(t, ClientConfig{SiteConfig: web.SiteConfig{MaxMessage: 4000}})
	if _, err := send(t, u, ping); !errors.Is(err, transports.ErrBroken) {
		t.Errorf("%v", err)
	}
}

// TestClosing ends a conversation with a request and a POST under way.
func TestClosing(t *testing.T) {
	s := newScript(t)
	arrived, held := make(chan struct{}, 2), make(chan struct{})
	s.post = func(w http.ResponseWriter, r *http.Request, body string) string {
		arrived <- struct{}{}
		if strings.Contains(body, `"id":2`) {
			<-held
		}
		w.WriteHeader(202)
		return ""
	}
	t.Cleanup(func() { close(held) })
	u, _ := s.conversation(t, ClientConfig{})
	var ending sync.WaitGroup
	for _, text := range []string{ping, strings.Replace(ping, `"id":1`, `"id":2`, 1)} {
		ending.Go(func() {
			if _, err := send(t, u, text); !errors.Is(err, transports.ErrBroken) {
				t.Errorf("%s: %v", text, err)
			}
		})
	}
	within(t, "the first arrival", arrived)
	within(t, "the second arrival", arrived)
	if err := u.Close(t.Context()); err != nil {
		t.Error(err)
	}
	ending.Wait()
	within(t, "the end of the stream", s.gone)
}
