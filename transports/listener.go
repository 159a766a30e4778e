package transports

import (
	"context"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// listener takes what comes through a pipe outside of any exchange.
type listener struct {
	receive func(*mcp.Message)
	caught  chan struct{} // closed when it has received what came before it
	done    chan struct{} // closed when the pipe breaks or another listens
}

// take hands over a message, after all that was kept for the listener.
func (l *listener) take(m *mcp.Message) {
	<-l.caught
	l.receive(m)
}

// Listen implements Upstream: a pipe always has a stream. A second listener
// takes over from the first; one that comes before the pipe waits for it.
func (p *piped) Listen(ctx context.Context, o Outgoing) error {
	l := &listener{receive: o.Receive, caught: make(chan struct{}), done: make(chan struct{})}
	p.mu.Lock()
	if p.closed || p.conn == nil && p.used {
		p.mu.Unlock()
		return ErrBroken
	}
	p.dismiss()
	p.listener = l
	backlog := p.backlog
	p.backlog = nil
	p.mu.Unlock()
	if o.Open != nil {
		o.Open()
	}
	for _, m := range backlog {
		o.Receive(m)
	}
	close(l.caught)
	select {
	case <-l.done:
		return ErrBroken
	case <-ctx.Done():
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.listener == l {
			p.listener = nil
		}
		return ctx.Err()
	}
}

// dismiss ends the listener. It is called under the lock.
func (p *piped) dismiss() {
	if p.listener != nil {
		close(p.listener.done)
		p.listener = nil
	}
}
