package bridge

import (
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// divert has a request served by another upstream of the route, where the
// client knows no session and the server never got the request, so that it
// cannot have run. One that goes on with a round of the server's own stays.
func (c *conversation) divert(key mcp.CallKey, m *mcp.Message) bool {
	if !c.standsAlone() || m.Body != nil && (m.Body.Has("requestState") || m.Body.Has("inputResponses")) {
		return false
	}
	turn := c.Session.turnOf(key)
	if turn == nil || turn.elsewhere == nil || turn.again == nil || !turn.elsewhere() {
		return false
	}
	call := c.Session.lift(key, m.Method, time.Now())
	if call == nil {
		return false
	}
	turn.again(c.asBefore(call, m))
	return true
}

// turnOf returns the turn of a call, nil where it has none any more.
func (s *Session) turnOf(key mcp.CallKey) *Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[key]; c != nil {
		return c.turn
	}
	return nil
}

// elsewhere moves the request to the next upstream; false where there is none.
func (r *standing) elsewhere() bool {
	if r.way == nil && r.ways != nil {
		r.way = r.ways()
	}
	if r.way == nil || !r.way.failed() {
		return false
	}
	b, leave, ok := r.way.next()
	if !ok {
		return false
	}
	r.moved(leave)
	r.bridge = b
	if !r.mine {
		r.who = b.principalOf(proofOf(r.x))
	}
	return true
}

// moved notes what ends the use of the bridge that the request was moved to.
func (r *standing) moved(leave func()) {
	r.mu.Lock()
	before := r.visit
	r.visit = leave
	r.mu.Unlock()
	if before != nil {
		before()
	}
}
