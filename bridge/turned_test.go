package bridge_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// turnedAway is a server that has become stateless and says so to whoever
// still names a session.
func turnedAway(c *call) bool {
	switch {
	case c.Message != nil && negotiate.Claims(c.Message):
		return stateless(c)
	case c.Message != nil && c.Kind == mcp.Request:
		c.refuse(http.StatusBadRequest, `{"code":-32022,"message":"m","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}`)
	default:
		c.w.WriteHeader(http.StatusBadRequest)
	}
	return true
}

// A stateless client does not notice that its server has become stateless: the
// call that found out is served by what the server is now, and ran once (C.12).
func TestServerTurnsStateless(t *testing.T) {
	for name, gone := range map[string]func(*call) bool{
		"refuses the version": turnedAway,
		"loses the session": func(c *call) bool {
			if c.session != "" {
				c.w.WriteHeader(http.StatusNotFound)
				return true
			}
			return turnedAway(c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newEraRig(t, probed(func(c *call) { c.discovered(`["2025-11-25"]`) }), nil)
			c := r.client()
			c.header.Set("Authorization", "Bearer alice")
			for i, first := range []func(*call) bool{nil, gone, nil} {
				if first != nil {
					r.up.set(func() { r.up.first = first })
				}
				if got, err := c.modernCall(strconv.Itoa(i)); err != nil || !got.served() {
					t.Errorf("the call %d is answered %d %s %v", i, got.status, got.body, err)
				}
			}
			if n := r.up.count(mcp.Discover); n != 2 {
				t.Errorf("the server was sent %s", r.up.names())
			}
			calls := r.up.all(mcp.ToolsCall)
			for i, stateless := range map[int]bool{0: false, 1: false, 2: true, 3: true} {
				if len(calls) != 4 || negotiate.Claims(calls[i].Message) != stateless {
					t.Fatalf("the server was sent %s", r.up.names())
				}
			}
			if n := r.heard.count("reclassified legacy modern"); n != 1 {
				t.Errorf("%d reclassifications are reported", n)
			}
		})
	}
}

// What a client asked for comes with the call to its new place: the token of
// its progress, and its own _meta.
func TestCallMovesWhole(t *testing.T) {
	r := newEraRig(t, probed(func(c *call) { c.discovered(`["2025-11-25"]`) }), nil)
	c := r.client()
	c.header.Set("Authorization", "Bearer alice")
	if got := c.post(standalone(`1`, mcp.ToolsCall, `"name":"t","arguments":{"v":1}`, `{"roots":{}}`), routing(mcp.ToolsCall, "t")...); !got.served() {
		t.Fatalf("answered %d %s", got.status, got.body)
	}
	r.up.set(func() { r.up.first = turnedAway })
	r.up.handle("tools/call slow", func(c *call) {
		_ = c.progress(1)
		c.result(`{"resultType":"complete","content":[],` + upstreamTag + `}`)
	})
	body := strings.Replace(standalone(`"x"`, mcp.ToolsCall, `"name":"slow","arguments":{"n":1.10}`, `{"roots":{}}`), `"_meta":{`, `"_meta":{"progressToken":"p","vendor/a":1.0,`, 1)
	s := c.stream(http.MethodPost, body, routing(mcp.ToolsCall, "slow")...)
	s.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`,
		`{"jsonrpc":"2.0","id":"x","result":{"resultType":"complete","content":[],`+upstreamTag+`}}`)
	s.wantEnd()
	sent := r.up.await(t, mcp.ToolsCall, 3)
	equivalent(t, "what is declared", sent.stamp(mcp.MetaCapabilities), `{"roots":{}}`)
	if sent.param("arguments") != `{"n":1.10}` || sent.stamp("vendor/a") != `1.0` {
		t.Errorf("the server was sent %s", sent.body)
	}
}

// A client that leaves while its call moves leaves nothing behind.
func TestClientLeavesWhileItsCallMoves(t *testing.T) {
	r := newEraRig(t, probed(func(c *call) { c.discovered(`["2025-11-25"]`) }), nil)
	c := r.client()
	c.header.Set("Authorization", "Bearer alice")
	if got, err := c.modernCall(`1`); err != nil || !got.served() {
		t.Fatalf("answered %d %s %v", got.status, got.body, err)
	}
	release := make(chan struct{})
	r.up.set(func() { r.up.first = turnedAway })
	r.up.handle(mcp.Discover, func(c *call) {
		<-release
		c.discovered(`["2026-07-28"]`)
	})
	ctx, leave := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, err := c.send(ctx, http.MethodPost, standalone(`2`, mcp.ToolsCall, `"name":"t"`, `{}`), routing(mcp.ToolsCall, "t")...)
		if err == nil {
			t.Error("the client was answered")
		}
	}()
	r.up.await(t, mcp.Discover, 2)
	leave()
	within(t, "the end of the request", over)
	close(release)
	gives(t, "the pool is in use", func() bool { return r.bridge.Pool()[bridge.PoolBusy] == 0 && r.bridge.Pool()[bridge.PoolOpening] == 0 })
	if got, err := c.modernCall(`3`); err != nil || !got.served() {
		t.Errorf("then a call is answered %d %s %v", got.status, got.body, err)
	}
	gives(t, "the pool is in use", func() bool { return r.bridge.Pool()[bridge.PoolIdle] == 1 })
}

// A code that only looks like that is the server's own affair (G-54), and a
// server that keeps saying so is not asked for ever.
func TestServerOnlySeemsToTurn(t *testing.T) {
	for name, x := range map[string]struct {
		data  string
		calls int
	}{
		"no data":        {`"data":{}`, 1},
		"older versions": {`"data":{"supported":["2025-11-25"]}`, 1},
		"unknown":        {`"data":{"supported":["2030-01-01",7]}`, 1},
		"again":          {`"data":{"supported":["2026-07-28"]}`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newEraRig(t, probed(func(c *call) { c.discovered(`["2025-11-25"]`) }), nil)
			r.up.handle(mcp.ToolsCall, func(c *call) {
				c.refuse(http.StatusBadRequest, `{"code":-32022,"message":"m",`+x.data+`}`)
			})
			c := r.client()
			c.header.Set("Authorization", "Bearer alice")
			got, err := c.modernCall(`1`)
			if err != nil || got.status != http.StatusOK || !strings.Contains(got.body, `"id":1,"error":{"code":-32603`) {
				t.Errorf("answered %d %s %v", got.status, got.body, err)
			}
			if n := r.up.count(mcp.ToolsCall); n != x.calls {
				t.Errorf("the server was sent %s", r.up.names())
			}
		})
	}
}

// A client with a session learns that it is gone, and gets another that works,
// without the handshake that the server no longer means, or never meant.
func TestServerTurnsStatelessUnderASession(t *testing.T) {
	for name, x := range map[string]struct {
		sessions bool
		refusal  string
	}{
		"names its version":   {true, `{"code":-32022,"message":"m","data":{"supported":["2026-07-28"]}}`},
		"misses a header":     {false, `{"code":-32020,"message":"m"}`},
		"misses what it says": {false, `{"code":-32602,"message":"missing _meta"}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newEraRig(t, dual, nil)
			r.up.stateless = !x.sessions
			c := r.open(v4, `{}`)
			c.echoes(1)
			r.up.set(func() {
				r.up.first = func(c *call) bool {
					if c.Message != nil && c.Kind == mcp.Request && c.Method != mcp.Initialize && !negotiate.Claims(c.Message) {
						c.refuse(http.StatusBadRequest, x.refusal)
						return true
					}
					return dual(c)
				}
			})
			c.wantGone()
			c.session = ""
			c.open(v4, `{}`)
			c.echoes(2)
		})
	}
}

// Where a server keeps sessions the same codes are its own (C.12).
func TestServerWithSessionsRefuses(t *testing.T) {
	r := newEraRig(t, dual, nil)
	r.up.handle("tools/call odd", func(c *call) { c.refuse(http.StatusBadRequest, `{"code":-32020,"message":"m"}`) })
	c := r.open(v4, `{}`)
	if got := c.post(toolCall(`1`, "odd", `1`)); got.status != http.StatusOK || !strings.Contains(got.body, `"upstreamCode":-32020`) {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	c.echoes(2)
}

// A stateless server that goes away in the middle of an answer leaves the
// client a stream without one; what has not begun is an error (G-64, D.7).
func TestRelayedBreak(t *testing.T) {
	r := newModernRig(t, known)
	breaks := func(c *call) {
		c.flush()
		panic(http.ErrAbortHandler)
	}
	r.up.handle("tools/call begun", func(c *call) {
		_ = c.progress(1)
		breaks(c)
	})
	r.up.handle("tools/call ended", func(c *call) { _ = c.progress(1) })
	r.up.handle("tools/call broken", func(c *call) {
		c.stream()
		breaks(c)
	})
	r.up.handle(mcp.Listen, func(c *call) {
		c.acknowledge(`{"toolsListChanged":true}`)
		breaks(c)
	})
	for _, tool := range []string{"begun", "ended"} {
		body := strings.Replace(standalone(`1`, mcp.ToolsCall, `"name":"`+tool+`"`, `{}`), `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
		s := r.client().stream(http.MethodPost, body, routing(mcp.ToolsCall, tool)...)
		s.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`)
		s.wantEnd()
	}
	s := r.client().stream(http.MethodPost, standalone(`2`, mcp.Listen, `"notifications":{"toolsListChanged":true}`, `{}`), routing(mcp.Listen, "")...)
	s.next()
	s.wantEnd()
	got := r.client().post(standalone(`3`, mcp.ToolsCall, `"name":"broken"`, `{}`), routing(mcp.ToolsCall, "broken")...)
	if got.status != http.StatusOK || !strings.Contains(got.body, `"id":3,"error":{"code":-32603`) {
		t.Errorf("what did not begin is answered %d %s", got.status, got.body)
	}
}

// A stateless server has no requests of its own: none is answered, and none
// reaches anybody (A.2).
func TestStatelessServerAsks(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle("tools/call ask", func(c *call) {
		for i, method := range []string{mcp.Ping, mcp.Elicit, mcp.RootsList, "vendor/ask"} {
			_ = c.event(`{"jsonrpc":"2.0","id":` + strconv.Itoa(i+100) + `,"method":"` + method + `","params":{}}`)
		}
		c.result(`{"resultType":"complete","content":[],` + upstreamTag + `}`)
	})
	r.up.handle(mcp.Discover, func(c *call) {
		_ = c.event(`{"jsonrpc":"2.0","id":99,"method":"ping"}`)
		c.discovered(`["2026-07-28"]`)
	})
	c := r.open(v4, `{"elicitation":{},"roots":{}}`)
	c.post(toolCall(`1`, "ask", `1`)).check(t, http.StatusOK, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
	got := r.client().post(standalone(`1`, mcp.ToolsCall, `"name":"ask"`, `{}`), routing(mcp.ToolsCall, "ask")...)
	if got.status != http.StatusOK || strings.Contains(got.body, "vendor/ask") {
		t.Errorf("a stateless client is answered %d %s", got.status, got.body)
	}
	if n := r.heard.count("failed server unexpected_request"); n != 9 {
		t.Errorf("%d such requests were counted", n)
	}
}
