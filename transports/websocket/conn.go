package websocket

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	gorilla "github.com/gorilla/websocket"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// conn is one connection to a server.
type conn struct {
	socket  *socket
	garbage transports.Garbage
	speaks  []string // for whom: the credentials that it was opened with
	writes  chan write
	once    sync.Once
	over    chan struct{} // closed by Close
	ended   chan struct{} // closed when reading has ended, after why was set
	why     error
}

// write is a message under way to the server.
type write struct {
	text []byte
	done chan error // has room for the one outcome
}

func newConn(s *socket, opened http.Header, garbage transports.Garbage) *conn {
	c := &conn{
		socket: s, garbage: garbage, speaks: opened.Values("Authorization"),
		writes: make(chan write), over: make(chan struct{}), ended: make(chan struct{}),
	}
	go c.write()
	return c
}

// Read implements transports.Conn.
func (c *conn) Read(ctx context.Context) (*mcp.Frame, error) {
	defer context.AfterFunc(ctx, c.socket.drop)()
	for {
		h, err := c.socket.next()
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			c.why = err
			close(c.ended)
			c.socket.finish(err)
			return nil, err
		case h.fault != nil:
			c.garbage(transports.NotJSON)
			continue
		}
		c.countFaults(h.frame)
		return h.frame, nil
	}
}

func (c *conn) countFaults(f *mcp.Frame) {
	for _, i := range f.Items {
		if i.Message == nil {
			c.garbage(transports.NotJSONRPC)
		}
	}
}

// Write implements transports.Conn. A message that was begun is written whole,
// even when ctx ends meanwhile. A server sees headers only when the connection
// is opened: one with other credentials would never be asked about them, so
// this is refused here.
func (c *conn) Write(ctx context.Context, m *mcp.Message) error {
	if m.Header != nil && !slices.Equal(m.Header.Values("Authorization"), c.speaks) {
		return &mcp.Refusal{Status: http.StatusUnauthorized, Header: http.Header{}}
	}
	w := write{text: m.Bytes(), done: make(chan error, 1)}
	select {
	case c.writes <- w:
	case <-c.over:
		return errClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-w.done:
		return c.cause(ctx, err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// cause returns why a message was not written. Where the connection was being
// closed already, that is what its reader met.
func (c *conn) cause(ctx context.Context, err error) error {
	if !errors.Is(err, gorilla.ErrCloseSent) {
		return err
	}
	select {
	case <-c.ended:
		return c.why
	case <-c.over:
		return errClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// write writes one message after the other, and pings. What cannot be written
// to any more is closed, which its reader learns.
func (c *conn) write() {
	ping := time.NewTicker(c.socket.timing.Ping)
	defer ping.Stop()
	for {
		var err error
		select {
		case w := <-c.writes:
			err = c.socket.write(w.text)
			w.done <- err
		case <-ping.C:
			err = c.socket.ping()
		case <-c.over:
			return
		}
		if err != nil {
			c.socket.broken(err)
		}
	}
}

// Close implements transports.Conn.
func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.over)
		c.socket.end(gorilla.CloseNormalClosure, "")
	})
	return nil
}
