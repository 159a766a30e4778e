package transports

import (
	"context"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Conn is a transport on which all messages of a conversation share one pipe
// in each direction: a child process, a socket. Read is called from one
// goroutine, Write from many.
type Conn interface {
	Read(ctx context.Context) (*mcp.Message, error)
	Write(ctx context.Context, m *mcp.Message) error
	Close() error
}

// Dialer opens pipes.
type Dialer interface {
	Dial(ctx context.Context) (Conn, error)
}
