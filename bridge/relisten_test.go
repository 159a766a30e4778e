package bridge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// restarting is a server whose standalone streams end when it restarts.
func restarting(r *rig) (restart func()) {
	down := make(chan struct{})
	r.up.handle("GET", func(c *call) {
		c.stream()
		if c.session == "up-1" {
			c.wait(down)
			return
		}
		_ = c.event(note(`"again"`))
		c.wait(nil)
	})
	return func() {
		r.up.forget()
		close(down)
	}
}

// A client that only listens notices nothing of a restart: the server's 404
// to the bridge's GET means that the session is gone, if a POST says so too
// (report 47).
func TestRevivalOfAListener(t *testing.T) {
	r := newRig(t, nil)
	restart := restarting(r)
	c := r.open(v4, `{}`)
	get := c.stream(http.MethodGet, "")
	restart()
	get.want(note(`"again"`))
	if n := r.up.count(mcp.Initialize); n != 2 {
		t.Errorf("the upstream got %s", r.up.names())
	}
	c.works()
}

// A listener of a server that has become another has to know.
func TestRevivalOfAListenerOfAnotherServer(t *testing.T) {
	r := newRig(t, nil)
	restart := restarting(r)
	c := r.open(v4, `{}`)
	get := c.stream(http.MethodGet, "")
	r.up.set(func() { r.up.capabilities = `{"tools":{"listChanged":true}}` })
	restart()
	get.wantEnd()
	c.wantGone()
}

// A server that had a standalone stream for one session has one for the next,
// and so keeps what it promises.
func TestRestartKeepsPromises(t *testing.T) {
	r := newRig(t, nil)
	r.up.capabilities = `{"resources":{"subscribe":true,"listChanged":true}}`
	restart := restarting(r)
	c := r.open(v4, `{}`)
	c.stream(http.MethodGet, "")
	r.up.handle(mcp.Ping, func(c *call) { c.result(`{}`) })
	restart()
	r.up.await(t, "GET", 2)
	gives(t, "the bridge goes on asking", func() bool { return running("bridge.pauseFor") == 0 })
	if got := r.client().post(initializeWith(`0`, v4, `{}`)); !strings.Contains(got.body, `"capabilities":`+r.up.capabilities) {
		t.Errorf("the next client is told %s", got.body)
	}
}
