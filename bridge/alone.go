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

	ctx   context.Context // ends with the pipe
	leave context.CancelFunc
	mu    sync.Mutex
	gone  bool                          // the client left
	under map[string]context.CancelFunc // by request id
	most  int                           // of them
}

func newAlone(b *Bridge, p *transports.Pipe) *alone {
	a := &alone{who: b.principalOf(p.Header), under: map[string]context.CancelFunc{}, most: b.MaxCalls}
	if p.Header.Get("Authorization") == "" {
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
		return b.refuse(p.Status, &p.Error, m.ID)
	}
	ctx, used := s.alone.begin(m.ID)
	switch {
	case used:
		return b.refuse(http.StatusBadRequest, mcp.Errorf(mcp.CodeInvalidRequest, "a request with the id %s is under way", m.ID), m.ID)
	case ctx == nil:
		return b.exceeds(http.StatusTooManyRequests, m.ID, mcp.LimitCalls, "the connection has %d calls under way, the limit %s; wait for answers", b.MaxCalls, mcp.LimitCalls)
	}
	go s.serveAlone(ctx, m)
	return transports.Reply{Status: http.StatusAccepted}
}

// serveAlone returns when the request is answered or its client left.
func (s *pipeSession) serveAlone(ctx context.Context, m *mcp.Message) {
	b, id := s.bridge, m.ID
	defer s.alone.end(id)
	x := &transports.Exchange{Header: s.pipe.Header, Remote: s.pipe.Remote, JSON: true, Events: true, Transport: s.pipe.Transport}
	r := &standing{bridge: b, ctx: ctx, x: x, who: s.alone.who, turn: NewSharedTurn(s.pipe.Stream)}
	if refusal := r.enter(m); refusal != nil {
		if refusal.Message != nil && ctx.Err() == nil {
			s.pipe.Stream.Push(refusal.Message)
		}
		return
	}
	answered := make(chan struct{})
	r.turn.over, r.turn.again = sync.OnceFunc(func() { close(answered) }), r.again
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
