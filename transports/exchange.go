package transports

import (
	"context"
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Exchange is one HTTP request of a client, checked as far as HTTP goes.
type Exchange struct {
	Header  http.Header // as received
	Session string      // the session id the client sent, or ""
	Version string      // the protocol version header, or ""
	Remote  string      // the client's address, for logs
	Speaker *Speaker    // who it speaks for, nil where nobody verified that
	// Transport is the name of the client's transport, for metrics.
	Transport string
	Frame     *mcp.Frame // the decoded body of a POST
	// JSON and Events tell which response bodies the client accepts.
	JSON, Events bool
}

// Host answers exchanges. The transport calls it from the goroutine of the
// request and writes the Reply; ctx ends when the client leaves.
type Host interface {
	Post(ctx context.Context, x *Exchange) Reply   // messages from the client
	Listen(ctx context.Context, x *Exchange) Reply // the standalone stream (GET)
	End(ctx context.Context, x *Exchange) Reply    // the end of a session (DELETE)
	// Malformed reports a body that is no JSON, and answers it.
	Malformed(ctx context.Context, x *Exchange, f *mcp.Fault) Reply
}

// Resumer is a Host whose clients may take up a stream that they lost.
type Resumer interface {
	// Resume says whether the stream of a session may go on in this exchange:
	// nil, or the reply that refuses it.
	Resume(ctx context.Context, x *Exchange) *Reply
}

// Reply is what an exchange is answered with: a status with an optional body,
// or, when Stream is set, whatever arrives there.
type Reply struct {
	Status  int
	Header  http.Header
	Message *mcp.Message // the body of a reply without Stream; nil is no body
	Body    []byte       // a relayed body that is no message; used when Message is nil
	Stream  *Stream
	// Standalone marks the stream of a GET: always an event stream, committed
	// at once, and without an end of its own.
	Standalone bool
	// Kept lets the client take the stream up again after a lost connection,
	// in the session that the exchange names, if the Host is a Resumer.
	Kept bool
	// Primed says that the client knows events without data, so that it can
	// be told a position in the stream before the first message.
	Primed bool
	// StatusOf gives the status of a single answer; nil is always 200.
	StatusOf func(*mcp.Message) int
	// Batch says that the client wrote an array, so that answers in a JSON
	// body form one too.
	Batch bool
	// Unopened says that no conversation with the server could be opened for the
	// exchange, of which the server has seen nothing: another server may be
	// tried.
	Unopened bool
}
