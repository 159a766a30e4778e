package bridge

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/mcpbridge/mcpbridge/internal/route"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// forkPipe is a client on a pipe before several upstreams. The first message
// that opens a conversation decides where it is served; until then the first
// upstream's bridge answers, which needs no server for that.
type forkPipe struct {
	fork *Fork
	pipe *transports.Pipe

	taking  sync.Mutex // one frame after the other
	settled bool       // guarded by taking

	mu     sync.Mutex
	now    *pipeSession
	closed bool
}

// Attach implements transports.PipeHost. The client stays where it begins.
func (f *Fork) Attach(p *transports.Pipe) transports.PipeSession {
	f.mu.RLock()
	b, leave := f.now[0].visit(&transports.Exchange{})
	plain := f.plain()
	f.mu.RUnlock()
	defer leave()
	switch {
	case b == nil:
		p.Stream.End()
		return nobody{}
	case plain:
		return b.Attach(p)
	}
	return &forkPipe{fork: f, pipe: p, now: b.attach(p)}
}

// Owns reports what the bridge of the session does: see [Bridge.Owns].
func (f *Fork) Owns(ctx context.Context, session transports.PipeSession, opened, now http.Header) bool {
	own, ok := session.(*pipeSession)
	if p, forked := session.(*forkPipe); forked {
		own, ok = p.current(), true
	}
	return ok && own.bridge.Owns(ctx, own, opened, now)
}

func (p *forkPipe) current() *pipeSession {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// Close implements transports.PipeSession.
func (p *forkPipe) Close() {
	p.mu.Lock()
	p.closed = true
	s := p.now
	p.mu.Unlock()
	s.Close()
}

// Take implements transports.PipeSession.
func (p *forkPipe) Take(ctx context.Context, f *mcp.Frame, fault *mcp.Fault) transports.Reply {
	p.taking.Lock()
	defer p.taking.Unlock()
	if p.settled || fault != nil {
		return p.current().Take(ctx, f, fault)
	}
	o := p.opener(f)
	if o == nil {
		return p.current().Take(ctx, f, nil)
	}
	return p.try(ctx, f, o)
}

// opener returns what a frame opens, nil for nothing. Of an array the first
// that opens anything decides.
func (p *forkPipe) opener(f *mcp.Frame) *opener {
	for _, item := range f.Items {
		if o := p.openerOf(item.Message); item.Message != nil && o.recognize() {
			return o
		}
	}
	return nil
}

func (p *forkPipe) openerOf(m *mcp.Message) *opener {
	return &opener{request: m, proof: proof{p.pipe.Header, p.pipe.Speaker}, remote: p.pipe.Remote}
}

// try hands a frame to one upstream after the other, until one opens a
// conversation.
func (p *forkPipe) try(ctx context.Context, f *mcp.Frame, o *opener) transports.Reply {
	r, b, leave, refusal := p.fork.set(o, p.pipe.Header)
	if refusal != nil {
		return p.refuse(*refusal)
	}
	for {
		s := p.move(b, !f.Batch)
		leave() // the pipe counts as a user
		reply := s.Take(ctx, f, nil)
		s.tentative = false
		if s.conversation() != nil || s.alone.isSettled() || f.Batch {
			p.settled = true
			return reply
		}
		if !reply.Unopened && !o.foreign(b) {
			return reply
		}
		more := r.failed() && ctx.Err() == nil
		if more {
			b, leave, more = r.next()
		}
		if !more {
			return p.refuse(reply)
		}
	}
}

// refuse puts an answer that is no fault of the frame on the stream.
func (p *forkPipe) refuse(r transports.Reply) transports.Reply {
	if r.Status != http.StatusOK || r.Message == nil {
		return r
	}
	p.pipe.Stream.Push(r.Message)
	return transports.Reply{Status: http.StatusAccepted}
}

// move makes a bridge that of the pipe.
func (p *forkPipe) move(b *Bridge, tentative bool) *pipeSession {
	p.mu.Lock()
	before, now, closed := p.now, p.now, p.closed
	if before.bridge != b {
		now = b.attach(p.pipe)
	}
	p.now = now
	p.mu.Unlock()
	if before != now {
		before.detach(false)
	}
	now.tentative = tentative
	now.elsewhere = func(m *mcp.Message) func() *road {
		o := p.openerOf(m)
		if !o.recognize() { // now, as the message is edited on its way
			return nil
		}
		return func() *road { return p.fork.roadFrom(o, b) }
	}
	if closed {
		now.Close()
	}
	return now
}

// roadFrom returns where a request may go that a bridge could not deliver; nil
// for nowhere.
func (f *Fork) roadFrom(o *opener, b *Bridge) *road {
	r, refusal := f.road(o, o.proof.header)
	if refusal != nil {
		return nil
	}
	i := slices.IndexFunc(r.heads, func(one *branch) bool { return slices.Contains(one.Bridges(), b) })
	if i < 0 {
		return nil
	}
	r.here, r.keeps = &route.Choice{Branch: i}, false
	r.order = slices.DeleteFunc(r.order, func(c route.Choice) bool { return c.Branch == i })
	return r
}
