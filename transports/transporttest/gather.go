package transporttest

import (
	"context"
	"sync"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// gather is the client's end with everything in one place: what the server
// sends outside of any exchange, as all but answers on a pipe is, counts as
// received for the newest request.
type gather struct {
	transports.Upstream

	mu      sync.Mutex
	receive func(*mcp.Message)
}

// gathering returns u with a listener that lives as long as the test.
func gathering(t *testing.T, u transports.Upstream) transports.Upstream {
	g := &gather{Upstream: u, receive: func(*mcp.Message) {}}
	ctx, cancel := context.WithCancel(context.Background())
	var listening sync.WaitGroup
	listening.Go(func() {
		_ = u.Listen(ctx, transports.Outgoing{Receive: g.deliver}) // a transport may have no such stream
	})
	t.Cleanup(func() {
		cancel()
		listening.Wait()
	})
	return g
}

func (g *gather) deliver(m *mcp.Message) {
	g.mu.Lock()
	receive := g.receive
	g.mu.Unlock()
	receive(m)
}

// Send implements transports.Upstream.
func (g *gather) Send(ctx context.Context, m *mcp.Message, o transports.Outgoing) error {
	if m.Kind == mcp.Request && o.Receive != nil {
		g.mu.Lock()
		g.receive = o.Receive
		g.mu.Unlock()
	}
	return g.Upstream.Send(ctx, m, o)
}
