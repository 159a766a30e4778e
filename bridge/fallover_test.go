package bridge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/internal/route"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// canary sends all to the new server by a rule, if it takes them.
func canary() []route.Branch {
	return []route.Branch{{Name: "new", Rule: route.Rule{ClientMatch: mcp.ClientMatch{Name: "*"}}}, {Name: "old", Weight: 1}}
}

// failures are ways in which a server takes no conversation.
func failures() map[string]func(*server) {
	refuse := func(f func(*call)) func(*server) {
		return func(s *server) { s.set(func() { s.first = func(c *call) bool { f(c); return true } }) }
	}
	return map[string]func(*server){
		"refused connection": func(s *server) { s.Close() },
		"error":              refuse(func(c *call) { c.refuse(http.StatusOK, `{"code":-32603,"message":"broken build"}`) }),
		"unknown version":    refuse(func(c *call) { c.result(`{"capabilities":{},"serverInfo":{"name":"x","version":"1"}}`) }),
		"status":             refuse(func(c *call) { c.w.WriteHeader(http.StatusBadGateway) }),
		"busy": refuse(func(c *call) {
			c.w.Header().Set("Retry-After", "1")
			c.w.WriteHeader(http.StatusServiceUnavailable)
		}),
	}
}

// Where the chosen server takes no conversation the next one does, on every
// transport and in both eras, and the client notices nothing.
func TestFallover(t *testing.T) {
	list := standalone(`1`, mcp.ToolsList, "", `{}`)
	for failure, fail := range failures() {
		t.Run(failure, func(t *testing.T) {
			f := newFork(t, nil, canary()...)
			fail(f.new)
			f.open(v3, `{}`).works()
			f.counted(map[string]int{"chosen new rule": 1, "unopened new": 1, "chosen old fallover": 1, "unopened old": 0})

			c := f.client()
			for range 2 { // the second request goes where the first was served
				if got := c.post(list, routing(mcp.ToolsList, "")...); got.status != http.StatusOK || !strings.Contains(got.body, `"tools"`) {
					t.Errorf("a stateless client: %d %s", got.status, got.body)
				}
			}
			f.counted(map[string]int{"chosen new rule": 2, "unopened new": 2, "chosen old fallover": 2, "chosen old sticky": 1})

			p := f.pipe()
			p.say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
			p.want(`{"jsonrpc":"2.0","id":"p","result":{}}`)
			p.say(initializeWith(`0`, v3, `{}`))
			if got := p.hear(); !strings.Contains(got, `"serverInfo"`) {
				t.Errorf("a pipe: %s", got)
			}
			p.say(initialized)
			p.say(toolCall(`1`, "t", `1`))
			p.want(echoed(`1`, `1`))

			p = f.pipe()
			p.say(list)
			if got := p.hear(); !strings.Contains(got, `"tools"`) {
				t.Errorf("a stateless client on a pipe: %s", got)
			}
			f.counted(map[string]int{"unopened new": 4, "chosen old fallover": 4})
		})
	}
}

// What fails everywhere is told, and counted everywhere.
func TestFalloverWithoutAWayOut(t *testing.T) {
	f := newFork(t, nil, canary()...)
	f.new.Close()
	f.old.Close()
	if got := f.client().post(initializeWith(`1`, v3, `{}`)); got.status != http.StatusOK || !strings.Contains(got.body, "cannot reach the upstream server "+f.old.URL) {
		t.Errorf("a session: %d %s", got.status, got.body)
	}
	if got := f.client().post(standalone(`1`, mcp.ToolsList, "", `{}`), routing(mcp.ToolsList, "")...); !strings.Contains(got.body, "cannot reach") {
		t.Errorf("a stateless client: %d %s", got.status, got.body)
	}
	p := f.pipe()
	p.say(initializeWith(`1`, v3, `{}`))
	if got := p.hear(); !strings.Contains(got, "cannot reach") || !strings.Contains(got, `"id":1`) {
		t.Errorf("a pipe: %s", got)
	}
	f.counted(map[string]int{"unopened new": 3, "unopened old": 3, "chosen old fallover": 3})
}

// A server that wants its client to log in has not failed.
func TestNoFalloverForALogin(t *testing.T) {
	f := newFork(t, nil, canary()...)
	f.new.set(func() {
		f.new.first = func(c *call) bool {
			c.w.Header().Set("WWW-Authenticate", `Bearer realm="new"`)
			c.w.WriteHeader(http.StatusUnauthorized)
			return true
		}
	})
	if got := f.client().post(initializeWith(`1`, v3, `{}`)); got.status != http.StatusUnauthorized || got.header.Get("Www-Authenticate") != `Bearer realm="new"` {
		t.Errorf("%d %s", got.status, got.body)
	}
	f.counted(map[string]int{"unopened new": 0, "chosen old fallover": 0})
}

// A call that a server may have run goes nowhere else.
func TestNoFalloverAfterACall(t *testing.T) {
	for era, kind := range map[string]negotiate.Era{"with sessions": negotiate.Legacy, "without": negotiate.Stateless} {
		t.Run(era, func(t *testing.T) {
			f := newFork(t, func(_ string, s *bridge.Settings) { s.Era = kind }, canary()...)
			if kind == negotiate.Stateless {
				f.new.first = stateless
			}
			f.new.handle("tools/call t", func(c *call) { panic(http.ErrAbortHandler) })
			got, err := f.client().try(http.MethodPost, standalone(`1`, mcp.ToolsCall, `"name":"t","arguments":{"v":1}`, `{}`), routing(mcp.ToolsCall, "t")...)
			if err == nil && strings.Contains(got.body, `"result"`) {
				t.Errorf("the call has the result %s", got.body)
			}
			if f.new.count(mcp.ToolsCall) != 1 || f.old.count(mcp.ToolsCall) != 0 {
				t.Error("the call was made elsewhere")
			}
			f.counted(map[string]int{"chosen old fallover": 0})
		})
	}
}

// A request of a stateless client that cannot reach its server is served by the
// next, on a pipe too: a stateless server has no handshake that could fail, and
// one with sessions may be gone after it.
func TestFalloverOfARequest(t *testing.T) {
	for name, era := range map[string]negotiate.Era{"stateless": negotiate.Stateless, "with sessions": negotiate.Legacy} {
		t.Run(name, func(t *testing.T) { fallsOverLater(t, era) })
	}
}

func fallsOverLater(t *testing.T, era negotiate.Era) {
	f := newFork(t, func(_ string, s *bridge.Settings) { s.Era = era }, canary()...)
	if era == negotiate.Stateless {
		f.new.first, f.old.first = stateless, stateless
	}
	call := func(id string) string {
		return standalone(id, mcp.ToolsCall, `"name":"t","arguments":{"v":1}`, `{}`)
	}
	c, p := f.client(), f.pipe()
	c.header.Set("Authorization", "Bearer alice") // so that its conversation is there before
	works := func(id string) {
		t.Helper()
		if got := c.post(call(id), routing(mcp.ToolsCall, "t")...); got.status != http.StatusOK || !strings.Contains(got.body, `{\"v\":1}`) {
			t.Errorf("a call: %d %s", got.status, got.body)
		}
		p.say(call(id))
		if got := p.hear(); !strings.Contains(got, `{\"v\":1}`) {
			t.Errorf("a call on a pipe: %s", got)
		}
	}
	leave := func(s *server) { // so that no connection is tried that is broken already
		f.closeIdle()
		s.CloseClientConnections()
		s.Close()
		f.closeIdle()
	}
	works(`1`)
	leave(f.new)
	works(`2`)
	works(`3`)
	leave(f.old)
	if got := c.post(call(`4`), routing(mcp.ToolsCall, "t")...); !strings.Contains(got.body, "cannot reach") {
		t.Errorf("without a server: %d %s", got.status, got.body)
	}
	if f.new.count(mcp.ToolsCall) != 2 || f.old.count(mcp.ToolsCall) != 4 {
		t.Errorf("%d calls and %d", f.new.count(mcp.ToolsCall), f.old.count(mcp.ToolsCall))
	}
}

// The version that a branch answers is part of the choice: a share of the
// clients negotiates another one. Who speaks none of it is served by the next.
func TestForkMovesVersions(t *testing.T) {
	f := newFork(t, func(name string, s *bridge.Settings) {
		if name == "old" {
			s.ClientVersions = []mcp.Version{v2}
		}
	}, ways(0, 1)...)
	negotiated := func(want string) {
		t.Helper()
		if got := f.client().post(initializeWith(`1`, v4, `{}`)); !strings.Contains(got.body, `"protocolVersion":"`+want+`"`) {
			t.Errorf("%s, want %s", got.body, want)
		}
	}
	negotiated(v2)
	f.fork.Follow(f.plan(ways(1, 0)...))
	negotiated(v4)
	f.fork.Follow(f.plan(ways(0, 1)...))
	negotiated(v2)
	f.fork.Follow(f.plan(route.Branch{Name: "old", Rule: canary()[0].Rule}, route.Branch{Name: "new", Weight: 1}))
	if got := f.client().post(standalone(`1`, mcp.ToolsList, "", `{}`), routing(mcp.ToolsList, "")...); got.status != http.StatusOK || !strings.Contains(got.body, `"tools"`) {
		t.Errorf("a stateless client: %d %s", got.status, got.body)
	}
	f.counted(map[string]int{"unopened old": 1, "chosen new fallover": 1})
}

// A pipe is served where its first conversation began, by a rule of the request
// that opened it too, until it ends.
func TestForkOnPipes(t *testing.T) {
	f := newFork(t, nil, route.Branch{Name: "new", Rule: route.Rule{Header: map[string]mcp.Glob{"X-Canary": "yes"}}}, route.Branch{Name: "old", Weight: 1})
	p := f.pipe()
	p.say(toolCall(`1`, "t", `1`))
	if got := p.hear(); !strings.Contains(got, "not initialized") {
		t.Errorf("before it began: %s", got)
	}
	p.say(initializeWith(`2`, v3, `{}`))
	p.hear()
	p.say(initialized)
	f.fork.Follow(f.plan(ways(0, 1)...))
	p.say(toolCall(`3`, "t", `3`))
	p.want(echoed(`3`, `3`))
	if f.new.count(mcp.ToolsCall) != 1 {
		t.Error("the call was made elsewhere")
	}
	p.session.Close()
	gives(t, "the session goes on without its pipe", func() bool { return f.bridges["new"].Sessions() == 0 })
	f.fork.Follow(f.plan(canary()[0]))
	p = f.pipe()
	f.fork.Follow(f.plan(route.Branch{Name: "new"}))
	p.say(initializeWith(`4`, v3, `{}`))
	if got := p.hear(); !strings.Contains(got, "new has weight 0") || !strings.Contains(got, `"id":4`) {
		t.Errorf("whom nobody takes: %s", got)
	}
}
