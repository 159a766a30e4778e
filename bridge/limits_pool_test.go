package bridge_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// lists asks for the tools as a stateless client of somebody with those
// capabilities does: others have a conversation of their own.
func (r *rig) lists(who, capabilities string) reply {
	r.t.Helper()
	return r.as(who).post(standalone(`7`, mcp.ToolsList, "", capabilities), routing(mcp.ToolsList, "")...)
}

func (b *busy) callAlone(who string) {
	done := make(chan reply, 1)
	b.calls = append(b.calls, done)
	go func() {
		got, err := b.r.as(who).try(http.MethodPost, standalone(`1`, mcp.ToolsCall, `"name":"slow"`, `{}`), routing(mcp.ToolsCall, "slow")...)
		if err != nil {
			b.r.t.Error(err)
		}
		done <- got
	}()
	<-b.arrived
}

const otherwise = `{"experimental":{"x":{}}}`

func TestLimitPooled(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.MaxPooled = 2 })
	busy := r.busy()
	busy.callAlone("alice")
	busy.callAlone("bob")
	r.wantLimited("", 0)
	r.lists("carol", `{}`).wantExceeded(t, http.StatusServiceUnavailable, `7`, mcp.LimitPooled, 2)
	r.wantLimited(mcp.LimitPooled, 1)
	for _, who := range []string{"alice", "bob"} { // who has one goes on
		if got := r.lists(who, `{}`); got.status != http.StatusOK {
			t.Errorf("%s is answered %d %s", who, got.status, got.body)
		}
	}
	busy.end()
	gives(t, "an idle conversation makes no room", func() bool { return r.lists("carol", `{}`).status == http.StatusOK })
	r.up.await(t, http.MethodDelete, 1)
}

func TestLimitPooledOfOnePrincipal(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.MaxPooledPerPrincipal = 1 })
	busy := r.busy()
	busy.callAlone("alice")
	if got := r.lists("alice", `{}`); got.status != http.StatusOK {
		t.Errorf("in the same conversation: %d %s", got.status, got.body)
	}
	r.wantLimited("", 0)
	r.lists("alice", otherwise).wantExceeded(t, http.StatusTooManyRequests, `7`, mcp.LimitPooledOfOne, 1)
	r.wantLimited(mcp.LimitPooledOfOne, 1)
	for range 3 { // the others
		for _, who := range []string{"bob", ""} {
			if got := r.lists(who, otherwise); got.status != http.StatusOK {
				t.Errorf("%q is answered %d %s", who, got.status, got.body)
			}
		}
	}
	busy.end()
	gives(t, "an idle conversation makes no room", func() bool { return r.lists("alice", otherwise).status == http.StatusOK })
}

// Clients without credentials who share a conversation are not one session.
func TestLimitsOfNobody(t *testing.T) {
	r := newEraRig(t, stateless, func(s *rigging) {
		s.Era, s.MaxCalls, s.MaxStreams = negotiate.Stateless, 1, 1
	})
	busy := r.busy()
	for range 3 {
		busy.callAlone("")
	}
	r.wantLimited("", 0)
	busy.end()
}

// parker is a session between a client of the stateless revision and a server
// that asks within calls, whose time is the test's.
type parker struct {
	*bridge.Session
	t     *testing.T
	heard *witness
	now   time.Time
}

// start is when time begins in tests that say what time it is.
var start = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func newParker(t *testing.T, client mcp.Version, o mcp.Options) *parker {
	p := &parker{t: t, heard: newWitness(), now: start}
	p.Session = bridge.NewSession(bridge.NewLink(), p.heard, true)
	p.build(client, `{"elicitation":{}}`, o)
	return p
}

func (p *parker) build(client mcp.Version, capabilities string, o mcp.Options) {
	p.Build(rewrite.Standard(), rewrite.Facing{
		Client:  mcp.Peer{Version: client, Info: mcp.NewObject(), Capabilities: mcp.MustObject(capabilities)},
		Server:  mcp.Peer{Version: v4, Info: mcp.NewObject(), Capabilities: mcp.MustObject(`{"tools":{}}`)},
		Options: o,
	}, rewrite.Deps{
		Seal: func(s string) string { return s },
		Open: func(s string) (string, bool) { return s, true },
	})
}

// call has the client call a tool, and returns its key and stream.
func (p *parker) call(id string) (mcp.CallKey, *transports.Stream) {
	p.t.Helper()
	m, err := mcp.DecodeMessage([]byte(standalone(id, mcp.ToolsCall, `"name":"t"`, `{"elicitation":{}}`)))
	if err != nil {
		p.t.Fatal(err)
	}
	s := transports.NewStream(1 << 20)
	key, _ := p.FromClient(m, bridge.NewTurn(s, true), p.now)
	return key, s
}

// asks has the server ask within a call, and returns what it is answered at
// once.
func (p *parker) asks(id string, within mcp.CallKey) string {
	p.t.Helper()
	m, err := mcp.DecodeMessage([]byte(request(id, mcp.Elicit, elicit)))
	if err != nil {
		p.t.Fatal(err)
	}
	return sentBy(p.FromServer(m, within, p.now))
}

// sentBy returns the messages that effects send, one a line.
func sentBy(effects []bridge.Effect) string {
	var lines []string
	for _, e := range effects {
		if e.Msg != nil {
			lines = append(lines, string(e.Msg.Bytes()))
		}
	}
	return strings.Join(lines, "\n")
}

// after lets time pass, and returns what the server is sent.
func (p *parker) after(d time.Duration) string {
	p.now = p.now.Add(d)
	return sentBy(p.Expire(p.now))
}

const refusedQuestion = `"result":{"action":"cancel"}`

func TestLimitParked(t *testing.T) {
	o := mcp.DefaultOptions()
	o.MaxParked = 2
	p, other := newParker(t, v5, o), newParker(t, v5, o)
	for _, id := range []string{`1`, `2`} {
		key, s := p.call(id)
		if got := p.asks(id, key); got != "" {
			t.Errorf("the question is answered %s", got)
		}
		p.after(time.Second)
		if d, ok := s.Next(); !ok || !strings.Contains(string(d.Message.Bytes()), `"input_required"`) {
			t.Errorf("call %s is answered %+v", id, d)
		}
	}
	if n := p.heard.starting("limited"); n != 0 {
		t.Errorf("heard %v", p.heard.counts)
	}
	key, s := p.call(`3`)
	if got := p.asks(`3`, key); !strings.Contains(got, `"id":3,`+refusedQuestion) {
		t.Errorf("the question of the third is answered %q", got)
	}
	if n := p.heard.count("limited " + mcp.LimitParked); n != 1 {
		t.Errorf("heard %v", p.heard.counts)
	}
	m, err := mcp.DecodeMessage([]byte(`{"jsonrpc":"2.0","id":3,"result":{"content":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	p.FromServer(m, key, p.now) // the call goes on, and the others wait on
	if d, ok := s.Next(); !ok || !strings.Contains(string(d.Message.Bytes()), `"id":3,"result":{"content":[]`) {
		t.Errorf("the third call is answered %+v", d)
	}
	if got := p.heard.starting("unparked"); got != 0 {
		t.Errorf("heard %v", p.heard.counts)
	}
	key, _ = other.call(`1`)
	if got := other.asks(`1`, key); got != "" {
		t.Errorf("another conversation's question is answered %s", got)
	}
}

// Questions that come at the same moment are not more than one after another.
func TestLimitParkedAtOnce(t *testing.T) {
	o := mcp.DefaultOptions()
	o.MaxParked = 2
	p := newParker(t, v5, o)
	refused := 0
	for _, id := range []string{`1`, `2`, `3`, `4`} {
		key, _ := p.call(id)
		if p.asks(id, key) != "" {
			refused++
		}
	}
	if n := p.heard.count("limited " + mcp.LimitParked); refused != 2 || n != 2 {
		t.Errorf("%d are refused, heard %v", refused, p.heard.counts)
	}
}

// What waits for a page to be opened is parked too.
func TestLimitParkedForPages(t *testing.T) {
	o := mcp.DefaultOptions()
	o.MaxParked = 1
	q := newParker(t, v5, o)
	q.build(v5, `{"elicitation":{"form":{},"url":{}}}`, o)
	m, err := mcp.DecodeMessage([]byte(standalone(`2`, mcp.ToolsCall, `"name":"t"`, `{"elicitation":{"form":{},"url":{}}}`)))
	if err != nil {
		t.Fatal(err)
	}
	first, _ := q.call(`1`)
	q.asks(`1`, first)
	q.after(time.Second)
	s := transports.NewStream(1 << 20)
	key, _ := q.FromClient(m, bridge.NewTurn(s, true), q.now)
	answer, err := mcp.DecodeMessage([]byte(`{"jsonrpc":"2.0","id":2,"error":{"code":-32042,"message":"open","data":{"elicitations":[{"mode":"url","url":"https://a.example/","elicitationId":"e","message":"m"}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	q.FromServer(answer, key, q.now)
	d, ok := s.Next()
	if !ok || !strings.Contains(string(d.Message.Bytes()), "1 calls wait for the client's answers, the limit max_parked_calls") {
		t.Errorf("the call is answered %+v", d.Message)
	}
	if n := q.heard.count("limited " + mcp.LimitParked); n != 1 {
		t.Errorf("heard %v", q.heard.counts)
	}
}

func TestLimitPark(t *testing.T) {
	o := mcp.DefaultOptions()
	o.ParkTimeout = time.Minute
	p := newParker(t, v5, o)
	key, _ := p.call(`1`)
	p.asks(`1`, key)
	p.after(time.Second) // it is parked
	if got := p.after(time.Minute - time.Second); got != "" || p.heard.starting("limited") != 0 {
		t.Errorf("before its time the server is sent %s", got)
	}
	if got := p.after(time.Second); !strings.Contains(got, refusedQuestion) || !strings.Contains(got, `"the client did not return"`) {
		t.Errorf("the server is sent %s", got)
	}
	if n := p.heard.count("limited " + mcp.LimitPark); n != 1 || p.heard.count("unparked abandoned") != 1 {
		t.Errorf("heard %v", p.heard.counts)
	}
	key, s := p.call(`2`) // the session goes on
	p.asks(`2`, key)
	p.after(time.Second)
	if d, ok := s.Next(); !ok || !strings.Contains(string(d.Message.Bytes()), `"input_required"`) {
		t.Errorf("the next call is answered %+v", d)
	}
}

func TestLimitElicitation(t *testing.T) {
	o := mcp.DefaultOptions()
	o.ElicitationTimeout = time.Minute
	p := newParker(t, v4, o)
	key, s := p.call(`1`)
	p.asks(`9`, key)
	if got := p.after(time.Minute - time.Nanosecond); got != "" || p.heard.starting("limited") != 0 {
		t.Errorf("before its time the server is sent %s", got)
	}
	if got := p.after(time.Nanosecond); got != `{"jsonrpc":"2.0","id":9,`+refusedQuestion+`}` {
		t.Errorf("the server is sent %s", got)
	}
	if n := p.heard.count("limited " + mcp.LimitElicitation); n != 1 {
		t.Errorf("heard %v", p.heard.counts)
	}
	m, err := mcp.DecodeMessage([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	p.FromServer(m, key, p.now) // the call goes on
	for range 2 {               // the question, and that it is withdrawn
		s.Next()
	}
	if d, ok := s.Next(); !ok || string(d.Message.Bytes()) != `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}` {
		t.Errorf("the call is answered %+v", d)
	}
}
