package bridge

import (
	"context"
	"errors"
	"slices"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// levels lists the log levels, the most verbose first (RFC 5424).
func levels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// wants reports whether a session asked for records of that level. One that
// never set a level gets what the server decides to send.
func (t *member) wants(level string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.level < 0 || slices.Index(levels(), level) >= t.level
}

// Send implements transports.Upstream. What is common to all sessions is
// answered here; the rest goes to the server as it is.
func (t *member) Send(ctx context.Context, m *mcp.Message, o transports.Outgoing) error {
	switch m.Method {
	case mcp.Initialize:
		return t.enter(ctx, m, o)
	case mcp.Initialized:
		return nil
	case mcp.RootsChanged: // the server, which cannot tell whose, would ask somebody else
		return nil
	case mcp.Cancelled:
		if t.withdraws(m) {
			return nil
		}
	case mcp.ResourcesSubscribe:
		if m.Kind == mcp.Request && t.hold(m.Body.Text("uri")) {
			return answered(m, o)
		}
		return t.subscribe(ctx, m, o)
	case mcp.ResourcesUnsubscribe:
		if m.Kind == mcp.Request && !t.release(m.Body.Text("uri")) {
			return answered(m, o)
		}
	case mcp.SetLevel:
		if m.Kind == mcp.Request && !t.setLevel(m.Body.Text("level")) {
			return answered(m, o)
		}
	}
	return t.pass(ctx, m, o)
}

// queue gives a request its place among those that take turns; nil for one
// that takes none.
func (t *member) queue(m *mcp.Message) *ticket {
	if t.share.lane == nil || !inLane(m) {
		return nil
	}
	return t.share.lane.join(t, m)
}

// withdraws reports the cancellation of a request that waits for its turn, and
// takes it out.
func (t *member) withdraws(m *mcp.Message) bool {
	return t.share.lane != nil && m.Method == mcp.Cancelled && t.share.lane.withdraw(m)
}

// pass sends a message to the server.
func (t *member) pass(ctx context.Context, m *mcp.Message, o transports.Outgoing) error {
	if m.IsAnswer() && t.share.lane != nil && !t.share.lane.replied(t, m.ID) {
		return nil // it was answered, or the server wants no answer any more
	}
	err := t.share.wire.Send(ctx, m, o)
	if errors.Is(err, transports.ErrSessionGone) || errors.Is(err, transports.ErrBroken) {
		t.share.lost()
	}
	return err
}

// answered gives a request the empty result of one that was granted before.
func answered(m *mcp.Message, o transports.Outgoing) error {
	if o.Sent != nil {
		o.Sent()
	}
	o.Receive(m.Answer(mcp.NewObject()))
	return nil
}

// enter answers a handshake from the one that took place.
func (t *member) enter(ctx context.Context, m *mcp.Message, o transports.Outgoing) error {
	result, err := t.share.open(ctx)
	if err != nil {
		return err
	}
	t.share.mu.Lock()
	t.share.members[t] = true
	t.share.mu.Unlock()
	if o.Sent != nil {
		o.Sent()
	}
	o.Receive(&mcp.Message{Kind: mcp.Result, ID: m.ID, Method: m.Method, Body: result})
	return nil
}

// hold reports whether a subscription is there already, and counts this
// session in if it is.
func (t *member) hold(uri string) bool {
	s := t.share
	s.mu.Lock()
	defer s.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.uris[uri] == 0 {
		return false
	}
	if !t.uris[uri] {
		t.uris[uri] = true
		s.uris[uri]++
	}
	return true
}

// subscribe asks the server, and remembers what it grants.
func (t *member) subscribe(ctx context.Context, m *mcp.Message, o transports.Outgoing) error {
	uri, receive := m.Body.Text("uri"), o.Receive
	o.Receive = func(r *mcp.Message) {
		t.c.respell(r)
		if r.Kind == mcp.Result && r.ID.Equal(m.ID) {
			t.grant(uri)
		}
		receive(r)
	}
	return t.pass(ctx, m, o)
}

func (t *member) grant(uri string) {
	s := t.share
	s.mu.Lock()
	defer s.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.uris[uri] {
		t.uris[uri] = true
		s.uris[uri]++
	}
}

// release gives a session's subscription up, and reports whether nobody else
// holds it.
func (t *member) release(uri string) bool {
	s := t.share
	s.mu.Lock()
	defer s.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.uris[uri] {
		return s.uris[uri] == 0
	}
	delete(t.uris, uri)
	if s.uris[uri]--; s.uris[uri] > 0 {
		return false
	}
	delete(s.uris, uri)
	return true
}

// setLevel notes what a session wants to hear, and reports whether the server
// must be told: it sends what the most curious session wants.
func (t *member) setLevel(level string) bool {
	wanted := slices.Index(levels(), level)
	if wanted < 0 {
		return true // the server's to refuse
	}
	s := t.share
	s.mu.Lock()
	defer s.mu.Unlock()
	t.mu.Lock()
	t.level = wanted
	t.mu.Unlock()
	now, _ := s.level.Text()
	if s.level != nil && slices.Index(levels(), now) <= wanted {
		return false
	}
	s.level = mcp.Quote(level)
	return true
}
