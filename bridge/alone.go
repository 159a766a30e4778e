package bridge

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

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
}

// maxAlone bounds the requests under way on one pipe.
const maxAlone = 256

func newAlone(b *Bridge, p *transports.Pipe) *alone {
	a := &alone{who: b.principalOf(p.Header), under: map[string]context.CancelFunc{}}
	if p.Header.Get("Authorization") == "" {
		a.who, a.mine = b.hash("pipe", rand.Text()), true
	}
	a.ctx, a.leave = context.WithCancel(context.Background())
	return a
}

// begin notes a request; ok is false when its id is in use or there are too
// many.
func (a *alone) begin(id mcp.ID) (ctx context.Context, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, used := a.under[id.Key()]; used || len(a.under) >= maxAlone {
		return nil, false
	}
	ctx, a.under[id.Key()] = context.WithCancel(a.ctx)
	return ctx, true
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
	ctx, ok := s.alone.begin(m.ID)
	if !ok {
		return b.refuse(http.StatusBadRequest, mcp.Errorf(mcp.CodeInvalidRequest, "a request with the id %s is under way, or too many are", m.ID), m.ID)
	}
	go s.serveAlone(ctx, m)
	return transports.Reply{Status: http.StatusAccepted}
}

// serveAlone returns when the request is answered or its client left.
func (s *pipeSession) serveAlone(ctx context.Context, m *mcp.Message) {
	b, id := s.bridge, m.ID
	defer s.alone.end(id)
	x := &transports.Exchange{Header: s.pipe.Header, Remote: s.pipe.Remote, JSON: true, Events: true, Transport: s.pipe.Transport}
	c, release, refusal := b.member(ctx, x, m, s.alone.who, false)
	if refusal != nil {
		if refusal.Message != nil && ctx.Err() == nil {
			s.pipe.Stream.Push(refusal.Message)
		}
		return
	}
	defer release()
	answered := make(chan struct{})
	turn := NewSharedTurn(s.pipe.Stream)
	turn.over = sync.OnceFunc(func() { close(answered) })
	c.serveOne(m, turn, s.pipe.Header)
	select {
	case <-answered:
	case <-ctx.Done():
		if !s.alone.ends() {
			c.do(c.Session.Abandon(turn, time.Now()))
		}
	}
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
