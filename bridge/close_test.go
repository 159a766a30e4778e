package bridge_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func (r *rig) close(patience time.Duration) error {
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	return r.bridge.Close(ctx)
}

const shuttingDown = "the bridge is shutting down"

// A bridge that closes answers every call with an error, ends every stream
// and every upstream session.
func TestCloseDuringCalls(t *testing.T) {
	r := newRig(t, nil)
	handler, arrived := hold(nil)
	r.up.handle(mcp.ToolsCall, handler)
	var clients []*client
	var calls []<-chan reply
	var streams []*stream
	for i := range 10 {
		c := r.open([]string{v1, v2, v3, v4}[i%4], `{}`)
		clients = append(clients, c)
		streams = append(streams, c.stream(http.MethodGet, ""))
		calls = append(calls, hosted(c, toolCall(`1`, "t", `1`)), hosted(c, batch(toolCall(`1`, "t", `1`))))
	}
	for range calls {
		<-arrived
	}
	if err := r.close(patience); err != nil {
		t.Fatal(err)
	}
	for _, call := range calls {
		if got := <-call; got.status != http.StatusOK || !strings.Contains(got.body, internalError(`1`, shuttingDown, "")) {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	for _, s := range streams {
		s.wantEnd()
	}
	for _, c := range clients {
		c.wantGone()
	}
	badInput{body: initializeWith(`1`, v4, `{}`), status: http.StatusServiceUnavailable, code: -32603, id: `1`}.check(t, r.client())
	r.up.set(func() {
		if n := len(r.up.live); n != 0 || r.bridge.Sessions() != 0 {
			t.Errorf("%d upstream sessions are left", n)
		}
	})
}

// A bridge that closes does not wait for a server that does not answer
// initialize, nor lets the client wait.
func TestCloseDuringHandshake(t *testing.T) {
	r := newRig(t, nil)
	gone := make(chan struct{})
	r.up.opens(func(c *call) {
		<-c.r.Context().Done()
		close(gone)
	})
	opening := hosted(r.client(), initializeWith(`1`, v4, `{}`))
	r.up.await(t, mcp.Initialize, 1)
	if err := r.close(patience); err != nil {
		t.Fatal(err)
	}
	within(t, "the end of the handshake", gone)
	if got := <-opening; got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, `"id":1,"error":`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// A call that comes while its session ends is not answered by silence.
func TestCloseBeforeTheFirstCall(t *testing.T) {
	for name, end := range map[string]func(r *rig, c *client) error{
		"DELETE": func(_ *rig, c *client) error { c.do(http.MethodDelete, ""); return nil },
		"Close":  func(r *rig, _ *client) error { return r.close(patience) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.up.handle(mcp.Initialized, func(c *call) { c.wait(nil) })
			c := r.initialize(v4, `{}`)
			call := hosted(c, toolCall(`1`, "t", `1`))
			r.up.await(t, mcp.Initialized, 1)
			if err := end(r, c); err != nil {
				t.Fatal(err)
			}
			if got := <-call; got.status != http.StatusNotFound && !strings.Contains(got.body, `"id":1,"error":`) {
				t.Errorf("%d %q", got.status, got.body)
			}
		})
	}
}

// A server that does not take leave holds a closing bridge for a while only.
func TestCloseBeforeSilentServer(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle("DELETE", func(c *call) { c.wait(nil) })
	r.open(v4, `{}`).works()
	if err := r.close(50 * time.Millisecond); err != context.DeadlineExceeded {
		t.Errorf("closing: %v", err)
	}
	r.up.CloseClientConnections()
	r.up.await(t, "DELETE", 1)
}

// Sessions that come and go leave nothing behind.
func TestCloseManySessions(t *testing.T) {
	r := newRig(t, nil)
	done := make(chan error)
	for i := range 50 {
		go func() {
			c := r.client()
			got, err := c.try(http.MethodPost, initializeWith(`0`, v4, `{}`))
			if c.session = got.header.Get(mcp.HeaderSession); err == nil && i%2 == 0 {
				_, err = c.try(http.MethodDelete, "")
			}
			if err == nil && c.session == "" {
				err = fmt.Errorf("no session: %d %s", got.status, got.body)
			}
			done <- err
		}()
	}
	for range 50 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if err := r.close(patience); err != nil {
		t.Error(err)
	}
	r.up.await(t, "DELETE", 50)
	if n := r.heard.count("closed " + v4 + " " + v4); n != 50 {
		t.Errorf("%d sessions are closed", n)
	}
}

// Clients that come while the bridge closes get a session that is soon gone,
// or none.
func TestCloseWhileClientsCome(t *testing.T) {
	r := newRig(t, nil)
	begun, done := make(chan struct{}, 100), make(chan error)
	for range 20 {
		go func() {
			var err error
			for status := 0; status != http.StatusServiceUnavailable && err == nil; {
				var got reply
				got, err = r.client().try(http.MethodPost, initializeWith(`0`, v4, `{}`))
				if status = got.status; status != http.StatusOK && status != http.StatusServiceUnavailable {
					err = fmt.Errorf("%d %s", got.status, got.body)
				}
				select {
				case begun <- struct{}{}:
				default:
				}
			}
			done <- err
		}()
	}
	for range 30 {
		<-begun
	}
	if err := r.close(patience); err != nil {
		t.Error(err)
	}
	for range 20 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := r.bridge.Sessions(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}
