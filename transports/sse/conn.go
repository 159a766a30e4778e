package sse

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/eventstream"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// conn is one event stream with its message endpoint.
type conn struct {
	client  *Client
	alive   context.Context // ends with the stream
	end     context.CancelCauseFunc
	trip    *web.Trip // of the GET
	events  *eventstream.Reader
	targets targets
	settled atomic.Bool // the message endpoint was found

	frames chan *mcp.Frame // on their way to Read
	over   chan struct{}   // closed when the stream ended
	why    error

	mu      sync.Mutex
	version string // for the version header, once it is agreed
}

func newConn(c *Client, alive context.Context, end context.CancelCauseFunc, trip *web.Trip) *conn {
	return &conn{client: c, alive: alive, end: end, trip: trip, frames: make(chan *mcp.Frame), over: make(chan struct{})}
}

// pump reads the stream until it ends. Events of other types mean nothing
// here (field report 39); what is no message is counted and skipped (field
// report 37).
func (n *conn) pump() {
	defer close(n.over)
	defer n.trip.Close()
	for {
		e, err := n.events.Next()
		if err != nil {
			n.why = n.reason(err)
			return
		}
		if !e.IsMessage() {
			continue
		}
		frame, fault := mcp.Decode(e.Data)
		if fault != nil {
			n.client.site.Garbage(transports.NotJSON)
			continue
		}
		n.countFaults(frame)
		select {
		case n.frames <- frame:
		case <-n.alive.Done():
			n.why = context.Cause(n.alive)
			return
		}
	}
}

var errEnded = errors.New("sse: reading the event stream: the server ended it")

func (n *conn) reason(err error) error {
	switch {
	case n.alive.Err() != nil:
		return context.Cause(n.alive)
	case errors.Is(err, io.EOF):
		return errEnded
	}
	return err
}

func (n *conn) countFaults(f *mcp.Frame) {
	for _, i := range f.Items {
		if i.Message == nil {
			n.client.site.Garbage(transports.NotJSONRPC)
		}
	}
}

// Read implements transports.Conn.
func (n *conn) Read(ctx context.Context) (*mcp.Frame, error) {
	select {
	case f := <-n.frames:
		return f, nil
	case <-n.over:
		return nil, n.why
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Agree implements transports.Agreer.
func (n *conn) Agree(v mcp.Version, t mcp.Traits) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.version = ""; t.VersionHeader {
		n.version = string(v)
	}
}

// Close implements transports.Conn.
func (n *conn) Close() error {
	n.end(web.ErrClosed)
	<-n.over
	return nil
}
