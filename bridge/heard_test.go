package bridge_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/mcp"
)

// What a client says is counted once, and what nobody says is not: before a
// server without handshake nothing tells it that one is complete.
func TestInitializedIsCountedOnce(t *testing.T) {
	r := newModernRig(t, known)
	r.open(v4, `{}`).echoes(1)
	if n := r.heard.count("received client notification notifications/initialized"); n != 1 {
		t.Errorf("a client's initialized is counted %d times", n)
	}
	if got, err := r.client().modernCall(`1`); err != nil || !got.served() {
		t.Fatalf("answered %d %s %v", got.status, got.body, err)
	}
	if n := r.heard.starting("received client notification"); n != 1 {
		t.Errorf("a client that said nothing is counted, %d in all", n)
	}
	if n := r.heard.starting("sent server notification"); n != 0 {
		t.Errorf("%d notifications to the server are counted", n)
	}
}

// A listen is counted on the leg that it is on, by what became of it, and once
// more when it is over.
func TestListensAreCounted(t *testing.T) {
	r := newModernRig(t, known)
	came := listens(r.up)
	c := r.client()
	listen := standalone(`1`, mcp.Listen, `"notifications":{"toolsListChanged":true}`, `{}`)
	for _, honoured := range []string{`{"toolsListChanged":true}`, `{}`} {
		streams := make(chan *stream, 1)
		go func() {
			s, err := c.tryStream(http.MethodPost, listen, routing(mcp.Listen, "")...)
			if err != nil {
				t.Error(err)
			}
			streams <- s
		}()
		l := <-came
		l.agree(honoured)
		s := <-streams
		s.next()
		s.leave()
		within(t, "the end of the listen", l.r.Context().Done())
	}
	for _, side := range []string{"client", "server"} {
		r.heard.await(t, "listen ended "+side, 2)
		for _, outcome := range []string{bridge.ListenHonoured, bridge.ListenEmpty} {
			r.heard.await(t, "listened "+side+" "+outcome, 1)
		}
	}
	r.up.handle(mcp.Listen, func(c *call) { c.refuse(http.StatusNotFound, `{"code":-32601,"message":"m"}`) })
	if got := c.post(listen, routing(mcp.Listen, "")...); got.status != http.StatusNotFound {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	for _, side := range []string{"client", "server"} {
		r.heard.await(t, "listened "+side+" "+bridge.ListenRefused, 1)
		if n := r.heard.starting("listened " + side); n != 3 {
			t.Errorf("%d listens of the %s are counted", n, side)
		}
	}
}

// A listen that is open when its session ends is over then.
func TestListenEndsWithItsSession(t *testing.T) {
	r := newModernRig(t, known)
	c := r.open(v4, `{}`)
	r.heard.await(t, "listened server "+bridge.ListenHonoured, 1)
	if got := c.do(http.MethodDelete, ""); got.status != http.StatusNoContent {
		t.Fatalf("the session ends with %d", got.status)
	}
	r.heard.await(t, "listen ended server", 1)
}

// The pool tells what its conversations do: open, serve, wait for a client, or
// nothing.
func TestPoolStates(t *testing.T) {
	r := newRig(t, nil)
	release := make(chan struct{})
	slow, came := hold(release)
	r.up.handle("tools/call slow", slow)
	r.up.handle("tools/call ask", asking(mcp.Elicit, elicit))
	is := func(want map[string]int) {
		t.Helper()
		gives(t, "the pool is not as it should be", func() bool { return maps.Equal(r.bridge.Pool(), want) })
	}
	is(map[string]int{})
	alice, bob := r.client(), r.client()
	alice.header.Set("Authorization", "Bearer alice")
	bob.header.Set("Authorization", "Bearer bob")
	state := round(t, alice.post(ask(`1`, ""), routing(mcp.ToolsCall, "ask")...))
	is(map[string]int{bridge.PoolParked: 1})
	s := make(chan reply, 1)
	go func() {
		got, err := bob.try(http.MethodPost, standalone(`1`, mcp.ToolsCall, `"name":"slow","arguments":{}`, `{}`), routing(mcp.ToolsCall, "slow")...)
		if err != nil {
			t.Error(err)
		}
		s <- got
	}()
	<-came
	is(map[string]int{bridge.PoolParked: 1, bridge.PoolBusy: 1})
	close(release)
	<-s
	is(map[string]int{bridge.PoolParked: 1, bridge.PoolIdle: 1})
	if got := alice.post(ask(`2`, answers(state)), routing(mcp.ToolsCall, "ask")...); !strings.Contains(got.body, `"resultType":"complete"`) {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	is(map[string]int{bridge.PoolIdle: 2})
	r.heard.await(t, "rounds 1", 1)
	r.heard.await(t, "unparked resumed", 1)
	r.up.set(func() {
		r.up.first = func(c *call) bool {
			opens := c.Message != nil && c.Method == mcp.Initialize
			if got := r.bridge.Pool(); opens && (got[bridge.PoolOpening] != 1 || got[bridge.PoolIdle] != 2) {
				t.Errorf("while one opens the pool has %v", got)
			}
			return false
		}
	})
	if got := alice.post(standalone(`3`, mcp.Discover, "", `{"roots":{}}`), routing(mcp.Discover, "")...); got.status != http.StatusOK {
		t.Errorf("answered %d %s", got.status, got.body)
	}
}
