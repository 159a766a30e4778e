package bridge_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// The ids of a server's events are between the server and the bridge (report 77):
// the client gets positions of the bridge's own, or none.
func TestReport77EventIDs(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle("GET", func(c *call) {
		c.stream()
		_, _ = fmt.Fprintf(c.w, "id: up-17\nretry: 12345\ndata: %s\n\n", changed("tools"))
		c.flush()
		c.wait(nil)
	})
	c := r.open(v4, `{}`)
	s := c.stream(http.MethodGet, "")
	var seen strings.Builder
	for lines := bufio.NewReader(s.resp.Body); !strings.Contains(seen.String(), changed("tools")); {
		text, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		seen.WriteString(text)
	}
	if strings.Contains(seen.String(), "up-17") || strings.Contains(seen.String(), "12345") {
		t.Errorf("the client got %q", seen.String())
	}
}

// A server that takes a stream which broke on the way for alive refuses every
// other one: after some tries the bridge opens a new session in place of the old
// (report 80).
func TestReport80StreamIsTaken(t *testing.T) {
	r := newRig(t, nil)
	first := true
	r.up.handle("GET", func(c *call) {
		taken := false
		r.up.set(func() { taken, first = !first, false })
		switch {
		case c.session != "up-1":
			_ = c.event(note(`"again"`))
			c.wait(nil)
		case taken:
			c.w.WriteHeader(http.StatusConflict)
		default:
			c.stream()
			panic(http.ErrAbortHandler)
		}
	})
	c := r.open(v4, `{}`)
	get := c.stream(http.MethodGet, "")
	get.want(note(`"again"`))
	if n, ended := r.up.count(mcp.Initialize), r.up.count("DELETE"); n != 2 || ended != 1 {
		t.Errorf("the upstream got %s", r.up.names())
	}
	c.works()
}

// When a session is lost, its stream is closed by the bridge if the server does
// not do it, and there is one session for the client at most (report 105).
func TestReport105OldStreamIsClosed(t *testing.T) {
	r := newRig(t, nil)
	left, fresh := make(chan struct{}), make(chan struct{}, 10)
	r.up.handle("GET", func(c *call) {
		c.stream()
		if c.session == "up-1" {
			<-c.r.Context().Done() // this server keeps it for ever
			close(left)
			return
		}
		fresh <- struct{}{}
		_ = c.event(note(`"again"`))
		c.wait(nil)
	})
	c := r.open(v4, `{}`)
	get := c.stream(http.MethodGet, "")
	r.up.await(t, "GET", 1)
	r.up.forget()
	c.works() // after a 404
	within(t, "the end of the old stream", left)
	get.want(note(`"again"`))
	<-fresh
	live := 0
	r.up.set(func() { live = len(r.up.live) })
	if n := r.up.count(mcp.Initialize); n != 2 || len(fresh) != 0 || live != 1 {
		t.Errorf("%d more streams, %d sessions, and the upstream got %s", len(fresh), live, r.up.names())
	}
	gives(t, "the listener of the old session goes on", func() bool { return running("conversation).keepListening") == 1 })
}

// Clients that open sessions and never end them leave nothing behind once they
// are idle for long enough; DELETE frees at once. Upstream, each session is ended
// too (report 102).
func TestReport102AbandonedSessions(t *testing.T) {
	const sessions, rounds = 200, 3
	r := newRig(t, func(s *rigging) { s.SessionTimeout = time.Second })
	gone := 0
	abandon := func() {
		done := make(chan error)
		for range 8 {
			go func() {
				for range sessions / 8 {
					w := &worker{client: r.client(), version: v4}
					if err := w.begin(); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range 8 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		gone += sessions
		r.heard.await(t, "closed "+v4+" "+v4, gone)
		r.up.await(t, "DELETE", sessions)
		r.up.set(func() { r.up.seen = nil }) // what the test itself keeps
		r.idle()
	}
	abandon() // pools and maps get their size
	before := heap()
	for range rounds {
		abandon()
	}
	var grown int64
	for deadline := time.Now().Add(patience); ; { // what belongs to closed connections goes a moment later
		if grown = heap() - before; grown <= sessions*rounds<<10 || time.Now().After(deadline) {
			break
		}
	}
	if grown > sessions*rounds<<10 {
		t.Errorf("the heap has grown by %d bytes, %d for each session", grown, grown/(sessions*rounds))
	}
	c := r.open(v4, `{}`)
	if got := c.do(http.MethodDelete, ""); got.status/100 != 2 || r.bridge.Sessions() != 0 {
		t.Errorf("%d, %d sessions are left", got.status, r.bridge.Sessions())
	}
	r.up.await(t, "DELETE", 1)
}
