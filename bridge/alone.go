package bridge

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/transports"
)

// alone are the requests under way on a pipe that stand for themselves. The
// pipe is their principal, unless a credential opened it.
type alone struct {
	who  principal
	mine bool // who is of this pipe only

	ctx     context.Context // ends with the pipe
	leave   context.CancelFunc
	mu      sync.Mutex
	gone    bool                          // the client left
	settled bool                          // one was served
	under   map[string]context.CancelFunc // by request id
	most    int                           // of them
}

func newAlone(b *Bridge, p *transports.Pipe) *alone {
	a := &alone{who: b.principalOf(proof{p.Header, p.Speaker}), under: map[string]context.CancelFunc{}, most: b.MaxCalls}
	if (proof{p.Header, p.Speaker}).anonymous() {
		a.who, a.mine = b.hash("pipe", rand.Text()), true
	}
	a.ctx, a.leave = context.WithCancel(context.Background())
	return a
}

// begin notes a request; ctx is nil when there are too many, or its id is in
// use.
func (a *alone) begin(id mcp.ID) (ctx context.Context, used bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, used := a.under[id.Key()]; used || len(a.under) >= a.most {
		return nil, used
	}
	ctx, a.under[id.Key()] = context.WithCancel(a.ctx)
	return ctx, false
}

// end forgets a request, and cancels it if it is still under way.
func (a *alone) end(id mcp.ID) (found bool) {
	a.mu.Lock()
	cancel := a.under[id.Key()]
	delete(a.under, id.Key())
	a.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	return cancel != nil
}

// withdraws reports whether a message cancels such a request, and does so.
func (a *alone) withdraws(m *mcp.Message) bool {
	if m.Kind != mcp.Notification || m.Method != mcp.Cancelled || m.Body == nil {
		return false
	}
	r, _ := m.Body.Get("requestId")
	id, ok := mcp.ParseID(r)
	return ok && a.end(id)
}

// takeAlone serves a request that stands for itself. It waits for nothing:
// what comes after it on the pipe may be a handshake.
func (s *pipeSession) takeAlone(m *mcp.Message) transports.Reply {
	b := s.bridge
	b.Observer.Received(mcp.Client, m.Kind, m.Method)
	if p := negotiate.CheckStateless(nil, m, b.served()); p != nil {
		return b.notServed(p, m)
	}
	ctx, used := s.alone.begin(m.ID)
	switch {
	case used:
		return b.refuse(http.StatusBadRequest, mcp.Errorf(mcp.CodeInvalidRequest, "a request with the id %s is under way", m.ID), m.ID)
	case ctx == nil:
		return b.exceeds(http.StatusTooManyRequests, m.ID, mcp.LimitCalls, "the connection has %d calls under way, the limit %s; wait for answers", b.MaxCalls, mcp.LimitCalls)
	}
	if s.tentative {
		return s.tryAlone(ctx, m)
	}
	go s.serveAlone(ctx, m)
	return transports.Reply{Status: http.StatusAccepted}
}

// tryAlone serves a request like this, but waits until its conversation is open,
// since it is served elsewhere if there is none.
func (s *pipeSession) tryAlone(ctx context.Context, m *mcp.Message) transports.Reply {
	r := s.standing(ctx, m)
	refusal := r.enter(m)
	if refusal == nil {
		s.alone.settle()
		go func() {
			defer s.alone.end(m.ID)
			s.runAlone(ctx, r, m)
		}()
		return transports.Reply{Status: http.StatusAccepted}
	}
	gone := ctx.Err() != nil
	s.alone.end(m.ID)
	if refusal.Unopened && !gone {
		return *refusal
	}
	if refusal.Message != nil && !gone {
		s.pipe.Stream.Push(refusal.Message)
	}
	return transports.Reply{Status: http.StatusAccepted}
}

// standing returns a request that stands for itself.
func (s *pipeSession) standing(ctx context.Context, m *mcp.Message) *standing {
	x := &transports.Exchange{Header: s.pipe.Header, Remote: s.pipe.Remote, Speaker: s.pipe.Speaker, JSON: true, Events: true, Transport: s.pipe.Transport}
	r := &standing{bridge: s.bridge, ctx: ctx, x: x, who: s.alone.who, mine: s.alone.mine, turn: NewSharedTurn(s.pipe.Stream)}
	if s.elsewhere != nil {
		r.ways = s.elsewhere(m)
	}
	return r
}

// settle notes that a request was served.
func (a *alone) settle() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settled = true
}

func (a *alone) isSettled() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.settled
}

// serveAlone returns when the request is answered or its client left.
func (s *pipeSession) serveAlone(ctx context.Context, m *mcp.Message) {
	defer s.alone.end(m.ID)
	r := s.standing(ctx, m)
	defer r.moved(nil)
	if refusal := r.enterAny(m); refusal != nil {
		if refusal.Message != nil && ctx.Err() == nil {
			s.pipe.Stream.Push(refusal.Message)
		}
		return
	}
	s.runAlone(ctx, r, m)
}

// runAlone returns when a request whose conversation is open is answered.
func (s *pipeSession) runAlone(ctx context.Context, r *standing, m *mcp.Message) {
	answered := make(chan struct{})
	r.turn.over, r.turn.again, r.turn.elsewhere = sync.OnceFunc(func() { close(answered) }), r.again, r.elsewhere
	r.serve(m)
	select {
	case <-answered:
	case <-ctx.Done():
		if !s.alone.ends() {
			r.abandon()
		}
	}
	r.leave()
}

// ends reports that the conversation ends as a whole, which cancels all in it.
func (a *alone) ends() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.gone && a.mine
}

// close ends all of a pipe's requests, and the conversations that only it had.
func (a *alone) close(b *Bridge) {
	a.mu.Lock()
	a.gone = true
	a.mu.Unlock()
	a.leave()
	if a.mine {
		b.disband(a.who)
	}
}
