package bridge

import (
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// Bound limits the calls under way of the session and its open streams; 0 is
// no limit.
func (s *Session) Bound(calls, streams int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.maxCalls, s.maxStreams = calls, streams
}

// crowded returns the error for a request for which there is no room, nil if
// there is. A ping, which is answered at once, is always taken. It is called
// under the lock.
func (s *Session) crowded(m *mcp.Message, t *Turn) *mcp.Error {
	switch {
	case m.Method == mcp.Ping:
	case s.maxCalls > 0 && len(s.calls) >= s.maxCalls:
		s.watch.Limited(mcp.LimitCalls)
		return mcp.Errorf(mcp.CodeInternal, "the session has %d calls under way, the limit %s; wait for answers", len(s.calls), mcp.LimitCalls)
	case s.noStreamFor(t):
		return s.noStream()
	}
	return nil
}

func (s *Session) noStream() *mcp.Error {
	s.watch.Limited(mcp.LimitStreams)
	return mcp.Errorf(mcp.CodeInternal, "the session has %d streams open, the limit %s; wait for answers", s.maxStreams, mcp.LimitStreams)
}

// noStreamFor reports whether the stream of a turn would be one too many. A
// stream that is open has a call, but for the standalone one: where there are
// few calls nothing needs to be counted.
func (s *Session) noStreamFor(t *Turn) bool {
	if s.maxStreams <= 0 || t.shared || len(s.calls)+1 < s.maxStreams {
		return false
	}
	open := map[*Turn]bool{}
	for _, c := range s.calls {
		if c.turn != nil && !c.turn.shared {
			open[c.turn] = true
		}
	}
	if s.standalone != nil && !s.standalone.shared && s.standalone.Stream.Open() {
		open[s.standalone] = true
	}
	return !open[t] && len(open) >= s.maxStreams
}

// mayListen returns why the session may not have a standalone stream, nil if it
// may. One that it has makes room for the next.
func (s *Session) mayListen() *mcp.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.standalone != nil && s.standalone.Stream.Open() || !s.noStreamFor(&Turn{}) {
		return nil
	}
	return s.noStream()
}

// turnAway answers a request for which there is no room. Clients of revisions
// with sessions take a status that refuses for the end of the connection, so
// only the others are given one.
func (s *Session) turnAway(m *mcp.Message, t *Turn, why *mcp.Error) {
	m.Call = s.newKey()
	answer := why.Failure(m.ID)
	answer.Method = m.Method
	s.watch.Failed(mcp.Client, "no_room")
	refusal := transports.Reply{Status: http.StatusTooManyRequests, Message: answer, Header: http.Header{"Retry-After": {transports.RetryAfter}}}
	if !s.standsAlone || t.shared || !t.Stream.Refuse(refusal) {
		t.Stream.Push(answer)
	}
}
