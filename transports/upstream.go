package transports

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Upstream is one conversation with one server. Its methods may be called
// concurrently.
type Upstream interface {
	// Send delivers a message. For a request it returns when the answer, and
	// all that the server sent along with it, has been received, or when the
	// exchange failed; for other messages, when the server accepted them.
	Send(ctx context.Context, m *mcp.Message, o Outgoing) error
	// Listen receives what the server sends outside of any exchange until the
	// stream ends. ErrNoStream says that the server has none; it is final.
	Listen(ctx context.Context, o Outgoing) error
	// Agree tells what the handshake settled, for the exchanges that follow.
	Agree(v mcp.Version, t mcp.Traits)
	// Reset forgets the conversation, so that the next Send opens a new one.
	Reset()
	// Close tells the server that the conversation is over.
	Close(ctx context.Context) error
}

// Named is an Upstream that can tell the name of its transport, for metrics.
// It may know only after the handshake, and another one after the next.
type Named interface{ Transport() string }

// NameOf returns the name of an upstream's transport, or fallback where it
// tells none.
func NameOf(u Upstream, fallback string) string {
	if n, ok := u.(Named); ok {
		return n.Transport()
	}
	return fallback
}

// Sessioned is an Upstream that can tell whether the server keeps a session
// for the conversation.
type Sessioned interface{ Stateful() bool }

// IsStateful reports whether the server keeps a session for the conversation.
// Where the transport itself is one, it does.
func IsStateful(u Upstream) bool {
	s, ok := u.(Sessioned)
	return !ok || s.Stateful()
}

// Ender is an Upstream that can end the server's session and stay in use: the
// next message finds the session gone.
type Ender interface {
	End(ctx context.Context) error
}

// Headed is an Upstream whose server sees headers with every message, so that
// it can judge each by its credentials.
type Headed interface{ Headed() bool }

// IsHeaded reports whether the server sees headers with every message.
func IsHeaded(u Upstream) bool {
	h, ok := u.(Headed)
	return ok && h.Headed()
}

// Outgoing holds what a conversation wants to hear of a message under way.
type Outgoing struct {
	// Sent is called once, when the message has been written out; nil is
	// allowed.
	Sent func()
	// Receive is called for every message that comes back, in order, from one
	// goroutine. It may wait: then the server's stream is not read.
	Receive func(*mcp.Message)
	// Open is called when the exchange's stream is established and before
	// anything is received from it; nil is allowed.
	Open func()
	// Status is called with the HTTP status of the response to a message that was
	// POSTed, before anything is received from it; nil is allowed.
	Status func(int)
	// WithVersion sends the version header with the opening request too.
	WithVersion bool
}

// Errors of an Upstream. A *mcp.Refusal is one more: the server answered with
// something that is no JSON-RPC answer to the request.
var (
	// ErrSessionGone says that the server no longer knows the session. The
	// message was not executed.
	ErrSessionGone = errors.New("transports: the upstream session is gone")
	// ErrNoStream says that the server offers no standalone stream.
	ErrNoStream = errors.New("transports: the upstream offers no standalone stream")
	// ErrNoAnswer says that the exchange ended without an answer.
	ErrNoAnswer = errors.New("transports: the upstream closed the exchange without an answer")
)

// Unreachable says that no byte of the message reached the server.
type Unreachable struct{ Err error }

func (e *Unreachable) Error() string { return fmt.Sprintf("upstream unreachable: %v", e.Err) }

// Unwrap returns the cause.
func (e *Unreachable) Unwrap() error { return e.Err }

// Worded is an error that says itself what a client should read: what is the
// matter, and what to do. Its words hold nothing that is secret.
type Worded interface {
	error
	Words() string
}

// Garbage is counted by whoever receives bytes that are no message.
type Garbage func(reason string)

// Reasons for garbage; a fixed list, since they are counted by reason.
const (
	NotJSON    = "not JSON"
	NotJSONRPC = "not JSON-RPC"
	NotUTF8    = "not UTF-8"
	TooLarge   = "too large"
	TooEarly   = "too early"
)
