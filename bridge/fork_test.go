package bridge_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/internal/route"
	"github.com/mcpbridge/mcpbridge/internal/schema"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// fork is a Fork on loopback before two scripted servers, old and new.
type fork struct {
	*rig
	fork     *bridge.Fork
	old, new *server
	bridges  map[string]*bridge.Bridge
	idle     []func() // close the bridges' connections that are not in use
}

// newFork builds one; change, of which none is needed, sees the settings of each
// bridge. When the test is over nothing of it may still run.
func newFork(t *testing.T, change func(name string, s *bridge.Settings), ways ...route.Branch) *fork {
	t.Helper()
	transporttest.Goroutines(t)
	f := &fork{old: newServer(t), new: newServer(t), bridges: map[string]*bridge.Bridge{}}
	f.rig = &rig{t: t, heard: newWitness(), web: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	for name, up := range map[string]*server{"old": f.old, "new": f.new} {
		upstream, err := streamable.NewClient(up.URL, streamable.ClientConfig{})
		if err != nil {
			t.Fatal(err)
		}
		f.idle = append(f.idle, upstream.CloseIdleConnections)
		s := bridge.Settings{
			Ladder: rewrite.Standard(), Era: negotiate.Legacy, Dial: upstream.Conversation, Upstream: up.URL,
			Deps: rewrite.Deps{Validate: schema.Validate}, Options: mcp.DefaultOptions(), Observer: f.heard, Log: zerolog.Nop(),
		}
		if change != nil {
			change(name, &s)
		}
		f.bridges[name] = bridge.New(s)
	}
	f.fork = bridge.NewFork(nil, f.plan(ways...))
	web := endpoint(t, f.fork, streamable.ServerConfig{})
	f.url = web.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
		defer cancel()
		for _, b := range f.bridges {
			if err := b.Close(ctx); err != nil {
				t.Errorf("closing a bridge: %v", err)
			}
		}
		f.web.CloseIdleConnections()
		web.CloseClientConnections()
		web.Close()
		f.closeIdle()
	})
	return f
}

func (f *fork) plan(ways ...route.Branch) bridge.Plan {
	p := bridge.Plan{
		Chosen:   func(upstream, by string) { f.heard.note("chosen %s %s", upstream, by) },
		Unopened: func(upstream string) { f.heard.note("unopened %s", upstream) },
		Log:      zerolog.Nop(),
	}
	for _, w := range ways {
		p.Ways = append(p.Ways, bridge.Way{Branch: w, Bridge: f.bridges[w.Name]})
	}
	return p
}

func (f *fork) closeIdle() {
	for _, close := range f.idle {
		close()
	}
}

// counted fails the test unless all of these facts were counted as often.
func (f *fork) counted(facts map[string]int) {
	f.t.Helper()
	for fact, n := range facts {
		if got := f.heard.count(fact); got != n {
			f.t.Errorf("%q was counted %d times, want %d", fact, got, n)
		}
	}
}

// ways are the two servers with weights, the new one first.
func ways(new, old int) []route.Branch {
	return []route.Branch{{Name: "new", Weight: new}, {Name: "old", Weight: old}}
}

func initializeAs(name, version, protocol string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":%q,"version":%q}}}`, protocol, name, version)
}

// A rule takes a client by what it says of itself or by a header, and who fits
// none is refused with all of them.
func TestForkByRule(t *testing.T) {
	for name, tc := range map[string]struct {
		rule        route.Rule
		fits, other string
		header      string // of the one that fits
	}{
		"protocol": {rule: route.Rule{ClientMatch: mcp.ClientMatch{Protocol: ">=2025-06-18"}}, fits: initializeAs("a", "1", v3), other: initializeAs("a", "1", v2)},
		"name":     {rule: route.Rule{ClientMatch: mcp.ClientMatch{Name: "cur*"}}, fits: initializeAs("cursor", "1", v3), other: initializeAs("a", "1", v3)},
		"version":  {rule: route.Rule{ClientMatch: mcp.ClientMatch{Version: "<2"}}, fits: initializeAs("a", "1.9", v3), other: initializeAs("a", "2.0", v3)},
		"header":   {rule: route.Rule{Header: map[string]mcp.Glob{"X-Canary": "y*"}}, fits: initializeAs("a", "1", v3), other: initializeAs("a", "1", v3), header: "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFork(t, nil, route.Branch{Name: "new", Rule: tc.rule}, route.Branch{Name: "old"})
			c := f.client()
			if got := c.post(tc.fits, "X-Canary", tc.header); got.status != http.StatusOK || !strings.Contains(got.body, `"serverInfo"`) {
				t.Errorf("who fits: %d %s", got.status, got.body)
			}
			if got := c.post(tc.other); got.status != http.StatusOK || !strings.Contains(got.body, `"code":-32600`) || !strings.Contains(got.body, "new wants "+strings.ReplaceAll(tc.rule.String(), `"`, `\"`)) {
				t.Errorf("who does not: %d %s", got.status, got.body)
			}
			f.fork.Follow(f.plan(route.Branch{Name: "new", Rule: tc.rule}, route.Branch{Name: "old", Weight: 1}))
			if got := c.post(tc.other); !strings.Contains(got.body, `"serverInfo"`) {
				t.Errorf("who does not, with another upstream: %d %s", got.status, got.body)
			}
			f.counted(map[string]int{"chosen new rule": 1, "chosen old weight": 1, "chosen old rule": 0})
			if f.new.count(mcp.Initialize) != 1 || f.old.count(mcp.Initialize) != 1 {
				t.Error("the servers were not asked once each")
			}
		})
	}
}

// Sessions stay where they began when the weights change; each new one is
// counted once.
func TestForkByWeight(t *testing.T) {
	f := newFork(t, nil, ways(0, 1)...)
	old := f.open(v3, `{}`)
	f.fork.Follow(f.plan(ways(1, 0)...))
	fresh := f.open(v3, `{}`)
	f.fork.Follow(f.plan(ways(0, 1)...))
	for range 3 {
		old.works()
		fresh.works()
	}
	if n := f.old.count(mcp.ToolsCall); n != 3 || f.new.count(mcp.ToolsCall) != 3 {
		t.Errorf("%d calls reached the old server", n)
	}
	f.counted(map[string]int{"chosen old weight": 1, "chosen new weight": 1, "chosen old sticky": 0})
	for _, c := range []*client{old, fresh} {
		if got := c.do(http.MethodDelete, ""); got.status != http.StatusNoContent {
			t.Errorf("the end of a session: %d", got.status)
		}
		if got := c.post(toolCall(`1`, "t", `1`)); got.status != http.StatusNotFound {
			t.Errorf("after its end: %d", got.status)
		}
	}
	// A share is a share: of 60 sessions by half each server gets some.
	f.fork.Follow(f.plan(ways(1, 1)...))
	for range 60 {
		f.open(v3, `{}`)
	}
	a, b := f.heard.count("chosen new weight")-1, f.heard.count("chosen old weight")-1
	if a+b != 60 || a == 0 || b == 0 {
		t.Errorf("of 60 sessions %d and %d", a, b)
	}
}

// An upstream that is taken out goes on for its sessions, and is over with them.
func TestForkWithoutABranch(t *testing.T) {
	f := newFork(t, nil, ways(1, 0)...)
	c := f.open(v3, `{}`)
	f.fork.Follow(f.plan(route.Branch{Name: "old", Weight: 1}))
	if over := f.fork.Settle(); len(over) != 0 {
		t.Error("a bridge with a session is given up")
	}
	c.works()
	f.open(v3, `{}`).works()
	c.do(http.MethodDelete, "")
	gives(t, "the upstream is kept", func() bool { over := f.fork.Settle(); return len(over) == 1 && over[0] == f.bridges["new"] })
	if n := len(f.fork.Bridges()); n != 1 {
		t.Errorf("%d bridges", n)
	}
	f.fork.Finish()
	if got := f.client().post(initializeWith(`1`, v3, `{}`)); got.status != http.StatusNotFound {
		t.Errorf("after the end: %d %s", got.status, got.body)
	}
}

// Stateless clients stay with the upstream of their principal, and are counted
// as new once for each plan.
func TestForkIsSticky(t *testing.T) {
	f := newFork(t, nil, ways(1, 1)...)
	where := func(who string) (calls [2]int) {
		c := f.client()
		c.header.Set("Authorization", who)
		before := [2]int{f.new.count(mcp.ToolsCall), f.old.count(mcp.ToolsCall)}
		for i := range 3 {
			if got := c.post(standalone(strconv.Itoa(i), mcp.ToolsCall, `"name":"t","arguments":{"v":1}`, `{}`), routing(mcp.ToolsCall, "t")...); got.status != http.StatusOK {
				t.Errorf("a call: %d %s", got.status, got.body)
			}
		}
		return [2]int{f.new.count(mcp.ToolsCall) - before[0], f.old.count(mcp.ToolsCall) - before[1]}
	}
	const n = 24
	first := map[string][2]int{}
	for i := range n {
		who := "Bearer " + strconv.Itoa(i)
		if first[who] = where(who); first[who] != [2]int{3, 0} && first[who] != [2]int{0, 3} {
			t.Errorf("%s was served %v", who, first[who])
		}
	}
	chosen := func() (byWeight, sticky int) {
		return f.heard.count("chosen new weight") + f.heard.count("chosen old weight"), f.heard.count("chosen new sticky") + f.heard.count("chosen old sticky")
	}
	if w, s := chosen(); w != n || s != 2*n {
		t.Errorf("%d choices by weight, %d sticky", w, s)
	}
	if w := f.heard.count("chosen new weight"); w == 0 || w == n {
		t.Errorf("the new server got %d of %d", w, n)
	}
	const me = `{"iss":"https://as","sub":"me"}`
	was := where(token(me, "0"))
	for i := range 8 {
		if now := where(token(me, strconv.Itoa(i))); now != was {
			t.Error("a renewed token led elsewhere")
		}
	}
	f.fork.Follow(f.plan(ways(3, 1)...)) // whom the new one has it keeps
	for who, was := range first {
		if now := where(who); was[0] == 3 && now[0] != 3 {
			t.Errorf("%s left the upstream whose share grew", who)
		}
	}
}

// A call that is parked goes on where it waits, whatever the plan says by then.
func TestForkKeepsParkedCalls(t *testing.T) {
	f := newFork(t, nil, ways(0, 1)...)
	for _, up := range []*server{f.old, f.new} {
		up.handle("tools/call ask", asking(mcp.Elicit, elicit))
	}
	c := f.client()
	c.header.Set("Authorization", "Bearer alice")
	state := round(t, c.post(ask(`1`, ``), routing(mcp.ToolsCall, "ask")...))
	f.fork.Follow(f.plan(ways(1, 0)...))
	if got := c.post(standalone(`2`, mcp.ToolsList, "", `{}`), routing(mcp.ToolsList, "")...); got.status != http.StatusOK {
		t.Errorf("another call: %d %s", got.status, got.body)
	}
	stranger := f.client()
	stranger.header.Set("Authorization", "Bearer eve")
	if got := stranger.post(ask(`3`, answers(state)), routing(mcp.ToolsCall, "ask")...); got.status != http.StatusBadRequest {
		t.Errorf("another principal: %d %s", got.status, got.body)
	}
	if got := c.post(ask(`4`, answers(state)), routing(mcp.ToolsCall, "ask")...); !strings.Contains(got.body, `\"action\":\"accept\"`) {
		t.Errorf("the parked call is answered %d %s", got.status, got.body)
	}
	if f.new.count(mcp.ToolsCall) != 0 || f.new.count(mcp.ToolsList) != 1 || f.old.count(mcp.ToolsCall) != 1 {
		t.Error("a call was made where it does not belong")
	}
}

// pipe is a client on a pipe before the fork.
func (f *fork) pipe() *piper {
	s := transports.NewStream(1 << 20)
	p := &piper{t: f.t, stream: s}
	p.session = f.fork.Attach(&transports.Pipe{Transport: "websocket", Stream: s, Header: http.Header{"X-Canary": {"yes"}}})
	f.t.Cleanup(p.session.Close)
	return p
}

// What a server without sessions gives a client to carry comes back to that
// server, whatever the plan says by then.
func TestForkKeepsStates(t *testing.T) {
	f := newFork(t, func(_ string, s *bridge.Settings) { s.Era, s.Several = negotiate.Stateless, true }, ways(0, 1)...)
	for name, up := range map[string]*server{"new": f.new, "old": f.old} {
		up.first = stateless
		up.handle("tools/call ask", func(c *call) {
			if state := c.Body.Text("requestState"); state != "" {
				c.result(`{"resultType":"complete","content":[{"type":"text","text":"` + name + ` has ` + state + `"}]}`)
				return
			}
			c.result(`{"resultType":"input_required","inputRequests":{"in-1":{"method":"elicitation/create","params":` + elicit + `}},"requestState":"from ` + name + `"}`)
		})
	}
	const me = `{"iss":"https://as","sub":"me"}`
	for who, later := range map[string]string{"": "", "Bearer alice": "Bearer alice", token(me, "1"): token(me, "2")} {
		c := f.client()
		c.header.Set("Authorization", who)
		f.fork.Follow(f.plan(ways(0, 1)...))
		state := round(t, c.post(ask(`1`, ``), routing(mcp.ToolsCall, "ask")...))
		f.fork.Follow(f.plan(ways(1, 0)...))
		c.header.Set("Authorization", later)
		if got := c.post(ask(`2`, answers(state)), routing(mcp.ToolsCall, "ask")...); !strings.Contains(got.body, "old has from old") {
			t.Errorf("%q is answered %d %s", who, got.status, got.body)
		}
	}
}

// A session that is gone is recovered on one upstream, however many requests
// name it at once, and stays ended once its client ended it.
func TestForkRecoversSessions(t *testing.T) {
	f := newFork(t, func(_ string, s *bridge.Settings) { s.RecoverSessions = true }, ways(1, 1)...)
	for i := range 8 {
		c := f.client()
		c.session = strings.Repeat(string(rune('A'+i)), 26)
		answers := make(chan reply)
		for range 4 {
			go func() {
				got, err := c.try(http.MethodPost, toolCall(`1`, "t", `1`), mcp.HeaderVersion, v3)
				if err != nil {
					t.Error(err)
				}
				answers <- got
			}()
		}
		for range 4 {
			if got := <-answers; got.status != http.StatusOK || !strings.Contains(got.body, `"result"`) {
				t.Errorf("a request of a session that is gone: %d %s", got.status, got.body)
			}
		}
		if n := f.bridges["old"].Sessions() + f.bridges["new"].Sessions(); n != 1 {
			t.Errorf("%d sessions take its place", n)
		}
		if got := c.do(http.MethodDelete, ""); got.status != http.StatusNoContent {
			t.Errorf("its end: %d", got.status)
		}
		if got := c.post(toolCall(`2`, "t", `2`), mcp.HeaderVersion, v3); got.status != http.StatusNotFound {
			t.Errorf("after its end: %d %s", got.status, got.body)
		}
	}
}
