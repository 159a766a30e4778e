package bridge

import (
	"errors"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// queue gives a request its place in the lane of a shared server; nil for one
// that needs none.
func (c *conversation) queue(m *mcp.Message) *ticket {
	if t, ok := c.wire.(*member); ok {
		return t.queue(m)
	}
	return nil
}

// withdraws reports the cancellation of a request that waits for its turn, and
// takes it out: the server never hears of either.
func (c *conversation) withdraws(m *mcp.Message) bool {
	t, ok := c.wire.(*member)
	return ok && t.withdraws(m)
}

// attempt sends a request and delivers what comes back, in its turn where
// requests take turns.
func (c *conversation) attempt(x *Exchange, m *mcp.Message) error {
	if x.ticket == nil { // it needs none, or this is the second attempt
		x.ticket = c.queue(m)
	}
	t := x.ticket
	if t == nil {
		return c.carry(x, m)
	}
	x.ticket = nil
	if err := t.wait(x.ctx); err != nil {
		return err
	}
	x.asking = t.begin
	err := c.carry(x, m)
	t.leave(isOver(err))
	return err
}

// isOver reports whether the server is through with a request that came to
// this end: it has answered it, or is no more.
func isOver(err error) bool {
	var lost *stateLost
	var unreachable *transports.Unreachable
	return errors.Is(err, transports.ErrNoAnswer) || errors.Is(err, transports.ErrSessionGone) || errors.Is(err, transports.ErrBroken) ||
		errors.As(err, &lost) || errors.As(err, &unreachable)
}
