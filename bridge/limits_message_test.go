package bridge_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// What is wrong with a message itself is refused by itself.
func TestLimitsOfMessages(t *testing.T) {
	deep := func(levels int) string { // the envelope, params and arguments are three
		return toolCall(`7`, "t", strings.Repeat("[", levels-3)+strings.Repeat("]", levels-3))
	}
	pings := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = request(strconv.Itoa(i), mcp.Ping, `{}`)
		}
		return batch(all...)
	}
	wide := func(bytes int) string {
		rest := len(toolCall(`7`, "t", `""`))
		return toolCall(`7`, "t", `"`+strings.Repeat("x", bytes-rest)+`"`)
	}
	for limit, c := range map[string]struct {
		change func(*rigging)
		body   func(int) string
		value  int
		status int
		id     string
	}{
		mcp.LimitDepth: {func(s *rigging) { s.endpoint.MaxDepth = 20 }, deep, 20, http.StatusBadRequest, `7`},
		mcp.LimitBatch: {func(s *rigging) { s.MaxBatch = 5 }, pings, 5, http.StatusBadRequest, ""},
		mcp.LimitBody: {func(s *rigging) {
			s.endpoint.MaxBody, s.endpoint.Limited = 2000, s.Observer.Limited
		}, wide, 2000, http.StatusRequestEntityTooLarge, ""},
	} {
		t.Run(limit, func(t *testing.T) {
			r := newRig(t, c.change)
			one, other := r.as("alice"), r.openAs("bob")
			one.open(v2, `{}`)
			if got := one.post(c.body(c.value)); got.status != http.StatusOK || strings.Contains(got.body, `"error"`) {
				t.Errorf("up to the limit: %d %s", got.status, got.body)
			}
			r.wantLimited("", 0)
			sent := r.up.count("")
			one.post(c.body(c.value+1)).wantExceeded(t, c.status, c.id, limit, c.value)
			r.wantLimited(limit, 1)
			if r.up.count("") != sent {
				t.Errorf("the upstream got %s", r.up.names())
			}
			one.works()
			other.works()
		})
	}
}

// On a pipe the same: the transport hands in what is wrong.
func TestLimitsOfMessagesOnAPipe(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.MaxBatch = 2 })
	p := r.pipe()
	p.say(initializeWith(`0`, v2, `{}`))
	p.hear()
	p.say(batch(request(`1`, mcp.Ping, `{}`), request(`2`, mcp.Ping, `{}`), request(`3`, mcp.Ping, `{}`)))
	p.say(batch(request(`4`, mcp.Ping, `{}`), request(`5`, mcp.Ping, `{}`)))
	p.want(pong(`4`)) // to the batch there is no id to answer
	p.want(pong(`5`))
	r.wantLimited(mcp.LimitBatch, 1)
	_, fault := mcp.DecodeWithin([]byte(toolCall(`6`, "t", `[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]`)), mcp.MinDepth)
	if reply := p.session.Take(t.Context(), nil, fault); reply.Message == nil || reply.Message.ID.String() != `6` || !strings.Contains(string(reply.Message.Bytes()), "16 levels, the limit max_depth") {
		t.Errorf("answered %+v", reply)
	}
	if r.heard.count("limited "+mcp.LimitDepth) != 1 {
		t.Errorf("heard %v", r.heard.counts)
	}
}

// A session says when it has taken enough, and takes more when there is room.
func TestSessionIsBounded(t *testing.T) {
	heard := newWitness()
	s := bridge.NewSession(bridge.NewLink(), heard, true)
	s.Bound(3, 0)
	peer := mcp.Peer{Version: v4, Info: mcp.NewObject(), Capabilities: mcp.MustObject(`{"tools":{}}`)}
	s.Build(rewrite.Standard(), rewrite.Facing{Client: peer, Server: peer, Options: mcp.DefaultOptions()}, rewrite.Deps{})
	stream := transports.NewStream(1 << 20)
	turn := bridge.NewSharedTurn(stream)
	now := start
	call := func(i int) {
		m, err := mcp.DecodeMessage([]byte(toolCall(strconv.Itoa(i), "t", `1`)))
		if err != nil {
			t.Fatal(err)
		}
		if key, effects := s.FromClient(m, turn, now); key == 0 || len(effects) > 1 {
			t.Fatalf("call %d has the key %d and %d effects", i, key, len(effects))
		}
	}
	for i := range 4 {
		if n := heard.count("limited " + mcp.LimitCalls); n != 0 {
			t.Errorf("call %d is refused", i)
		}
		call(i)
	}
	d, ok := stream.Next()
	if want := `{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"the session has 3 calls under way, the limit max_calls_per_session; wait for answers"}}`; !ok || string(d.Message.Bytes()) != want {
		t.Errorf("the call is answered %+v", d)
	}
	m, err := mcp.DecodeMessage([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	s.FromServer(m, 0, now)
	call(4)
	if n := heard.count("limited " + mcp.LimitCalls); n != 1 {
		t.Errorf("an answer makes no room: %d", n)
	}
}
