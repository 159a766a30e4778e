package bridge_test

import (
	"compress/gzip"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// A server, or what stands before it, that compresses without being asked:
// each event arrives when it was sent (report 61).
func TestReport61CompressedEvents(t *testing.T) {
	r := newRig(t, nil)
	next := make(chan struct{})
	r.up.handle(mcp.ToolsCall, func(c *call) {
		c.w.Header().Set("Content-Encoding", "gzip")
		c.w.Header().Set("Content-Type", "text/event-stream")
		z := gzip.NewWriter(c.w)
		send := func(text string) {
			_, _ = z.Write([]byte("data: " + text + "\n\n"))
			_ = z.Flush()
			c.flush()
		}
		send(note("1"))
		c.wait(next)
		send(`{"jsonrpc":"2.0","id":` + c.ID.String() + `,"result":{"content":[]}}`)
		_ = z.Close()
	})
	c := r.open(v4, `{}`)
	s := c.stream(http.MethodPost, toolCall(`1`, "t", `1`), "Accept-Encoding", "gzip")
	s.want(note("1"))
	close(next)
	s.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	if h := s.resp.Header; h.Get("Content-Encoding") != "" || h.Get("Cache-Control") != "no-cache, no-transform" {
		t.Errorf("the client's stream has %v", h)
	}
}

// A call that takes longer than any write may, and says nothing, keeps its
// stream, as an idle GET does (report 65).
func TestReport65LongSilence(t *testing.T) {
	r := newRig(t, func(s *rigging) {
		s.endpoint.KeepAlive, s.endpoint.WriteTimeout = 50*time.Millisecond, 500*time.Millisecond
	})
	release := make(chan struct{})
	handler, _ := hold(release)
	r.up.handle(mcp.ToolsCall, handler)
	c := r.open(v4, `{}`)
	get := c.stream(http.MethodGet, "")
	s := c.stream(http.MethodPost, toolCall(`1`, "t", `1`))
	for _, silent := range []*stream{get, s} {
		for range 15 { // longer than a write may take
			for line := ""; !strings.HasPrefix(line, ":"); {
				var err error
				if line, err = silent.lines.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	close(release)
	s.want(echoed(`1`, `1`))
	s.wantEnd()
}

// A standalone stream that ends is opened again.
func TestStandaloneStreamComesAgain(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle("GET", func(c *call) {
		_ = c.event(changed("tools"))
		if r.up.count("GET") > 1 {
			c.wait(nil)
		}
	})
	c := r.open(v4, `{}`)
	get := c.stream(http.MethodGet, "")
	get.want(changed("tools"), changed("tools"))
}

// The bridge is ready when the upstream answers anything, and asking costs it
// no session (report 67).
func TestReport67Ready(t *testing.T) {
	for status, ready := range map[int]bool{200: true, 202: true, 400: true, 401: true, 404: true, 405: true, 406: true, 500: false, 502: false, 503: false} {
		r := newRig(t, nil)
		r.up.set(func() {
			r.up.first = func(c *call) bool {
				c.w.WriteHeader(status)
				return true
			}
		})
		for range 2 {
			if err := r.bridge.Ready(t.Context()); (err == nil) != ready {
				t.Errorf("%d: %v", status, err)
			}
		}
		if n := r.up.count(mcp.Initialize); n != 0 || r.bridge.Sessions() != 0 {
			t.Errorf("%d: the upstream got %s", status, r.up.names())
		}
		if n := r.up.count(mcp.Ping); ready && n != 1 {
			t.Errorf("%d: the upstream was asked %d times", status, n)
		}
	}
}

func TestReadyUnreachable(t *testing.T) {
	transporttest.Goroutines(t)
	up := newServer(t)
	r := newRigBefore(t, up, up.URL, nil)
	up.Listener.Close()
	if err := r.bridge.Ready(t.Context()); err == nil {
		t.Error("a bridge without upstream is ready")
	}
}

// Traffic is as good as an answer to a probe: a live upstream is not asked.
func TestReadyByTraffic(t *testing.T) {
	r := newRig(t, nil)
	r.open(v4, `{}`).works()
	if err := r.bridge.Ready(t.Context()); err != nil || r.up.count(mcp.Ping) != 0 {
		t.Errorf("%v; the upstream got %s", err, r.up.names())
	}
}
