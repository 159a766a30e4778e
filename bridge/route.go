package bridge

import (
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// route puts a message that is no answer on the stream it belongs to, or
// holds it until there is one. Every message goes to exactly one stream
// (basic/transports "Multiple Connections").
func (s *Session) route(m *mcp.Message) {
	if t := s.streamFor(m); t != nil {
		s.push(t, m)
		return
	}
	if onlyOfCall(m) { // and nobody listens to the call
		s.watch.Lost("deliver", mcp.Passed)
		return
	}
	if s.outbox.add(m, s.now) {
		return
	}
	s.watch.Lost("deliver", mcp.Passed)
	if m.Kind == mcp.Request {
		s.unreachable(m.Call)
	}
}

// onlyOfCall reports whether a message means nothing outside of its call.
// News of lists and resources does, even where a server sends it on a call's
// stream.
func onlyOfCall(m *mcp.Message) bool {
	return m.Within != 0 && (m.Method == mcp.Progress || m.Method == mcp.LogMessage)
}

// streamFor chooses the stream: the call's own, the standalone one, else any
// that can carry the message.
func (s *Session) streamFor(m *mcp.Message) *Turn {
	if m.Kind == mcp.Request && !s.ready {
		return nil
	}
	if c := s.calls[m.Within]; c != nil && c.turn.carries() {
		return c.turn
	}
	if s.standalone.carries() {
		return s.standalone
	}
	if onlyOfCall(m) {
		return nil
	}
	if s.recent.attended() {
		return s.recent
	}
	for _, c := range s.inOrder() {
		if c.turn.attended() {
			return c.turn
		}
	}
	return nil
}

func (s *Session) push(t *Turn, m *mcp.Message) {
	if s.overflows(t, m) {
		return
	}
	if q := s.asked[m.Call]; q != nil && m.Kind == mcp.Request {
		q.turn = t
	}
	t.Stream.Push(m)
	s.pushed = t.Stream
	s.watch.Sent(mcp.Client, m.Kind, m.Method)
}

// flush sends what is held, if a stream is there for it.
func (s *Session) flush() {
	if len(s.outbox.items) == 0 || !s.standalone.carries() && !s.recent.attended() {
		return
	}
	for _, m := range s.outbox.take(s.ready) {
		s.route(m)
	}
}

// Ready says that the client may be asked questions from now on.
func (s *Session) Ready(now time.Time) []Effect {
	s.enter(now)
	s.ready = true
	s.flush()
	return s.leave()
}

// Listen makes t the standalone stream of the client. A second one takes over
// from the first.
func (s *Session) Listen(t *Turn, now time.Time) []Effect {
	s.enter(now)
	if s.closed {
		t.Stream.End()
	} else {
		if s.standalone != nil {
			s.standalone.Stream.End()
		}
		s.standalone = t
		s.flush()
	}
	return s.leave()
}

// Streams returns the streams on which calls under way are answered.
func (s *Session) Streams() []*transports.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*transports.Stream
	for _, c := range s.calls {
		if c.turn != nil {
			out = append(out, c.turn.Stream)
		}
	}
	return out
}

// Stream returns the stream that a call is answered on, nil when there is
// none.
func (s *Session) Stream(key mcp.CallKey) *transports.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[key]; c != nil && c.turn != nil {
		return c.turn.Stream
	}
	return nil
}
