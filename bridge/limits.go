package bridge

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/eventstream"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// exceeds refuses what there is no room for now: the text names the limit and
// its value, and says what to do.
func (b *Bridge) exceeds(status int, id mcp.ID, limit, format string, args ...any) transports.Reply {
	b.Observer.Limited(limit)
	r := b.refuse(status, mcp.Errorf(mcp.CodeInternal, format, args...), id)
	r.Header = http.Header{"Retry-After": {transports.RetryAfter}}
	return r
}

// faulty refuses a frame for what is wrong with it.
func (b *Bridge) faulty(f *mcp.Fault) transports.Reply {
	if f.Limit != "" {
		b.Observer.Limited(f.Limit)
	}
	return b.refuse(http.StatusBadRequest, &f.Error, f.ID)
}

func (b *Bridge) limited(limit string) { b.Observer.Limited(limit) }

// newStream returns a stream to a client.
func (b *Bridge) newStream() *transports.Stream {
	return transports.Room{Messages: b.StreamMessages, Bytes: b.StreamBytes, Waited: b.limited}.NewStream()
}

// reached counts the limit that an error of the server's leg comes from, if it
// comes from one.
func (b *Bridge) reached(err error) {
	if limit := limitOf(err); limit != "" {
		b.Observer.Limited(limit)
	}
}

func limitOf(err error) string {
	var unreachable *transports.Unreachable
	switch {
	case isTooLarge(err):
		return mcp.LimitBody
	case errors.Is(err, errSilent):
		return mcp.LimitRequest
	case errors.As(err, &unreachable) && isTimeout(err):
		return mcp.LimitConnect
	case errors.Is(err, context.DeadlineExceeded): // only a handshake has a deadline
		return mcp.LimitHandshake
	}
	return ""
}

func isTooLarge(err error) bool {
	return errors.Is(err, web.ErrTooLarge) || errors.Is(err, eventstream.ErrTooLarge)
}

func isTimeout(err error) bool {
	var late net.Error
	return errors.As(err, &late) && late.Timeout()
}

// noConversation refuses a stateless request for want of room in the pool.
func (b *Bridge) noConversation(m *mcp.Message, key poolKey) transports.Reply {
	b.pool.mu.Lock()
	limit := b.pool.over(key)
	b.pool.mu.Unlock()
	if limit == mcp.LimitPooledOfOne {
		return b.exceeds(http.StatusTooManyRequests, m.ID, limit, "%d conversations are held for these credentials and all are in use, the limit %s; wait for answers", b.MaxPooledPerPrincipal, limit)
	}
	return b.exceeds(http.StatusServiceUnavailable, m.ID, mcp.LimitPooled, "%d conversations are held and all are in use, the limit %s; try again later", b.MaxPooled, mcp.LimitPooled)
}
