package transports

import (
	"context"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// waiter is a request on a pipe that waits for its answer.
type waiter struct {
	receive func(*mcp.Message)
	sent    func()
	taken   bool          // out of the table; done is closed, or will be
	done    chan struct{} // closed when the answer was received, or with err set
	err     error
}

// wait returns when the answer was received, the pipe broke or ctx ended.
func (w *waiter) wait(ctx context.Context) error {
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// await puts a request into the table of those that wait; false when the pipe
// is broken, so that nobody would ever answer.
func (p *piped) await(conn Conn, id mcp.ID, w *waiter) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != conn {
		return false
	}
	p.waiting[id.Key()] = w
	return true
}

// forget takes a request out of the table; false when it was out already,
// because its answer has come or the pipe broke.
func (p *piped) forget(id mcp.ID, w *waiter) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting[id.Key()] == w {
		delete(p.waiting, id.Key())
	}
	return !w.taken
}
