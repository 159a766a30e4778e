package bridge

import (
	"context"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// standing is one request that stands for itself, from its arrival until its
// client left or got its answer. Which conversation serves it may change,
// once when the server turns out to be another than it was, and to another
// upstream of the route where its own never got it.
type standing struct {
	bridge    *Bridge
	ctx       context.Context // ends when the client leaves
	x         *transports.Exchange
	who       principal
	anonymous bool
	turn      *Turn
	way       *road        // among several upstreams; nil is none
	ways      func() *road // makes it when it is needed; may be nil
	mine      bool         // who is told by the pipe
	visit     func()       // ends the use of the bridge that it was moved to; may be nil

	serving sync.Mutex // held while the request is handed over: one session locks the turn

	mu      sync.Mutex
	c       *conversation
	handed  func()
	release func()
}

// enter finds the conversation that serves the request; nil, or why none does.
func (r *standing) enter(m *mcp.Message) *transports.Reply {
	c, handed, release, refusal := r.bridge.member(r.ctx, r.x, m, r.who, r.anonymous)
	if refusal != nil {
		return refusal
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.c, r.handed, r.release = c, handed, release
	return nil
}

// enterAny is enter at whichever upstream opens a conversation.
func (r *standing) enterAny(m *mcp.Message) *transports.Reply {
	refusal := r.enter(m)
	for refusal != nil && refusal.Unopened && r.elsewhere() {
		refusal = r.enter(m)
	}
	return refusal
}

func (r *standing) now() *conversation {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.c
}

// leave says that the conversation is not used any more, once.
func (r *standing) leave() {
	r.mu.Lock()
	release := r.release
	r.release = nil
	r.mu.Unlock()
	if release != nil {
		release()
	}
}

// serve hands the request to its conversation.
func (r *standing) serve(m *mcp.Message) {
	r.serving.Lock()
	defer r.serving.Unlock()
	c := r.now()
	r.mu.Lock()
	handed := r.handed
	r.mu.Unlock()
	c.serveOne(m, r.turn, r.x.Header, handed)
}

// again serves the request in another conversation: the one before is over,
// and the server has not run it.
func (r *standing) again(m *mcp.Message) {
	r.serving.Lock() // the session before must be done with the turn
	r.turn.pending-- // what it owed until now, so that the stream stayed open
	r.serving.Unlock()
	r.leave()
	refusal := r.enterAny(m)
	defer r.moved(nil)
	if refusal != nil {
		r.refuse(m, *refusal)
		return
	}
	r.serve(m)
	if r.ctx.Err() != nil { // the client left before there was anything to cancel
		r.abandon()
		r.leave()
	}
}

// refuse answers a request that no conversation serves any more.
func (r *standing) refuse(m *mcp.Message, refusal transports.Reply) {
	answer := refusal.Message
	if answer == nil {
		answer = mcp.Errorf(mcp.CodeInternal, "the upstream server has changed and cannot be asked now; try again").Failure(m.ID)
	}
	answer.ID = m.ID
	switch {
	case r.turn.shared:
		r.turn.Stream.Push(answer)
		r.turn.ended()
	case !r.turn.Stream.Refuse(refusal):
		r.turn.Stream.Finish(answer)
	}
}

// abandon cancels what is under way: the client left.
func (r *standing) abandon() {
	c := r.now()
	c.do(c.Session.Abandon(r.turn, time.Now()))
}

// status returns the HTTP status of an answer.
func (r *standing) status(m *mcp.Message) int {
	c := r.now()
	return c.bridge.statusOf(c, m)
}

// expire ends a request that has no end of its own when the proof of who sent
// it runs out.
func (r *standing) expire(s *transports.Speaker) {
	if s == nil || s.Until.IsZero() {
		return
	}
	t := time.AfterFunc(time.Until(s.Until), r.abandon)
	context.AfterFunc(r.ctx, func() { t.Stop() })
}
