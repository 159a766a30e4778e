package bridge

import (
	"context"
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/transports"
)

var (
	_ transports.Host    = (*Bridge)(nil)
	_ transports.Resumer = (*Bridge)(nil)
)

// Post implements transports.Host.
func (b *Bridge) Post(ctx context.Context, x *transports.Exchange) transports.Reply {
	return b.post(ctx, x, nil)
}

// post is Post on the way to a conversation; nil is none.
func (b *Bridge) post(ctx context.Context, x *transports.Exchange, way *road) transports.Reply {
	if r := b.modern(ctx, x, way); r != nil {
		return *r
	}
	if r := b.replace(ctx, x); r != nil {
		return *r
	}
	c, reply := b.sessionOf(ctx, x)
	if reply != nil {
		return *reply
	}
	in := negotiate.Inbound(x.Frame, b.rules(c))
	if x.Frame.Batch {
		b.Observer.Batched(mcp.Client, len(x.Frame.Items), in.Refusal == nil)
	}
	if in.Refusal != nil {
		return b.faulty(in.Refusal)
	}
	if !x.Frame.Batch {
		if reply := b.outside(ctx, x, c, in.Messages[0]); reply != nil {
			return *reply
		}
	} else if c == nil {
		return b.noSession(mcp.ID{})
	}
	c.touch()
	r := c.serve(x, in)
	if x.Session != c.id { // it came to a session that took the place of its own
		r.Header = http.Header{mcp.HeaderSession: {c.id}}
	}
	return r
}

// sessionOf finds the session that an exchange names. It returns neither when
// the exchange names none.
func (b *Bridge) sessionOf(ctx context.Context, x *transports.Exchange) (*conversation, *transports.Reply) {
	if x.Session == "" {
		return nil, nil
	}
	c := b.find(ctx, x)
	if c == nil {
		r := b.gone()
		return nil, &r
	}
	if !negotiate.Header(x.Version, b.Ladder.Versions()) {
		err := negotiate.Unsupported(mcp.Version(x.Version), b.Ladder.Versions())
		err.Code = mcp.CodeInvalidRequest
		r := b.refuse(http.StatusBadRequest, err, firstID(x.Frame))
		return nil, &r
	}
	return c, nil
}

func firstID(f *mcp.Frame) mcp.ID {
	if f == nil || f.Batch {
		return mcp.ID{}
	}
	if m := f.Items[0].Message; m != nil && m.Kind == mcp.Request {
		return m.ID
	}
	return mcp.ID{}
}

func (b *Bridge) rules(c *conversation) negotiate.Rules {
	r := negotiate.Rules{MaxBatch: b.MaxBatch}
	if c != nil {
		r.Strict = c.options().Strict
		r.Batches = b.Ladder.Traits(c.pair.Client).Batches
	}
	return r
}

// outside answers a message that no session serves: what opens one, and what
// comes without one. Nil means that c serves it.
func (b *Bridge) outside(ctx context.Context, x *transports.Exchange, c *conversation, m *mcp.Message) *transports.Reply {
	var r transports.Reply
	opens := m.Kind == mcp.Request && m.Method == mcp.Initialize
	switch {
	case opens && c != nil:
		r = b.refuse(http.StatusBadRequest, mcp.Errorf(mcp.CodeInvalidRequest, "this session is already initialized; to open another, send initialize without a session id"), m.ID)
	case opens:
		r = b.initialize(ctx, x, m)
	case c != nil:
		return nil
	case m.Kind == mcp.Request && m.Method == mcp.Ping:
		// A peer may be asked at any time whether it is there.
		r = transports.Reply{Status: http.StatusOK, Message: m.Answer(mcp.NewObject())}
	default:
		r = b.noSession(firstID(x.Frame))
	}
	return &r
}

func (b *Bridge) noSession(id mcp.ID) transports.Reply {
	return b.refuse(http.StatusBadRequest, mcp.Errorf(mcp.CodeInvalidRequest, "no session: send initialize first, then its %s header with every message", mcp.HeaderSession), id)
}

// gone answers for a session that is dead, unknown or another's. The answer
// names no request: some clients would take it for that request's error and
// never initialize again.
func (b *Bridge) gone() transports.Reply {
	return b.refuse(http.StatusNotFound, mcp.Errorf(mcp.CodeInvalidRequest, "no such session: send initialize again, without a session id"), mcp.ID{})
}

func (b *Bridge) refuse(status int, err *mcp.Error, id mcp.ID) transports.Reply {
	b.Observer.Failed(mcp.Client, http.StatusText(status))
	return transports.Reply{Status: status, Message: err.Failure(id)}
}

// Malformed implements transports.Host.
func (b *Bridge) Malformed(_ context.Context, _ *transports.Exchange, f *mcp.Fault) transports.Reply {
	return b.faulty(f)
}

// Listen implements transports.Host.
func (b *Bridge) Listen(ctx context.Context, x *transports.Exchange) transports.Reply {
	c, reply := b.sessionOf(ctx, x)
	if reply != nil {
		return *reply
	}
	if c == nil {
		r := b.refuse(http.StatusMethodNotAllowed, mcp.Errorf(mcp.CodeInvalidRequest, "a stream belongs to a session: initialize first and send its %s header", mcp.HeaderSession), mcp.ID{})
		r.Header = http.Header{"Allow": {"POST, GET, DELETE"}}
		return r
	}
	c.touch()
	if why := c.Session.mayListen(); why != nil {
		r := b.refuse(http.StatusTooManyRequests, why, mcp.ID{})
		r.Header = http.Header{"Retry-After": {transports.RetryAfter}}
		return r
	}
	s := b.newStream()
	c.do(c.Session.Listen(NewTurn(s, true), time.Now()))
	r := transports.Reply{Status: http.StatusOK, Stream: s, Standalone: true}
	c.mayComeBack(&r)
	return r
}

// Resume implements transports.Resumer: a stream belongs to whom its session
// belongs to.
func (b *Bridge) Resume(ctx context.Context, x *transports.Exchange) *transports.Reply {
	c, reply := b.sessionOf(ctx, x)
	switch {
	case reply != nil:
		return reply
	case c == nil:
		r := b.noSession(mcp.ID{})
		return &r
	}
	c.touch()
	return nil
}

// mayComeBack lets a client take the stream up again where its revision has
// sessions and leaving a stream does not cancel.
func (c *conversation) mayComeBack(r *transports.Reply) {
	t := c.bridge.Ladder.Traits(c.pair.Client)
	r.Kept = t.Sessions && !t.DisconnectCancels
	r.Primed = t.Priming
}

// End implements transports.Host.
func (b *Bridge) End(ctx context.Context, x *transports.Exchange) transports.Reply {
	c, reply := b.sessionOf(ctx, x)
	if reply != nil {
		return *reply
	}
	if c == nil {
		return b.noSession(mcp.ID{})
	}
	if b.RecoverSessions {
		b.recoveries.end(c.ids()...)
	}
	b.remove(c, "the client ended the session")
	return transports.Reply{Status: http.StatusNoContent}
}
