package detect

import (
	"context"
	"errors"
	"sync"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/sse"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
)

var errClosed = errors.New("detect: sending: the conversation is closed")

// conversation speaks Streamable HTTP until the server turns out to speak
// HTTP+SSE.
type conversation struct {
	client *Client
	newer  transports.Upstream

	finding sync.Mutex // held while the transport is looked for

	mu     sync.Mutex
	older  transports.Upstream // nil while the server is taken to speak Streamable HTTP
	agreed bool                // the transport is right: a handshake came through
	closed bool
}

// current returns what to talk through, and whether that is certain.
func (c *conversation) current() (u transports.Upstream, certain bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.older != nil {
		return c.older, true
	}
	return c.newer, c.agreed
}

func (c *conversation) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Transport implements transports.Named.
func (c *conversation) Transport() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.older != nil {
		return sse.Name
	}
	return streamable.Name
}

// Headed implements transports.Headed: both transports are.
func (c *conversation) Headed() bool { return true }

// Stateful implements transports.Sessioned.
func (c *conversation) Stateful() bool {
	u, _ := c.current()
	return transports.IsStateful(u)
}

// Send implements transports.Upstream.
func (c *conversation) Send(ctx context.Context, m *mcp.Message, o transports.Outgoing) error {
	u, certain := c.current()
	if certain || m.Kind != mcp.Request || m.Method != mcp.Initialize {
		return u.Send(ctx, m, o) // only a handshake opens an event stream: it could not serve a probe
	}
	if sent := o.Sent; sent != nil { // the message may go out twice
		var once sync.Once
		o.Sent = func() { once.Do(sent) }
		defer o.Sent()
	}
	return c.find(ctx, m, o)
}

// find sends the opening request by the transport that the server turns out
// to speak.
func (c *conversation) find(ctx context.Context, m *mcp.Message, o transports.Outgoing) error {
	c.finding.Lock()
	defer c.finding.Unlock()
	u, certain := c.current()
	switch {
	case certain: // found meanwhile
		return u.Send(ctx, m, o)
	case c.ended():
		return errClosed
	}
	if c.client.older.Load() {
		u, err := c.open(ctx, m)
		if err == nil {
			return u.Send(ctx, m, o)
		}
		if c.client.older.Load() {
			return err
		}
	}
	first := c.newer.Send(ctx, m, o)
	var refusal *mcp.Refusal
	if !errors.As(first, &refusal) || !misplaced(refusal) {
		return first
	}
	u, err := c.open(ctx, m)
	if err != nil {
		return first
	}
	return u.Send(ctx, m, o)
}

// open opens the event stream through which the conversation goes on.
func (c *conversation) open(ctx context.Context, m *mcp.Message) (transports.Upstream, error) {
	u, err := c.client.open(ctx, m.Header)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	closed := c.closed
	if !closed {
		c.older = u
	}
	c.mu.Unlock()
	if closed {
		return nil, errors.Join(errClosed, u.Close(ctx))
	}
	return u, nil
}

// Listen implements transports.Upstream.
func (c *conversation) Listen(ctx context.Context, o transports.Outgoing) error {
	u, _ := c.current()
	return u.Listen(ctx, o)
}

// Agree implements transports.Upstream.
func (c *conversation) Agree(v mcp.Version, t mcp.Traits) {
	c.mu.Lock()
	c.agreed = true
	c.mu.Unlock()
	u, _ := c.current()
	u.Agree(v, t)
}

// End implements transports.Ender. Over HTTP+SSE the stream is the session, and
// nothing else ends it.
func (c *conversation) End(ctx context.Context) error {
	u, _ := c.current()
	if e, ok := u.(transports.Ender); ok {
		return e.End(ctx)
	}
	return nil
}

// Reset implements transports.Upstream: the server may have been replaced by
// one that speaks the other transport.
func (c *conversation) Reset() {
	c.mu.Lock()
	older := c.older
	c.older, c.agreed = nil, false
	c.mu.Unlock()
	c.newer.Reset()
	if older != nil {
		older.Reset()
	}
}

// Close implements transports.Upstream.
func (c *conversation) Close(ctx context.Context) error {
	c.mu.Lock()
	older := c.older
	c.closed = true
	c.mu.Unlock()
	err := c.newer.Close(ctx)
	if older == nil {
		return err
	}
	return errors.Join(err, older.Close(ctx))
}
