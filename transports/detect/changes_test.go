package detect

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/sse"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// TestReplaced has a server that is replaced by one of the other transport.
func TestReplaced(t *testing.T) {
	s := newServer(t)
	u := opened(t, client(t, s))
	for _, c := range []struct {
		older bool
		asked []string
	}{
		{true, []string{"POST /x", "GET /x", "POST /m"}},
		{true, []string{"GET /x", "POST /m"}},
		{false, []string{"GET /x", "POST /x"}},
		{false, []string{"POST /x"}},
		{true, []string{"POST /x", "GET /x", "POST /m"}},
	} {
		s.set(func() { s.older = c.older })
		if got, _, err := send(t, u, initialize); got != 1 || err != nil {
			t.Fatalf("%d %v", got, err)
		}
		u.Agree("v1", mcp.Traits{})
		expect(t, s, c.asked...)
		u.Reset()
	}
}

// TestStreamIsGone has a server of HTTP+SSE that is down: the client is told
// so, and it stays known.
func TestStreamIsGone(t *testing.T) {
	s := newServer(t)
	s.set(func() { s.older = true })
	c := client(t, s)
	if _, _, err := send(t, opened(t, c), initialize); err != nil {
		t.Fatal(err)
	}
	s.CloseClientConnections()
	s.Close()
	_, sent, err := send(t, opened(t, c), initialize)
	if _, ok := errors.AsType[*transports.Unreachable](err); !ok || sent != 1 || !c.older.Load() {
		t.Errorf("%v, Sent was called %d times", err, sent)
	}
}

func TestClosed(t *testing.T) {
	s := newServer(t)
	s.set(func() { s.older = true })
	c := client(t, s)
	for _, first := range []string{"", initialize} {
		u := opened(t, c)
		if first != "" {
			if _, _, err := send(t, u, first); err != nil {
				t.Fatal(err)
			}
		}
		if err := u.Close(t.Context()); err != nil {
			t.Error(err)
		}
		s.took()
		if _, _, err := send(t, u, initialize); err == nil {
			t.Error("a closed conversation still sends")
		}
		expect(t, s)
	}
	if _, err := NewClient("ftp://a", sse.ClientConfig{}); err == nil {
		t.Error("a URL that is none is accepted")
	}
	if _, err := NewClient(s.URL, sse.ClientConfig{MessageURL: "x"}); err == nil {
		t.Error("a URL for messages that is none is accepted")
	}
}

// TestListens hears both transports.
func TestListens(t *testing.T) {
	for _, older := range []bool{false, true} {
		s := newServer(t)
		s.set(func() { s.older = older })
		u := opened(t, client(t, s))
		if _, _, err := send(t, u, initialize); err != nil {
			t.Fatal(err)
		}
		u.Agree("v1", mcp.Traits{})
		heard := make(chan *mcp.Message, 1)
		ended := make(chan error, 1)
		go func() {
			ended <- u.Listen(t.Context(), transports.Outgoing{Receive: func(m *mcp.Message) { heard <- m }})
		}()
		if !older {
			if err := <-ended; !errors.Is(err, transports.ErrNoStream) {
				t.Errorf("%v", err)
			}
			continue
		}
		s.say("0", initNote)
		if m := <-heard; m.Method != mcp.Initialized {
			t.Errorf("heard %v", m)
		}
		_ = u.Close(t.Context())
		<-ended
	}
}

// TestMute has a server whose GET opens a stream of another kind.
func TestMute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{older: true, mute: true, status: 405}
		dial, end := transporttest.Memory(s)
		defer end()
		c, err := NewClient("http://localhost/x", sse.ClientConfig{SiteConfig: web.SiteConfig{Dial: dial}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.CloseIdleConnections()
		start := time.Now()
		m, _ := mcp.DecodeMessage([]byte(initialize))
		err = c.Conversation().Send(t.Context(), m, transports.Outgoing{})
		if r, ok := errors.AsType[*mcp.Refusal](err); !ok || r.Status != 405 || time.Since(start) != 5*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}
