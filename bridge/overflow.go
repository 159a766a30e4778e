package bridge

import (
	"github.com/mcpbridge/mcpbridge/mcp"
)

// overflows takes care of a message whose stream is full, where its reader must
// not wait for the client: others share the pipe that it comes from. News of
// what has changed is held, for once there is room; progress and records are
// lost; a client that does not take answers or questions in time loses the
// stream, and with it what is under way there.
func (s *Session) overflows(t *Turn, m *mcp.Message) bool {
	if !s.hasty {
		return false
	}
	limit := t.Stream.Over()
	if limit == "" {
		return false
	}
	s.watch.Limited(limit)
	switch {
	case m.IsAnswer():
		s.burst(t)
	case m.Kind == mcp.Request:
		s.burst(t)
		s.unreachable(m.Call)
	case isNews(m.Method) && s.outbox.add(m, s.now):
	default:
		s.watch.Lost("deliver", mcp.Passed)
	}
	return true
}

// burst ends a stream whose client does not read it, and cancels what was to be
// answered there.
func (s *Session) burst(t *Turn) {
	s.watch.Failed(mcp.Client, "stream_overflow")
	t.Stream.Abandon()
	for _, c := range s.inOrder() {
		if c.turn != t {
			continue
		}
		m := mcp.NewNotification(mcp.Cancelled, mcp.MustObject(`{"reason":"the client does not read what it is sent"}`))
		m.Call = c.key
		s.toServer(m)
		s.drop(c.key)
	}
}
