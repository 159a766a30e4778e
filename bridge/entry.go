package bridge

import (
	"maps"
	"slices"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// FromClient takes a message of the client. turn is where the answer of a
// request will go; it may be nil for other messages. The key names a
// request's call and is zero for what was dropped.
func (s *Session) FromClient(m *mcp.Message, turn *Turn, now time.Time) (mcp.CallKey, []Effect) {
	s.enter(now)
	known := true
	if !m.IsAnswer() {
		s.watch.Received(mcp.Client, m.Kind, m.Method)
	}
	switch {
	case s.closed:
		known = false
	case m.Kind == mcp.Request:
		if why := s.crowded(m, turn); why != nil {
			s.turnAway(m, turn, why)
			known = false
			break
		}
		s.openCall(m, turn)
		if m.Method == mcp.Ping && !s.ready {
			// The server may not be asked yet, but whether it is there is known.
			s.exitAnswer(m.Answer(mcp.NewObject()))
			known = false
		}
	case m.IsAnswer():
		known = s.matchAnswer(m)
	case m.Method == mcp.Cancelled:
		known = s.matchCancel(m)
	case m.Method == mcp.Progress:
		known = s.matchProgress(m)
	}
	if known {
		s.toServer(m)
	}
	if known && m.Method == mcp.Cancelled {
		s.drop(m.Call)
	}
	return m.Call, s.leave()
}

// Opened tells the stages that the handshake is complete, where the server is
// not told, as it has none. Nothing came in and nothing goes out that counts
// as a message.
func (s *Session) Opened(now time.Time) []Effect {
	s.enter(now)
	if !s.closed {
		s.toServer(mcp.NewNotification(mcp.Initialized, nil))
	}
	return s.leave()
}

// Abandon tells that the client left a response stream, where its revision
// says that this cancels what the stream was to answer. A parked call has no
// stream, and is not meant.
func (s *Session) Abandon(t *Turn, now time.Time) []Effect {
	s.enter(now)
	for _, c := range s.inOrder() {
		if c.turn != t || s.closed {
			continue
		}
		m := mcp.NewNotification(mcp.Cancelled, mcp.MustObject(`{"reason":"the client left"}`))
		m.Call = c.key
		s.toServer(m)
		s.drop(c.key)
	}
	return s.leave()
}

// drop forgets a call that the client cancelled: it gets no answer any more
// (basic/utilities/cancellation), so its share of the turn is settled.
func (s *Session) drop(key mcp.CallKey) {
	c := s.calls[key]
	if c == nil {
		return
	}
	delete(s.calls, key)
	s.listenOver(mcp.Client, key)
	s.link.release(c.names)
	if c.turn != nil {
		c.turn.settle()
	}
}

// openCall puts a request of the client into the call table.
func (s *Session) openCall(m *mcp.Message, turn *Turn) {
	m.Call = s.newKey()
	c := &Call{key: m.Call, id: m.ID, method: m.Method, turn: turn, arrived: s.now}
	c.token, _ = m.ProgressToken()
	turn.pending++
	if turn.Events {
		s.recent = turn
	}
	s.calls[m.Call] = c
	s.listenAsked(mcp.Client, m)
	s.flush()
}

// matchAnswer finds the question that an answer of the client answers.
func (s *Session) matchAnswer(m *mcp.Message) bool {
	key, ok := s.byID[m.ID.Key()]
	if !ok {
		s.watch.Failed(mcp.Client, "unknown_response")
		return false
	}
	q := s.asked[key]
	delete(s.byID, m.ID.Key())
	m.Call, m.Method, m.Within = key, q.method, q.within
	s.watch.Received(mcp.Client, m.Kind, m.Method)
	return true
}

// matchCancel finds the call that the client cancels. Initialize cannot be
// cancelled, and where two calls bear the same id nobody knows which is meant.
func (s *Session) matchCancel(m *mcp.Message) bool {
	r, _ := m.Body.Get("requestId")
	id, ok := mcp.ParseID(r)
	if !ok {
		return !m.Body.Has("requestId")
	}
	var found *Call
	for _, c := range s.calls {
		if !c.id.Equal(id) || c.turn == nil {
			continue
		}
		if found != nil {
			s.watch.Failed(mcp.Client, "ambiguous_cancel")
			return false
		}
		found = c
	}
	if found == nil || found.method == mcp.Initialize {
		s.watch.Failed(mcp.Client, "unknown_cancel")
		return false
	}
	m.Call = found.key
	return true
}

// matchProgress finds the question on which the client reports progress.
func (s *Session) matchProgress(m *mcp.Message) bool {
	r, _ := m.Body.Get("progressToken")
	id, ok := mcp.ParseID(r)
	key, asked := s.byID[id.Key()]
	if !ok || !asked {
		s.watch.Failed(mcp.Client, "unknown_progress")
		return false
	}
	m.Call, m.Within = key, s.asked[key].within
	return true
}

func (s *Session) inOrder() []*Call {
	var out []*Call
	for _, key := range slices.Sorted(maps.Keys(s.calls)) {
		out = append(out, s.calls[key])
	}
	return out
}

// Pushed tells whether the standalone stream that a Push asked for is there.
func (s *Session) Pushed(e Effect, open bool, now time.Time) []Effect {
	s.enter(now)
	if !s.closed && s.pipe != nil {
		s.apply(s.pipe.Pushed(e.push, open, now))
	}
	return s.leave()
}

func (s *Session) toServer(m *mcp.Message) { s.apply(s.pipe.Send(m, mcp.Server, s.now)) }
func (s *Session) toClient(m *mcp.Message) { s.apply(s.pipe.Send(m, mcp.Client, s.now)) }

func (s *Session) apply(o rewrite.Outcome) {
	for _, name := range o.Rewritten {
		s.watch.Rewritten(name)
	}
	for _, name := range o.Quirks {
		s.watch.Quirked(name)
	}
	for _, l := range o.Losses {
		s.watch.Lost(l.Change, l.Verdict)
	}
	for _, f := range o.FellBack {
		s.watch.FellBack(f.Feature, f.Action)
	}
	for _, limit := range o.Limited {
		s.watch.Limited(limit)
	}
	for _, n := range o.Rounds {
		s.watch.Rounds(n)
	}
	for _, why := range o.Relearned {
		s.watch.Relearned(why)
	}
	for _, a := range o.Actions {
		s.act(a)
	}
}
