package transporttest

import (
	"context"
	"net/http"
	"sync"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// Host is a transports.Host that lets a Responder answer. Its sessions are
// all the same one.
type Host struct {
	limit int // bytes of a stream's queue

	mu      sync.Mutex
	respond Responder
	running sync.WaitGroup
}

// NewHost returns a host whose streams pause above limit bytes.
func NewHost(limit int) *Host { return &Host{limit: limit} }

// Serve sets the responder.
func (h *Host) Serve(r Responder) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.respond = r
}

// Wait returns when every responder has.
func (h *Host) Wait() { h.running.Wait() }

func (h *Host) responder() Responder {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.respond
}

// Post implements transports.Host.
func (h *Host) Post(ctx context.Context, x *transports.Exchange) transports.Reply {
	m, respond := x.Frame.Items[0].Message, h.responder()
	if m == nil {
		return transports.Reply{Status: http.StatusBadRequest, Message: x.Frame.Items[0].Fault.Failure(mcp.ID{})}
	}
	if m.Kind != mcp.Request {
		respond(ctx, m, nil)
		return transports.Reply{Status: http.StatusAccepted}
	}
	s := transports.NewStream(h.limit)
	h.running.Go(func() {
		defer s.End()
		respond(ctx, m, func(out *mcp.Message) error { return push(ctx, s, out) })
	})
	return transports.Reply{Stream: s}
}

func push(ctx context.Context, s *transports.Stream, m *mcp.Message) error {
	put := s.Push
	if m.IsAnswer() {
		put = s.Finish
	}
	if !put(m) {
		return context.Canceled
	}
	s.Wait(ctx)
	return ctx.Err()
}

// Listen implements transports.Host: there is no standalone stream.
func (h *Host) Listen(context.Context, *transports.Exchange) transports.Reply {
	return transports.Reply{Status: http.StatusMethodNotAllowed}
}

// End implements transports.Host.
func (h *Host) End(context.Context, *transports.Exchange) transports.Reply {
	return transports.Reply{Status: http.StatusNoContent}
}

// Malformed implements transports.Host.
func (h *Host) Malformed(_ context.Context, _ *transports.Exchange, f *mcp.Fault) transports.Reply {
	return transports.Reply{Status: http.StatusBadRequest, Message: f.Failure(f.ID)}
}
