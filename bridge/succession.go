package bridge

import (
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

var (
	_ transports.Host     = (*Succession)(nil)
	_ transports.Resumer  = (*Succession)(nil)
	_ transports.PipeHost = (*Succession)(nil)
)

// Succession is a Host whose bridge can be replaced while it serves:
// conversations go on in the bridge where they began, new ones begin in the
// newest. All methods are safe for concurrent use.
type Succession struct {
	mu     sync.RWMutex
	now    *Bridge   // nil when no conversation begins any more
	former []*Bridge // oldest first
}

// NewSuccession returns a Host that begins with a bridge.
func NewSuccession(first *Bridge) *Succession { return &Succession{now: first} }

// Replace makes next the bridge of all new conversations.
func (s *Succession) Replace(next *Bridge) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire()
	s.now = next
}

// Finish lets no conversation begin any more; those that have go on.
func (s *Succession) Finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retire()
	s.now = nil
}

func (s *Succession) retire() {
	if s.now != nil {
		s.former = append(s.former, s.now)
		s.now.retire()
	}
}

// InUse reports whether anybody can be or is served.
func (s *Succession) InUse() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.now != nil || len(s.former) > 0
}

// Settle takes out the former bridges that serve nobody any more, and returns
// them for the caller to close.
func (s *Succession) Settle() (over []*Bridge) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.former = slices.DeleteFunc(s.former, func(b *Bridge) bool {
		if b.inUse() {
			return false
		}
		over = append(over, b)
		return true
	})
	return over
}

// Bridges returns all bridges that serve somebody, the newest first.
func (s *Succession) Bridges() []*Bridge {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := slices.Clone(s.former)
	if s.now != nil {
		all = append(all, s.now)
	}
	slices.Reverse(all)
	return all
}

// visit chooses the bridge of an exchange, nil when there is none. It is in
// use until leave is called.
func (s *Succession) visit(x *transports.Exchange) (b *Bridge, leave func()) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	b = s.now
	for _, one := range s.former {
		if one.holds(x) {
			b = one
		}
	}
	if b == nil {
		return nil, func() {}
	}
	b.visits.Add(1)
	return b, func() { b.visits.Add(-1) }
}

// Holds reports whether an exchange goes on with a conversation of any of the
// bridges.
func (s *Succession) Holds(x *transports.Exchange) bool {
	return slices.ContainsFunc(s.Bridges(), func(b *Bridge) bool { return b.holds(x) })
}

// over answers where no conversation begins any more.
func over() transports.Reply {
	return transports.Reply{
		Status:  http.StatusNotFound,
		Message: mcp.Errorf(mcp.CodeInvalidRequest, "this server is no longer served here").Failure(mcp.ID{}),
	}
}

// Post implements transports.Host.
func (s *Succession) Post(ctx context.Context, x *transports.Exchange) transports.Reply {
	b, leave := s.visit(x)
	defer leave()
	if b == nil {
		return over()
	}
	return b.Post(ctx, x)
}

// Listen implements transports.Host.
func (s *Succession) Listen(ctx context.Context, x *transports.Exchange) transports.Reply {
	b, leave := s.visit(x)
	defer leave()
	if b == nil {
		return over()
	}
	return b.Listen(ctx, x)
}

// End implements transports.Host.
func (s *Succession) End(ctx context.Context, x *transports.Exchange) transports.Reply {
	b, leave := s.visit(x)
	defer leave()
	if b == nil {
		return over()
	}
	return b.End(ctx, x)
}

// Malformed implements transports.Host.
func (s *Succession) Malformed(ctx context.Context, x *transports.Exchange, f *mcp.Fault) transports.Reply {
	b, leave := s.visit(x)
	defer leave()
	if b == nil {
		return over()
	}
	return b.Malformed(ctx, x, f)
}

// Resume implements transports.Resumer.
func (s *Succession) Resume(ctx context.Context, x *transports.Exchange) *transports.Reply {
	b, leave := s.visit(x)
	defer leave()
	if b == nil {
		r := over()
		return &r
	}
	return b.Resume(ctx, x)
}

// Attach implements transports.PipeHost. The client stays where it begins.
func (s *Succession) Attach(p *transports.Pipe) transports.PipeSession {
	b, leave := s.visit(&transports.Exchange{})
	defer leave()
	if b == nil {
		p.Stream.End()
		return nobody{}
	}
	return b.Attach(p)
}

// nobody is the session of a pipe on which no conversation may begin.
type nobody struct{}

// Take implements transports.PipeSession.
func (nobody) Take(context.Context, *mcp.Frame, *mcp.Fault) transports.Reply { return over() }

// Close implements transports.PipeSession.
func (nobody) Close() {}

// Owns reports what the bridge of the session does: see [Bridge.Owns].
func (s *Succession) Owns(ctx context.Context, session transports.PipeSession, opened, now http.Header) bool {
	own, ok := session.(*pipeSession)
	return ok && own.bridge.Owns(ctx, session, opened, now)
}

// Pool returns how many conversations of stateless clients are in which state:
// see [Bridge.Pool].
func (s *Succession) Pool() map[string]int {
	counts := map[string]int{}
	for _, b := range s.Bridges() {
		for state, n := range b.Pool() {
			counts[state] += n
		}
	}
	return counts
}
