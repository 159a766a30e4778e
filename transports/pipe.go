package transports

import (
	"context"
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Conn is a transport on which all messages of a conversation share one pipe
// in each direction: a child process, a socket, an event stream with its
// message endpoint. Read is called from one goroutine, Write from many. Read
// skips what is no message; an error from it is final. Close ends both.
//
// Where messages travel one by one, an error from Write may concern one
// message and leave the pipe as it is: a *mcp.Refusal says what the server
// answered it with, an *Unreachable that it never left, ErrBroken that nobody
// knows whether it arrived. After any other error the pipe is broken and the
// message was not executed.
type Conn interface {
	Read(ctx context.Context) (*mcp.Frame, error)
	Write(ctx context.Context, m *mcp.Message) error
	Close() error
}

// Agreer is a Conn that acts on what the handshake settled.
type Agreer interface {
	Agree(v mcp.Version, t mcp.Traits)
}

// Dialer opens pipes. A *mcp.Refusal is the server's own answer.
type Dialer interface {
	Dial(ctx context.Context) (Conn, error)
}

// HeaderDialer is a Dialer whose pipes open with an HTTP request, which
// carries the end-to-end headers of the first message.
type HeaderDialer interface {
	Dialer
	DialWith(ctx context.Context, h http.Header) (Conn, error)
}

// Pipe is a client whose messages and answers share one connection.
type Pipe struct {
	Header    http.Header // of the request that opened it; nil where there is none
	Remote    string      // the client's address, for logs
	Speaker   *Speaker    // who opened it, nil where nobody verified that
	Transport string      // its name, for metrics
	// Stream takes everything that goes to the client. The host ends it when
	// the conversation is over.
	Stream *Stream
}

// PipeHost serves pipes.
type PipeHost interface {
	// Attach begins to serve a client. The session must be closed.
	Attach(p *Pipe) PipeSession
}

// PipeSession is the conversation on one pipe.
type PipeSession interface {
	// Take hands a frame of the client to the session, or, when the bytes were
	// no JSON, the fault. Frames are taken in order; Take returns when the next
	// may come. A Reply whose status is not 202 says why the frame was not
	// taken; where the transport has no status of its own, and the Reply's
	// message has an id, that message belongs on the stream.
	Take(ctx context.Context, f *mcp.Frame, fault *mcp.Fault) Reply
	// Close says that the client is gone.
	Close()
}
