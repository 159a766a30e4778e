package bridge

import (
	"maps"
	"slices"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
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
		s.openCall(m, turn)
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

// Abandon tells that the client left the response stream of a call, where its
// revision says that this cancels.
func (s *Session) Abandon(key mcp.CallKey, now time.Time) []Effect {
	s.enter(now)
	if s.calls[key] != nil && !s.closed {
		m := mcp.NewNotification(mcp.Cancelled, mcp.MustObject(`{"reason":"the client left"}`))
		m.Call = key
		s.toServer(m)
		s.drop(key)
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

// FromServer takes a message of the server. via is the call on whose stream it
// came, zero for a standalone stream or a pipe.
func (s *Session) FromServer(m *mcp.Message, via mcp.CallKey, now time.Time) []Effect {
	effects, _ := s.Hear(m, via, now)
	return effects
}

// Hear is FromServer for a reader that must not run ahead of the client. It
// returns the stream to the client that the message went to, too, so that the
// reader can wait for room there; nil when it went to none.
func (s *Session) Hear(m *mcp.Message, via mcp.CallKey, now time.Time) ([]Effect, *transports.Stream) {
	s.enter(now)
	known := !s.closed
	if !m.IsAnswer() {
		s.watch.Received(mcp.Server, m.Kind, m.Method)
	}
	switch {
	case !known:
	case m.IsAnswer():
		known = s.matchResult(m)
	case m.Kind == mcp.Request && m.Method == mcp.Ping:
		// Each leg's liveness is its own: the bridge is the peer that is asked.
		s.send(m.Answer(mcp.NewObject()))
		known = false
	case m.Kind == mcp.Request:
		s.openQuestion(m, via)
	default:
		known = s.matchNotice(m, via)
	}
	if known {
		s.toClient(m)
	}
	pushed := s.pushed
	return s.leave(), pushed
}

// matchResult finds the call that an answer of the server answers.
func (s *Session) matchResult(m *mcp.Message) bool {
	c, n, ok := s.link.lookup(m.ID)
	if !ok || c.session != s {
		s.watch.Failed(mcp.Server, "unknown_response")
		return false
	}
	s.link.close(n)
	delete(s.upstream, c.key)
	m.Call, m.Method = c.key, c.method
	s.watch.Received(mcp.Server, m.Kind, m.Method)
	return true
}

// openQuestion puts a request of the server into the table of questions. On a
// pipe the call that it belongs to is the only one in flight, if there is
// just one.
func (s *Session) openQuestion(m *mcp.Message, via mcp.CallKey) {
	m.Call, m.Within = s.newKey(), via
	if via == 0 && len(s.upstream) == 1 {
		for key := range s.upstream {
			m.Within = key
		}
	}
	q := &question{key: m.Call, method: m.Method, serverID: m.ID, within: m.Within}
	q.token, _ = m.ProgressToken()
	s.asked[m.Call] = q
}

// matchNotice finds what a notification of the server is about. One about
// nothing known is dropped, but for those that are about no request at all.
func (s *Session) matchNotice(m *mcp.Message, via mcp.CallKey) bool {
	m.Within = via
	switch m.Method {
	case mcp.Cancelled:
		return s.matchWithdrawal(m)
	case mcp.Progress:
		_, key := s.link.Owner(m)
		if s.calls[key] == nil {
			s.watch.Failed(mcp.Server, "unknown_progress")
			return false
		}
		m.Call, m.Within = key, key
	default:
		if _, key := s.link.Owner(m); key != 0 {
			m.Call, m.Within = key, key
		}
	}
	return true
}

// matchWithdrawal finds the question that the server takes back.
func (s *Session) matchWithdrawal(m *mcp.Message) bool {
	r, ok := m.Body.Get("requestId")
	if !ok {
		return true
	}
	id, valid := mcp.ParseID(r)
	for _, q := range s.asked {
		if valid && !q.serverID.IsZero() && q.serverID.Equal(id) {
			m.Call, m.Within = q.key, q.within
			q.withdrawn = true
			return true
		}
	}
	s.watch.Failed(mcp.Server, "unknown_cancel")
	return false
}

// Fail ends a request under way to the server with an error because its
// exchange failed. The error passes through the pipeline like the server's own
// answer, so that stages forget the call.
func (s *Session) Fail(key mcp.CallKey, err *mcp.Error, now time.Time) []Effect {
	s.enter(now)
	if !s.closed {
		s.fail(key, err)
	}
	return s.leave()
}

func (s *Session) fail(key mcp.CallKey, err *mcp.Error) {
	m := &mcp.Message{Kind: mcp.Failure, Call: key, Body: err.Object()}
	call := s.calls[key]
	n, under := s.upstream[key]
	if under {
		m.Method = s.link.close(n)
		delete(s.upstream, key)
	} else if call == nil {
		return
	}
	if call != nil {
		m.Method = call.method
	}
	s.toClient(m)
	if call != nil && s.calls[key] == call && call.turn != nil {
		s.exitAnswer(m) // a stage kept the error, but the call is over
	}
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
	for _, l := range o.Losses {
		s.watch.Lost(l.Change, l.Verdict)
	}
	for _, f := range o.FellBack {
		s.watch.FellBack(f.Feature, f.Action)
	}
	for _, a := range o.Actions {
		s.act(a)
	}
}
