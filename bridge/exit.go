package bridge

import (
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// act does what the pipeline decided: it names the message as its receiver
// knows it and puts it on its way.
func (s *Session) act(a rewrite.Action) {
	switch a.Verb {
	case rewrite.Deliver:
		if a.To == mcp.Server {
			s.exitServer(a.Msg)
		} else {
			s.exitClient(a.Msg)
		}
	case rewrite.Park:
		s.park(a.Msg)
	case rewrite.Attach:
		s.attach(a.Call, a.Msg.Call)
	case rewrite.Push:
		s.effect(Effect{Verb: Push, push: a})
	}
}

func (s *Session) exitServer(m *mcp.Message) {
	switch {
	case m.Kind == mcp.Request:
		n := s.link.open(s, m.Call, m.Method)
		s.upstream[m.Call] = n
		if c := s.calls[m.Call]; c != nil {
			c.names = append(c.names, n)
		}
		m.ID = mcp.IntID(n)
		setToken(m, m.ID)
		s.listenAsked(mcp.Server, m)
		s.send(m)
	case m.IsAnswer():
		s.exitReply(m)
	case m.Method == mcp.Cancelled && m.Call != 0:
		s.exitCancel(m)
	case m.Method == mcp.Progress:
		if q := s.asked[m.Call]; q != nil && !q.token.IsZero() {
			m.Body.Set("progressToken", q.token.Raw())
			s.send(m)
		}
	default:
		s.send(m)
	}
}

func (s *Session) send(m *mcp.Message) {
	s.watch.Sent(mcp.Server, m.Kind, m.Method)
	s.effect(Effect{Verb: Send, Msg: m, Call: m.Call, since: s.now})
}

// exitReply answers the server's request, under the id it gave.
func (s *Session) exitReply(m *mcp.Message) {
	q := s.asked[m.Call]
	if q == nil || q.serverID.IsZero() {
		return
	}
	s.forget(q)
	m.ID = q.serverID
	s.send(m)
}

func (s *Session) forget(q *question) {
	delete(s.asked, q.key)
	delete(s.byID, q.clientID.Key())
	s.outbox.remove(q.key)
}

// exitCancel cancels a call upstream, if the server has it.
func (s *Session) exitCancel(m *mcp.Message) {
	if c := s.calls[m.Call]; c != nil && c.turn == nil { // a parked one, given up
		delete(s.calls, m.Call)
		s.link.release(c.names)
		s.watch.Unparked(ParkAbandoned, s.now.Sub(c.parked))
	}
	n, under := s.upstream[m.Call]
	if !under {
		return
	}
	m.Params().Set("requestId", mcp.IntID(n).Raw())
	s.send(m)
	s.effect(Effect{Verb: Abort, Call: m.Call})
	s.closeUpstream(m.Call, n)
}

func setToken(m *mcp.Message, id mcp.ID) {
	if meta := m.Meta(); meta != nil && meta.Has("progressToken") {
		meta.Set("progressToken", id.Raw())
	}
}

func (s *Session) exitClient(m *mcp.Message) {
	switch {
	case m.IsAnswer():
		s.exitAnswer(m)
	case m.Kind == mcp.Request:
		s.exitQuestion(m)
	case m.Method == mcp.Cancelled && m.Call != 0:
		s.exitWithdrawal(m)
	case m.Method == mcp.Progress:
		if c := s.calls[m.Call]; c != nil && !c.token.IsZero() {
			m.Body.Set("progressToken", c.token.Raw())
			s.route(m)
		}
	default:
		s.listenAcknowledged(mcp.Client, m)
		if c := s.calls[m.Call]; c != nil {
			s.restoreSubscription(m, c)
		}
		s.route(m)
	}
}

// exitAnswer answers the client's request, under the id it gave.
func (s *Session) exitAnswer(m *mcp.Message) {
	c := s.calls[m.Call]
	if c == nil {
		return
	}
	delete(s.calls, m.Call)
	s.listenOver(mcp.Client, m.Call)
	s.link.release(c.names)
	s.deliverAnswer(c, m)
}

func (s *Session) deliverAnswer(c *Call, m *mcp.Message) {
	m.ID = c.id
	s.restoreSubscription(m, c)
	if c.turn == nil {
		return
	}
	s.pushed = c.turn.Stream
	if listed := s.calls[c.key] == c; s.overflows(c.turn, m) {
		if !listed {
			c.turn.settle()
		}
		s.watch.Failed(mcp.Client, "answer_undeliverable")
	} else if c.turn.answer(m) {
		s.watch.Sent(mcp.Client, m.Kind, m.Method)
	} else {
		s.watch.Failed(mcp.Client, "answer_undeliverable")
	}
	s.watch.Answered(m.Method, m.Kind, s.now.Sub(c.arrived))
}

// restoreSubscription: what belongs to a listen names it by the client's id.
func (s *Session) restoreSubscription(m *mcp.Message, c *Call) {
	if meta := m.Meta(); meta != nil && meta.Has(mcp.MetaSubscriptionID) {
		meta.Set(mcp.MetaSubscriptionID, c.id.Raw())
	}
}

// exitQuestion asks the client, under an id of this session's.
func (s *Session) exitQuestion(m *mcp.Message) {
	q := s.asked[m.Call]
	if q == nil { // a stage asks
		q = &question{key: m.Call, method: m.Method, within: m.Within}
		s.asked[m.Call] = q
	}
	s.lastID++
	q.clientID = mcp.IntID(s.lastID)
	s.byID[q.clientID.Key()] = q.key
	m.ID = q.clientID
	setToken(m, m.ID)
	s.route(m)
}

// exitWithdrawal tells the client that an answer is no longer wanted.
func (s *Session) exitWithdrawal(m *mcp.Message) {
	q := s.asked[m.Call]
	if q == nil {
		return
	}
	if s.outbox.remove(q.key) || q.clientID.IsZero() {
		s.forget(q) // it never left
		return
	}
	m.Params().Set("requestId", q.clientID.Raw())
	m.Within = q.within
	if q.turn.carries() {
		s.push(q.turn, m)
	} else {
		s.route(m)
	}
	if q.withdrawn {
		s.forget(q)
		return
	}
	// A stage took it back and still owes the server an answer.
	delete(s.byID, q.clientID.Key())
}

// park answers the client's request while the call goes on.
func (s *Session) park(m *mcp.Message) {
	c := s.calls[m.Call]
	if c == nil || c.turn == nil {
		return
	}
	if s.deliverAnswer(c, m); s.calls[m.Call] != c {
		return // the client did not take it
	}
	c.turn, c.parked = nil, s.now
	s.watch.Parked()
}

// attach makes the request of one call the one that a parked call answers.
func (s *Session) attach(parked, fresh mcp.CallKey) {
	held, request := s.calls[parked], s.calls[fresh]
	if held == nil || request == nil {
		return
	}
	delete(s.calls, fresh)
	s.watch.Unparked(ParkResumed, s.now.Sub(held.parked))
	held.id, held.turn, held.token, held.arrived = request.id, request.turn, request.token, request.arrived
}
