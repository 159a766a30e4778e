package bridge

import (
	"context"
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// On a pipe a server's question does not say which call it belongs to, so that
// with two calls under way nobody could be asked. Calls that may ask have a
// conversation to themselves there: the first of its kind that is free.
const (
	spares   = 4                // conversations of one kind
	busyWait = 30 * time.Second // for one of them
	busyLook = time.Second      // how often a parked call that ended is noticed
)

// oneAtATime reports whether a request must not share its conversation with
// another one within which the server may ask.
func (b *Bridge) oneAtATime(client mcp.Peer, m *mcp.Message, key poolKey) bool {
	return key.solo == "" && b.shared == nil && b.unrelated.Load() && asksBack(client) && rewrite.MayAsk(m.Method)
}

// place finds or makes the place of a request, as enter does. One that wants a
// conversation to itself waits for it; busy says that none was free in time.
func (p *pool) place(ctx context.Context, key poolKey, asking bool) (found *pooled, gone *conversation, first, busy bool) {
	if !asking {
		found, gone, first = p.enter(key)
		return found, gone, first, false
	}
	limit := time.NewTimer(busyWait)
	defer limit.Stop()
	for {
		p.mu.Lock()
		if free, ok := p.unasked(key); ok {
			if found, gone, first = p.enterLocked(free); found != nil {
				found.asking++
			}
			p.mu.Unlock()
			return found, gone, first, false
		}
		if p.freed == nil {
			p.freed = make(chan struct{})
		}
		freed := p.freed
		p.mu.Unlock()
		look := time.NewTimer(busyLook)
		select {
		case <-freed:
		case <-look.C:
		case <-limit.C:
			busy = true
		case <-ctx.Done():
			busy = true
		}
		if look.Stop(); busy {
			return nil, nil, false, true
		}
	}
}

// busyWithQuestions refuses a request for which no conversation is free.
func busyWithQuestions(m *mcp.Message) *transports.Reply {
	err := mcp.Errorf(mcp.CodeInternal, "the upstream server has %d calls of this client under way that may ask something, and takes no more: answer or end one of them, or try again later", spares)
	return &transports.Reply{Status: http.StatusOK, Message: err.Failure(m.ID)}
}

// unasked returns the key of the first conversation of a kind in which no call
// may ask now. It is called under the pool's lock.
func (p *pool) unasked(key poolKey) (free poolKey, ok bool) {
	for key.spare = range spares {
		m := p.members[key]
		if m == nil || m.asking == 0 && (m.c == nil || !m.c.Session.mayBeAsked()) {
			return key, true
		}
	}
	return key, false
}

// mayBeAsked reports whether a call is under way, or parked, within which the
// server may ask.
func (s *Session) mayBeAsked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if rewrite.MayAsk(c.method) {
			return true
		}
	}
	return false
}

// free wakes who waits for a conversation. It is called under the pool's lock.
func (p *pool) free() {
	if p.freed != nil {
		close(p.freed)
		p.freed = nil
	}
}

// handed says that the conversation has a request that wanted it to itself, where
// it counts from now on until it is answered. A client that has the answer asks on
// before the request has left, and must find the same server.
func (b *Bridge) handed(m *pooled) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	m.asking--
}
