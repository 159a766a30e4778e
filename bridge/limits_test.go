package bridge_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// as returns a client with the credentials of somebody; "" is nobody.
func (r *rig) as(who string) *client {
	c := r.client()
	if who != "" {
		c.header.Set("Authorization", "Bearer "+who)
	}
	return c
}

// openAs returns a client of somebody with a session.
func (r *rig) openAs(who string) *client {
	r.t.Helper()
	c := r.as(who)
	c.open(v4, `{}`)
	return c
}

// wantLimited fails the test unless a limit was hit that many times, and no
// other was.
func (r *rig) wantLimited(limit string, n int) {
	r.t.Helper()
	if got, all := r.heard.count("limited "+limit), r.heard.starting("limited"); got != n || all != n {
		r.t.Errorf("the limit %s was hit %d times, not %d, and any %d times: %v", limit, got, n, all, r.heard.counts)
	}
}

// wantExceeded fails the test unless an answer refuses a request for a limit,
// which it names with its value.
func (r reply) wantExceeded(t *testing.T, status int, id, limit string, value int) {
	t.Helper()
	named := strings.Contains(r.body, "the limit "+limit) && strings.Contains(r.body, strconv.Itoa(value))
	if r.status != status || !named || !strings.HasPrefix(r.body, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32`) && id != "" {
		t.Errorf("answered %d %s\nwant %d, id %s, the limit %s of %d", r.status, r.body, status, id, limit, value)
	}
	if later := r.header.Get("Retry-After"); (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable) != (later != "") {
		t.Errorf("with %d the client may come back after %q", status, later)
	}
}

// busy are calls of a tool that the test lets end.
type busy struct {
	r       *rig
	arrived chan struct{}
	release chan struct{}
	calls   []<-chan reply
}

func (r *rig) busy() *busy {
	b := &busy{r: r, release: make(chan struct{})}
	var handler func(*call)
	handler, b.arrived = hold(b.release)
	r.up.handle("tools/call slow", handler)
	return b
}

// call begins a call, and returns when it is under way.
func (b *busy) call(c *client, body string) {
	b.calls = append(b.calls, hosted(c, body))
	<-b.arrived
}

// end lets all calls end well.
func (b *busy) end() {
	close(b.release)
	for _, done := range b.calls {
		if got := <-done; got.status != http.StatusOK || !strings.Contains(got.body, `"result"`) {
			b.r.t.Errorf("a call under way is answered %d %s", got.status, got.body)
		}
	}
}

func TestLimitSessions(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.MaxSessions = 3 })
	a, b := r.openAs("alice"), r.openAs("bob")
	r.openAs("")
	r.wantLimited("", 0)
	r.as("carol").post(initializeWith(`7`, v4, `{}`)).wantExceeded(t, http.StatusServiceUnavailable, `7`, mcp.LimitSessions, 3)
	r.wantLimited(mcp.LimitSessions, 1)
	p := r.pipe()
	p.say(initializeWith(`8`, v4, `{}`))
	if got := p.hear(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":8,"error"`) || !strings.Contains(got, "3 sessions are open, the limit max_sessions") {
		t.Errorf("on a pipe: %s", got)
	}
	b.works()
	a.do(http.MethodDelete, "")
	r.openAs("carol").works()
	b.works()
}

func TestLimitSessionsOfOnePrincipal(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.MaxSessionsPerPrincipal = 2 })
	a, also := r.openAs("alice"), r.openAs("alice")
	r.wantLimited("", 0)
	r.as("alice").post(initializeWith(`7`, v4, `{}`)).wantExceeded(t, http.StatusTooManyRequests, `7`, mcp.LimitSessionsOfOne, 2)
	r.wantLimited(mcp.LimitSessionsOfOne, 1)
	r.openAs("bob").works()
	for range 3 { // who has no credentials is not one principal
		r.openAs("").works()
	}
	a.works()
	a.do(http.MethodDelete, "")
	r.openAs("alice").works()
	also.works()
	r.wantLimited(mcp.LimitSessionsOfOne, 1)
}

// A handshake that fails takes no place.
func TestLimitSessionsAfterFailures(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.MaxSessions, s.MaxSessionsPerPrincipal = 1, 1 })
	r.up.opens(func(c *call) { c.fail(mcp.CodeInternal, "not today") })
	for range 3 {
		if got := r.as("alice").post(initializeWith(`1`, v4, `{}`)); !strings.Contains(got.body, "not today") {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	r.up.opens(r.up.initialize)
	r.openAs("alice").works()
	r.wantLimited("", 0)
}

func TestLimitCalls(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.MaxCalls = 2 })
	c, other := r.openAs("alice"), r.openAs("bob")
	busy := r.busy()
	busy.call(c, toolCall(`1`, "slow", `1`))
	c.works() // the second
	busy.call(c, toolCall(`2`, "slow", `1`))
	r.wantLimited("", 0)
	c.post(toolCall(`"x"`, "t", `1`)).wantExceeded(t, http.StatusOK, `"x"`, mcp.LimitCalls, 2)
	r.wantLimited(mcp.LimitCalls, 1)
	if got := c.post(request(`3`, mcp.Ping, `{}`)); got.body != pong(`3`) {
		t.Errorf("a ping is answered %d %s", got.status, got.body)
	}
	if n := r.up.count(mcp.ToolsCall); n != 3 {
		t.Errorf("the upstream got %s", r.up.names())
	}
	other.works()
	busy.end()
	c.works()
	r.wantLimited(mcp.LimitCalls, 1)
}

// Of a batch what there is room for is served.
func TestLimitCallsOfABatch(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.MaxCalls = 2 })
	c := r.open(v2, `{}`)
	busy := r.busy()
	s := make(chan *stream, 1)
	go func() {
		got, err := c.tryStream(http.MethodPost, batch(toolCall(`1`, "slow", `1`), toolCall(`2`, "slow", `2`), toolCall(`3`, "slow", `3`)))
		if err != nil {
			t.Error(err)
		}
		s <- got
	}()
	<-busy.arrived
	<-busy.arrived
	got := <-s
	if got == nil {
		return
	}
	if text := got.next(); !strings.HasPrefix(text, `{"jsonrpc":"2.0","id":3,"error"`) || !strings.Contains(text, "the session has 2 calls under way, the limit max_calls_per_session; wait for answers") {
		t.Errorf("the third call is answered %s", text)
	}
	close(busy.release)
	for range 2 {
		if text := got.next(); !strings.Contains(text, `"result"`) {
			t.Errorf("a call is answered %s", text)
		}
	}
	got.wantEnd()
	c.works()
	r.wantLimited(mcp.LimitCalls, 1)
}

func TestLimitCallsOnAPipe(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.MaxCalls = 2 })
	p, other := r.pipe(), r.pipe()
	for _, one := range []*piper{p, other} {
		one.say(initializeWith(`0`, v3, `{}`))
		one.hear()
		one.say(initialized)
	}
	busy := r.busy()
	for _, id := range []string{`1`, `2`} {
		p.say(toolCall(id, "slow", id))
		<-busy.arrived
	}
	r.wantLimited("", 0)
	p.say(toolCall(`3`, "t", `3`))
	if got := p.hear(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":3,"error"`) || !strings.Contains(got, "2 calls under way, the limit max_calls_per_session") {
		t.Errorf("the third call is answered %s", got)
	}
	r.wantLimited(mcp.LimitCalls, 1)
	other.say(toolCall(`1`, "t", `1`))
	other.want(echoed(`1`, `1`))
	close(busy.release)
	for range 2 {
		if got := p.hear(); !strings.Contains(got, `"result"`) {
			t.Errorf("a call is answered %s", got)
		}
	}
	p.say(toolCall(`4`, "t", `4`))
	p.want(echoed(`4`, `4`))
}

// A client without sessions is told by the status too, and when to come back.
func TestLimitCallsOfStatelessClients(t *testing.T) {
	for name, c := range map[string]struct {
		limit  string
		change func(*rigging)
	}{
		"calls":   {mcp.LimitCalls, func(s *rigging) { s.MaxCalls = 1 }},
		"streams": {mcp.LimitStreams, func(s *rigging) { s.MaxStreams = 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.change)
			busy := r.busy()
			call := func(who, id, tool string) reply {
				return r.as(who).post(standalone(id, mcp.ToolsCall, `"name":"`+tool+`"`, `{}`), routing(mcp.ToolsCall, tool)...)
			}
			done := make(chan reply, 1)
			go func() {
				got, err := r.as("alice").try(http.MethodPost, standalone(`1`, mcp.ToolsCall, `"name":"slow"`, `{}`), routing(mcp.ToolsCall, "slow")...)
				if err != nil {
					t.Error(err)
				}
				done <- got
			}()
			<-busy.arrived
			r.wantLimited("", 0)
			call("alice", `"x"`, "t").wantExceeded(t, http.StatusTooManyRequests, `"x"`, c.limit, 1)
			r.wantLimited(c.limit, 1)
			if got := call("bob", `2`, "t"); got.status != http.StatusOK {
				t.Errorf("another principal is answered %d %s", got.status, got.body)
			}
			close(busy.release)
			if got := <-done; got.status != http.StatusOK {
				t.Errorf("the call under way is answered %d %s", got.status, got.body)
			}
			gives(t, "the call makes no room", func() bool { return call("alice", `3`, "t").status == http.StatusOK })
		})
	}
}

func TestLimitCallsOfStatelessClientsOnAPipe(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.MaxCalls = 1 })
	busy := r.busy()
	p, other := r.pipe(), r.pipe()
	p.say(standalone(`1`, mcp.ToolsCall, `"name":"slow"`, `{}`))
	<-busy.arrived
	p.say(standalone(`2`, mcp.ToolsCall, `"name":"t"`, `{}`))
	if got := p.hear(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":2,"error"`) || !strings.Contains(got, "1 calls under way, the limit max_calls_per_session") {
		t.Errorf("the second call is answered %s", got)
	}
	r.wantLimited(mcp.LimitCalls, 1)
	other.say(standalone(`1`, mcp.ToolsCall, `"name":"t"`, `{}`))
	if got := other.hear(); !strings.Contains(got, `"result"`) {
		t.Errorf("another pipe is answered %s", got)
	}
	close(busy.release)
	if got := p.hear(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"result"`) {
		t.Errorf("the call under way is answered %s", got)
	}
}

// The streams are those of exchanges: of two calls in a batch one, and the
// standalone one is another.
func TestLimitStreams(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.MaxStreams = 2 })
	c, other := r.as("alice"), r.openAs("bob")
	c.open(v2, `{}`)
	busy := r.busy()
	get := c.stream(http.MethodGet, "")
	busy.calls = append(busy.calls, hosted(c, batch(toolCall(`1`, "slow", `1`), toolCall(`2`, "slow", `2`))))
	<-busy.arrived
	<-busy.arrived
	r.wantLimited("", 0)
	c.post(toolCall(`"x"`, "t", `1`)).wantExceeded(t, http.StatusOK, `"x"`, mcp.LimitStreams, 2)
	r.wantLimited(mcp.LimitStreams, 1)
	c.stream(http.MethodGet, "") // takes the place of the other
	get.wantEnd()
	other.works()
	r.wantLimited(mcp.LimitStreams, 1)
	close(busy.release)
	if got := <-busy.calls[0]; strings.Count(got.body, `"result"`) != 2 {
		t.Errorf("the calls under way are answered %d %s", got.status, got.body)
	}
	c.works()
}

func TestLimitStreamsOfListeners(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.MaxStreams = 1 })
	c := r.openAs("alice")
	busy := r.busy()
	busy.call(c, toolCall(`1`, "slow", `1`))
	c.do(http.MethodGet, "").wantExceeded(t, http.StatusTooManyRequests, "", mcp.LimitStreams, 1)
	r.wantLimited(mcp.LimitStreams, 1)
	busy.end()
	c.stream(http.MethodGet, "").leave()
	gives(t, "a stream that was left makes no room", func() bool { return strings.Contains(c.post(toolCall(`2`, "t", `2`)).body, `"result"`) })
}
