package bridge

import (
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// maxAsked bounds the questions to one client that are open: a server may ask
// for ever, and a client never answer.
const maxAsked = 1000

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
	if known && s.hasty { // there may be room again for what was held
		s.flush()
	}
	if !m.IsAnswer() {
		s.watch.Received(mcp.Server, m.Kind, m.Method)
	}
	switch {
	case !known:
	case m.IsAnswer():
		known = s.matchResult(m)
	case m.Kind == mcp.Request && s.answersOnly:
		// A stateless server must not ask, and must not be answered: it has no
		// channel for answers (basic/transports "Sending Messages").
		s.watch.Failed(mcp.Server, "unexpected_request")
		known = false
	case m.Kind == mcp.Request && m.Method == mcp.Ping:
		// Each leg's liveness is its own: the bridge is the peer that is asked.
		s.send(m.Answer(mcp.NewObject()))
		known = false
	case m.Kind == mcp.Request && len(s.asked) >= maxAsked:
		s.watch.Failed(mcp.Server, "too_many_questions")
		s.send(m.Refuse(mcp.Errorf(mcp.CodeInternal, "too many questions to this client are open")))
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
	s.closeUpstream(c.key, n)
	m.Call, m.Method = c.key, c.method
	s.watch.Received(mcp.Server, m.Kind, m.Method)
	return true
}

// closeUpstream notes that a request under way to the server is over. The
// names of a client's call live on for as long as the call does.
func (s *Session) closeUpstream(key mcp.CallKey, n int64) (method string) {
	delete(s.upstream, key)
	s.listenOver(mcp.Server, key)
	if s.calls[key] == nil {
		s.link.release([]int64{n})
	}
	return s.link.close(n)
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
			s.listenAcknowledged(mcp.Server, m)
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
		m.Method = s.closeUpstream(key, n)
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
