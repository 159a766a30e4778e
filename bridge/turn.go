package bridge

import (
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// Turn is one exchange of a client and the stream its answers go to. The
// calls of a batch share one. The session's lock guards it.
type Turn struct {
	Stream *transports.Stream
	// Events says that the stream can carry more than answers.
	Events  bool
	pending int    // calls that still owe this turn an answer
	shared  bool   // the stream outlives the calls: it is the client's only one
	over    func() // called when nothing is owed any more; may be nil
	// again serves the turn's only request in another conversation; nil where
	// that cannot be, or was done.
	again func(*mcp.Message)
	// elsewhere makes again lead to another upstream, where the one before did
	// not get the request; false where there is none. nil is never.
	elsewhere func() bool
}

// NewSharedTurn returns the turn of a client with a single stream.
func NewSharedTurn(s *transports.Stream) *Turn { return &Turn{Stream: s, Events: true, shared: true} }

// NewTurn returns the turn of an exchange.
func NewTurn(s *transports.Stream, events bool) *Turn { return &Turn{Stream: s, Events: events} }

// carries reports whether a message that is no answer can go out here now.
func (t *Turn) carries() bool { return t != nil && t.Events && t.Stream.Open() }

// attended reports whether the client would hear now what has nothing to do
// with the turn's calls.
func (t *Turn) attended() bool { return t.carries() && t.Stream.Attended() }

// answer pushes the answer of one call. The last one ends the stream in the
// same moment, so that its writer knows that nothing follows.
func (t *Turn) answer(m *mcp.Message) bool {
	if t.pending--; t.shared || t.pending > 0 {
		ok := t.Stream.Push(m)
		t.ended()
		return ok
	}
	return t.Stream.Finish(m)
}

func (t *Turn) ended() {
	if t.pending <= 0 && t.over != nil {
		t.over()
	}
}

// settle notes that one call gets no answer, and ends the stream after the
// last.
func (t *Turn) settle() {
	if t.pending--; !t.shared && t.pending <= 0 {
		t.Stream.End()
	}
	t.ended()
}
