package bridge_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/internal/schema"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// upgraded is a server that no longer knows the sessions it had.
func upgraded(c *call) bool {
	if c.verb != http.MethodPost || c.session != "" {
		c.w.WriteHeader(http.StatusMethodNotAllowed)
		return true
	}
	return stateless(c)
}

// A server that lost its handshake since it was probed is found out when it
// refuses one, and the request that was on its way is served (G-79).
func TestServerIsUpgraded(t *testing.T) {
	r := newEraRig(t, probed(replying(405, "", "")), nil)
	old := r.open(v4, `{}`)
	old.echoes(1)
	r.up.set(func() { r.up.first = upgraded })
	if got, err := r.client().modernCall(`1`); err != nil || !got.served() {
		t.Errorf("a stateless client is answered %d %s %v", got.status, got.body, err)
	}
	c := r.open(v4, `{}`)
	c.echoes(1)
	if n := r.up.count(mcp.Discover); n > 4 {
		t.Errorf("the server was sent %s", r.up.names())
	}
}

// The same for a client of a handshake revision that comes first.
func TestServerIsUpgradedBeforeAHandshake(t *testing.T) {
	r := newEraRig(t, probed(replying(405, "", "")), nil)
	r.open(v4, `{}`).echoes(1)
	r.up.set(func() { r.up.first = upgraded })
	r.open(v4, `{}`).echoes(2)
	before := r.up.count(mcp.Initialize)
	r.open(v4, `{}`).echoes(3)
	if r.up.count(mcp.Initialize) != before {
		t.Errorf("the server was sent %s", r.up.names())
	}
}

// A server that was put back to an older release has a handshake again.
func TestServerIsDowngraded(t *testing.T) {
	for name, answer := range map[string]func(*call){
		"405": replying(405, "", ""), "no method": func(c *call) { c.fail(mcp.CodeMethodNotFound, "Method not found") },
		"older": func(c *call) { c.discovered(`["2025-11-25"]`) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newModernRig(t, nil)
			r.open(v4, `{}`).echoes(1)
			r.up.set(func() { r.up.first = probed(answer) })
			r.open(v4, `{}`).echoes(2)
			r.open(v3, `{}`).echoes(3)
		})
	}
}

// The same is found out for clients without a handshake, by the first request
// that the server does not understand.
func TestServerIsDowngradedBeforeStatelessClients(t *testing.T) {
	r := newModernRig(t, nil)
	if got, err := r.client().modernCall(`1`); err != nil || !got.served() {
		t.Fatalf("answered %d %s %v", got.status, got.body, err)
	}
	r.up.set(func() {
		r.up.first = func(c *call) bool {
			older := c.session != "" || c.Message != nil && c.Method == mcp.Initialize
			if !older {
				c.w.WriteHeader(http.StatusBadRequest)
			}
			return !older
		}
	})
	if got, err := r.client().modernCall(`2`); err != nil || !strings.Contains(got.body, `"error"`) {
		t.Errorf("the first request is answered %d %s %v", got.status, got.body, err)
	}
	if got, err := r.client().modernCall(`3`); err != nil || !got.served() {
		t.Errorf("the next one is answered %d %s %v", got.status, got.body, err)
	}
}

// A server that is down for a while is not taken for another one.
func TestStatelessServerIsBusyForAWhile(t *testing.T) {
	r := newModernRig(t, nil)
	r.open(v4, `{}`).echoes(1)
	r.up.set(func() {
		r.up.first = func(c *call) bool { c.reply(http.StatusServiceUnavailable, "", ""); return true }
	})
	if got := r.client().post(initializeWith("1", v4, `{}`)); !strings.Contains(got.body, `"code":-32603`) {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	r.up.set(func() { r.up.first = stateless })
	before := r.up.count(mcp.Initialize)
	r.open(v4, `{}`).echoes(2)
	if r.up.count(mcp.Initialize) != before {
		t.Errorf("the server was sent %s", r.up.names())
	}
}

// A server whose handshake fails for a while still has one.
func TestHandshakeIsBusyForAWhile(t *testing.T) {
	busy := func(c *call) bool {
		if c.Message != nil && c.Method == mcp.Initialize {
			c.reply(http.StatusServiceUnavailable, "", "")
			return true
		}
		return dual(c)
	}
	r := newEraRig(t, busy, nil)
	for i, first := range []func(*call) bool{busy, dual} {
		r.up.set(func() { r.up.first = first })
		r.open(v4, `{}`).echoes(i)
		if call := r.up.await(t, mcp.ToolsCall, i+1); negotiate.Claims(call.Message) != (i == 0) {
			t.Errorf("the server was sent %s", call.body)
		}
	}
}

// A server that is not there is an error for everybody, at once.
func TestProbeOfNoServer(t *testing.T) {
	r := newModernRig(t, nil)
	r.up.CloseClientConnections()
	r.up.Close()
	if got := r.client().post(initializeWith("1", v4, `{}`)); got.status != http.StatusOK || !strings.Contains(got.body, `"id":1,"error":{"code":-32603`) {
		t.Errorf("a handshake is answered %d %s", got.status, got.body)
	}
	if got, err := r.client().modernCall(`1`); err != nil || !strings.Contains(got.body, `"id":1,"error":{"code":-32603`) {
		t.Errorf("a call is answered %d %s %v", got.status, got.body, err)
	}
	if got := r.client().post(standalone(`1`, mcp.Discover, ``, `{}`), routing(mcp.Discover, "")...); got.status != http.StatusServiceUnavailable {
		t.Errorf("a discovery is answered %d %s", got.status, got.body)
	}
}

// inBubble runs a test against a rig without sockets, in which time passes
// when all sides wait.
func inBubble(t *testing.T, first func(*call) bool, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		up := &server{
			t: t, capabilities: modernCapabilities, first: first, grew: make(chan struct{}),
			on: map[string]func(*call){}, live: map[string]*upstreamSession{}, asked: map[string]chan *mcp.Message{},
		}
		dial, stopServer := transporttest.Memory(up)
		defer stopServer()
		upstream, err := streamable.NewClient("http://localhost/mcp", streamable.ClientConfig{Dial: dial})
		if err != nil {
			t.Fatal(err)
		}
		defer upstream.CloseIdleConnections()
		heard := newWitness()
		b := bridge.New(bridge.Settings{
			Ladder: rewrite.Standard(), Dial: upstream.Conversation, Upstream: "memory",
			Deps: rewrite.Deps{Validate: schema.Validate}, Options: mcp.DefaultOptions(), Observer: heard, Log: zerolog.Nop(),
		})
		guard, err := transports.NewGuard("127.0.0.1:80", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		near, stopBridge := transporttest.Memory(streamable.NewServer(b, guard, streamable.ServerConfig{}))
		defer stopBridge()
		web := &http.Client{Transport: &http.Transport{DialContext: near, DisableCompression: true}}
		defer web.CloseIdleConnections()
		defer func() {
			if err := b.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		test(t, &rig{t: t, up: up, bridge: b, heard: heard, url: "http://127.0.0.1/mcp", web: web})
	})
}

// A handshake does not wait long for a probe; what the probe finds later is
// for those who come later (decision 13).
func TestHandshakeDoesNotWaitForTheProbe(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		release := make(chan struct{})
		r.up.first = probed(func(c *call) {
			c.wait(release)
			c.discovered(`["2025-11-25"]`)
		})
		begin := time.Now()
		r.open(v4, `{}`).echoes(1)
		if took := time.Since(begin); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
		release <- struct{}{}
		synctest.Wait()
		begin = time.Now()
		r.open(v4, `{}`).echoes(2)
		if took := time.Since(begin); took > time.Second {
			t.Errorf("the next took %v", took)
		}
		if n := r.up.count(mcp.Discover); n != 1 {
			t.Errorf("the server was probed %d times", n)
		}
	})
}

// A server that is silent on a probe is tried by a handshake, and not probed
// by everybody who comes (rules 9 and 10).
func TestSilentProbe(t *testing.T) {
	for name, begin := range map[string]func(*call){"no headers": func(*call) {}, "no event": (*call).stream} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, probed(func(c *call) {
				begin(c)
				c.wait(nil)
			}), func(t *testing.T, r *rig) {
				start := time.Now()
				if got, err := r.client().modernCall(`1`); err != nil || !got.served() {
					t.Errorf("a call is answered %d %s %v", got.status, got.body, err)
				}
				if took := time.Since(start); took > 11*time.Second {
					t.Errorf("it took %v", took)
				}
				start = time.Now()
				if got, err := r.client().modernCall(`2`); err != nil || !got.served() {
					t.Errorf("a call is answered %d %s %v", got.status, got.body, err)
				}
				r.open(v4, `{}`).echoes(3)
				if took := time.Since(start); took > time.Second || r.up.count(mcp.Discover) != 1 {
					t.Errorf("the next ones took %v and %d probes", took, r.up.count(mcp.Discover))
				}
				time.Sleep(6 * time.Minute) // by the clock of the bubble
				r.open(v4, `{}`).echoes(4)
				if n := r.up.count(mcp.Discover); n != 2 {
					t.Errorf("after its time there were %d probes", n)
				}
			})
		})
	}
}

// How long a verdict holds depends on what it rests on (G-72, E.5).
func TestVerdictsExpire(t *testing.T) {
	for name, x := range map[string]struct {
		first  func(*call) bool
		probes int // each time
		within time.Duration
		beyond time.Duration
	}{
		"a failure":      {probed(replying(500, "", "")), 2, 4 * time.Minute, 2 * time.Minute},
		"older versions": {probed(func(c *call) { c.discovered(`["2025-11-25"]`) }), 1, 55 * time.Minute, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, x.first, func(t *testing.T, r *rig) {
				for i, pause := range []time.Duration{0, x.within, x.beyond} {
					time.Sleep(pause) // by the clock of the bubble
					r.open(v4, `{}`).echoes(i)
					if n, want := r.up.count(mcp.Discover), x.probes*[]int{1, 1, 2}[i]; n != want {
						t.Errorf("after %v the server was probed %d times, not %d", pause, n, want)
					}
				}
			})
		})
	}
}

// A listen that can bring nothing is not opened again (G-25).
func TestEmptyListenIsOver(t *testing.T) {
	inBubble(t, stateless, func(t *testing.T, r *rig) {
		r.up.handle(mcp.Listen, func(c *call) {
			c.acknowledge(`{}`)
			_ = c.event(`{"jsonrpc":"2.0","id":` + c.ID.String() + `,"result":{"resultType":"complete",` + c.subscription() + `}}`)
		})
		c := r.open(v4, `{}`)
		time.Sleep(2 * time.Minute) // by the clock of the bubble
		if n := r.up.count(mcp.Listen); n != 1 {
			t.Errorf("the server was asked to listen %d times", n)
		}
		c.echoes(1)
	})
}
