package transporttest

import (
	"context"
	"net/http"
	"sync"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

var _ transports.PipeHost = (*Host)(nil)

// Attach implements transports.PipeHost.
func (h *Host) Attach(p *transports.Pipe) transports.PipeSession {
	ctx, cancel := context.WithCancel(context.Background())
	return &pipeSession{host: h, pipe: p, ctx: ctx, cancel: cancel}
}

// pipeSession lets a Host's responder answer a client on one pipe.
type pipeSession struct {
	host   *Host
	pipe   *transports.Pipe
	ctx    context.Context // ends when the client left
	cancel context.CancelFunc
	closed sync.Once
}

// Take implements transports.PipeSession.
func (s *pipeSession) Take(_ context.Context, f *mcp.Frame, fault *mcp.Fault) transports.Reply {
	if fault != nil {
		return transports.Reply{Status: http.StatusBadRequest, Message: fault.Failure(fault.ID)}
	}
	for _, item := range f.Items {
		m, respond := item.Message, s.host.responder()
		switch {
		case m == nil:
			return transports.Reply{Status: http.StatusBadRequest, Message: item.Fault.Failure(item.Fault.ID)}
		case m.Kind != mcp.Request:
			respond(s.ctx, m, nil)
		default:
			s.host.running.Go(func() { respond(s.ctx, m, s.send) })
		}
	}
	return transports.Reply{Status: http.StatusAccepted}
}

func (s *pipeSession) send(m *mcp.Message) error {
	if !s.pipe.Stream.Push(m) {
		return context.Canceled
	}
	s.pipe.Stream.Wait(s.ctx)
	return s.ctx.Err()
}

// Close implements transports.PipeSession.
func (s *pipeSession) Close() {
	s.closed.Do(func() {
		s.pipe.Stream.Abandon()
		s.cancel()
	})
}
