package bridge

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/transports"
)

var _ transports.PipeHost = (*Bridge)(nil)

// pipeSession serves a client whose messages and answers share one pipe. The
// pipe is the session: it opens with initialize and ends with the connection.
type pipeSession struct {
	bridge *Bridge
	pipe   *transports.Pipe
	turn   *Turn // every answer and everything else goes here

	taking sync.Mutex // one frame after the other

	mu     sync.Mutex
	c      *conversation // nil before initialize
	closed bool

	alone *alone
	// tentative says that what cannot be opened is served elsewhere; elsewhere
	// tells where a request may go that never reached the server. Both are of a
	// Fork.
	tentative bool
	elsewhere func(*mcp.Message) (ways func() *road)
}

// Attach implements transports.PipeHost.
func (b *Bridge) Attach(p *transports.Pipe) transports.PipeSession { return b.attach(p) }

func (b *Bridge) attach(p *transports.Pipe) *pipeSession {
	p.Stream.Begin() // no HTTP answer can take its place
	b.mu.Lock()
	b.pipes++
	b.mu.Unlock()
	return &pipeSession{bridge: b, pipe: p, turn: NewSharedTurn(p.Stream), alone: newAlone(b, p)}
}

// Take implements transports.PipeSession.
func (s *pipeSession) Take(ctx context.Context, f *mcp.Frame, fault *mcp.Fault) transports.Reply {
	s.taking.Lock()
	defer s.taking.Unlock()
	if fault != nil {
		return s.bridge.faulty(fault)
	}
	c := s.conversation()
	in := negotiate.Inbound(f, s.bridge.rules(c))
	if f.Batch {
		s.bridge.Observer.Batched(mcp.Client, len(f.Items), in.Refusal == nil)
	}
	if in.Refusal != nil {
		return s.bridge.faulty(in.Refusal)
	}
	for _, e := range in.Errors {
		s.pipe.Stream.Push(e)
	}
	for _, m := range in.Messages {
		if r := s.takeOne(ctx, m); r.Status != http.StatusAccepted {
			if !f.Batch {
				return r
			}
			if r.Message != nil && !r.Message.ID.IsZero() {
				s.pipe.Stream.Push(r.Message)
			}
		}
	}
	return transports.Reply{Status: http.StatusAccepted}
}

func (s *pipeSession) conversation() *conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.c
}

func (s *pipeSession) takeOne(ctx context.Context, m *mcp.Message) transports.Reply {
	accepted := transports.Reply{Status: http.StatusAccepted}
	c := s.conversation()
	opens := m.Kind == mcp.Request && m.Method == mcp.Initialize
	switch {
	case m.Kind == mcp.Request && !opens && negotiate.Claims(m) && len(s.bridge.served()) > 0:
		return s.takeAlone(m)
	case s.alone.withdraws(m):
	case opens && c == nil:
		return s.open(ctx, m)
	case opens:
		return s.bridge.refuse(http.StatusBadRequest, mcp.Errorf(mcp.CodeInvalidRequest, "this connection is already initialized"), m.ID)
	case c != nil:
		return s.serve(c, m)
	case m.Kind != mcp.Request:
		// Nothing is known yet that it could be about.
	case m.Method == mcp.Ping:
		s.pipe.Stream.Push(m.Answer(mcp.NewObject()))
	default:
		return s.bridge.refuse(http.StatusBadRequest, mcp.Errorf(mcp.CodeInvalidRequest, "not initialized: send initialize first"), m.ID)
	}
	return accepted
}

// open performs the handshake and puts the answer on the stream.
func (s *pipeSession) open(ctx context.Context, m *mcp.Message) transports.Reply {
	x := &transports.Exchange{Header: s.pipe.Header, Remote: s.pipe.Remote, Speaker: s.pipe.Speaker, JSON: true, Events: true, Transport: s.pipe.Transport}
	c, answer, refusal := s.bridge.begin(ctx, x, m)
	if refusal != nil {
		if refusal.Status == http.StatusOK && !(refusal.Unopened && s.tentative) {
			s.pipe.Stream.Push(refusal.Message)
			return transports.Reply{Status: http.StatusAccepted}
		}
		return *refusal
	}
	s.mu.Lock()
	closed := s.closed
	s.c = c
	s.mu.Unlock()
	if closed {
		s.bridge.remove(c, "the client left")
		return transports.Reply{Status: http.StatusAccepted}
	}
	s.pipe.Stream.Push(answer)
	c.do(c.Session.Listen(s.turn, time.Now()))
	return transports.Reply{Status: http.StatusAccepted}
}

// serve hands a message to the session. On one pipe two requests under way
// with one id could not be told apart.
func (s *pipeSession) serve(c *conversation, m *mcp.Message) transports.Reply {
	if m.Kind == mcp.Request && c.Session.InFlight(m.ID) {
		return s.bridge.refuse(http.StatusBadRequest, mcp.Errorf(mcp.CodeInvalidRequest, "a request with the id %s is under way", m.ID), m.ID)
	}
	c.touch()
	m.Header = c.headers.get()
	c.take(m, s.turn, false)
	return transports.Reply{Status: http.StatusAccepted}
}

// Owns reports whether a message with the header now may speak for the session
// on a pipe that the header opened began, as [Bridge.Post] decides it for
// sessions with an id. The session goes on with the newer header.
func (b *Bridge) Owns(ctx context.Context, session transports.PipeSession, opened, now http.Header) bool {
	s, ok := session.(*pipeSession)
	if !ok {
		return false
	}
	shown := proof{now, transports.SpeakerOf(ctx)}
	c := s.conversation()
	if c == nil {
		return b.principalOf(proof{opened, s.pipe.Speaker}) == b.principalOf(shown)
	}
	if !c.belongs(ctx, shown) {
		return false
	}
	c.headers.keep(now, b)
	return true
}

// Close implements transports.PipeSession.
func (s *pipeSession) Close() { s.detach(true) }

// detach ends the session; gone says that the client is.
func (s *pipeSession) detach(gone bool) {
	s.mu.Lock()
	c, again := s.c, s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return
	}
	s.bridge.mu.Lock()
	s.bridge.pipes--
	s.bridge.mu.Unlock()
	if gone {
		s.pipe.Stream.Abandon()
	}
	s.alone.close(s.bridge)
	if c != nil {
		s.bridge.remove(c, "the client left")
	}
}
