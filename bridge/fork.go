package bridge

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/internal/route"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

var (
	_ transports.Host     = (*Fork)(nil)
	_ transports.Resumer  = (*Fork)(nil)
	_ transports.PipeHost = (*Fork)(nil)
)

// Fork is a Host before several upstreams, each with a Succession of its own. A
// conversation stays where it began; where a new one begins is chosen by rules
// and weights (internal/route), and the next upstream is tried where the first
// took none. All methods are safe for concurrent use.
type Fork struct {
	salt  [32]byte
	memos memos

	mu     sync.RWMutex
	now    []*branch // as in the plan
	plan   Plan
	former []*branch // no longer in the plan, with conversations that go on
}

// Plan is what a Fork chooses by.
type Plan struct {
	Ways []Way // at least one
	// Chosen hears of each choice, Unopened of each conversation that an
	// upstream did not take. They must be quick; nil is nobody.
	Chosen   func(upstream, by string)
	Unopened func(upstream string)
	Log      zerolog.Logger
}

// Way is an upstream with its bridge. A name without a rule and of no other way
// is a plan without choice, which is not counted where it is "".
type Way struct {
	route.Branch
	// Bridge takes the new conversations. The one that it had goes on as it is.
	Bridge *Bridge
}

// branch is an upstream of a fork.
type branch struct {
	*Succession
	name string
}

// NewFork returns a Fork. With secrets, which need not be given, replicas that
// share them choose alike.
func NewFork(secrets []string, p Plan) *Fork {
	f := &Fork{}
	if len(secrets) == 0 {
		_, _ = rand.Read(f.salt[:]) // never fails (crypto/rand)
	}
	f.Follow(p)
	return f
}

// Follow makes a plan that of all new conversations. Running ones stay where
// they are, also on upstreams that are in no plan any more.
func (f *Fork) Follow(p Plan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := slices.Concat(f.now, f.former)
	var now []*branch
	for _, w := range p.Ways {
		one := &branch{name: w.Name}
		if i := slices.IndexFunc(known, func(b *branch) bool { return b.name == w.Name }); i >= 0 {
			one = known[i]
			known = slices.Delete(known, i, i+1)
			one.goOn(w.Bridge)
		} else {
			one.Succession = NewSuccession(w.Bridge)
		}
		now = append(now, one)
	}
	for _, b := range known {
		b.Finish()
	}
	f.now, f.former, f.plan = now, known, p
	f.memos.clear()
}

// goOn makes next the bridge of new conversations, if it is not already.
func (s *Succession) goOn(next *Bridge) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != next {
		s.retire()
		s.now = next
	}
}

// Finish lets no conversation begin any more; those that have go on.
func (f *Fork) Finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.now {
		b.Finish()
	}
}

// all returns the branches, those of the plan first.
func (f *Fork) all() []*branch {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return slices.Concat(f.now, f.former)
}

// InUse reports whether anybody can be or is served.
func (f *Fork) InUse() bool {
	return slices.ContainsFunc(f.all(), func(b *branch) bool { return b.InUse() })
}

// Settle takes out the bridges that serve nobody any more, and returns them for
// the caller to close.
func (f *Fork) Settle() (over []*Bridge) {
	for _, b := range f.all() {
		over = append(over, b.Settle()...)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.former = slices.DeleteFunc(f.former, func(b *branch) bool { return !b.InUse() })
	return over
}

// Bridges returns all bridges that serve somebody.
func (f *Fork) Bridges() (all []*Bridge) {
	for _, b := range f.all() {
		all = append(all, b.Bridges()...)
	}
	return all
}

// Pool returns how many conversations of stateless clients are in which state:
// see [Bridge.Pool].
func (f *Fork) Pool() map[string]int {
	counts := map[string]int{}
	for _, b := range f.all() {
		for state, n := range b.Pool() {
			counts[state] += n
		}
	}
	return counts
}

// Holds reports whether an exchange goes on with a conversation of any of the
// bridges.
func (f *Fork) Holds(x *transports.Exchange) bool {
	return slices.ContainsFunc(f.all(), func(b *branch) bool { return b.Holds(x) })
}

// at returns the bridge of an exchange that opens nothing: where its
// conversation is, or else the first, which can say as well as any what is wrong
// with it. sure says that it is the first by conversation.
func (f *Fork) at(x *transports.Exchange) (b *Bridge, leave func(), sure bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.plain() && len(f.former) == 0 {
		b, leave = f.now[0].visit(x)
		return b, leave, true
	}
	all := slices.Concat(f.now, f.former)
	for _, holds := range []func(*branch) bool{
		func(one *branch) bool { return one.Holds(x) },
		func(one *branch) bool { return one.sealed(x) },
	} {
		if i := slices.IndexFunc(all, holds); i >= 0 {
			b, leave = all[i].visit(x)
			return b, leave, true
		}
	}
	b, leave = f.now[0].visit(x)
	return b, leave, f.plain()
}

// plain reports whether there is nothing to choose.
func (f *Fork) plain() bool { return len(f.now) == 1 && f.plan.Ways[0].Name == "" }

// lone returns the message of a frame that holds no array, nil for none.
func lone(f *mcp.Frame) *mcp.Message {
	if f == nil || f.Batch || len(f.Items) != 1 {
		return nil
	}
	return f.Items[0].Message
}

// sealed reports whether a request brings a state that was made here.
func (s *Succession) sealed(x *transports.Exchange) bool {
	m := lone(x.Frame)
	return m != nil && m.Kind == mcp.Request && m.Body != nil && m.Body.Has("requestState") &&
		slices.ContainsFunc(s.Bridges(), func(b *Bridge) bool { return b.made(b.ownerOf(proofOf(x)), m.Body.Text("requestState")) })
}

// made reports whether a state was sealed here for who asks.
func (b *Bridge) made(asks owner, state string) bool {
	_, _, ok := b.sealer.unseal(asks.principal, state)
	if !ok && asks.token {
		_, _, ok = b.sealer.unseal(asks.subject, state)
	}
	return ok
}

// Post implements transports.Host.
func (f *Fork) Post(ctx context.Context, x *transports.Exchange) transports.Reply {
	b, leave, sure := f.at(x)
	if !sure {
		if opener := openerOf(x, b); opener != nil {
			leave()
			return f.begin(ctx, x, opener)
		}
	}
	defer leave()
	if b == nil {
		return over()
	}
	return b.Post(ctx, x)
}

// begin serves an exchange that opens a conversation.
func (f *Fork) begin(ctx context.Context, x *transports.Exchange, o *opener) transports.Reply {
	r, b, leave, refusal := f.set(o, x.Header)
	if refusal != nil {
		return *refusal
	}
	for {
		reply := b.post(ctx, x, r)
		leave()
		if !reply.Unopened && !o.foreign(b) {
			return reply
		}
		more := r.failed() && ctx.Err() == nil
		if more {
			b, leave, more = r.next()
		}
		if !more {
			return reply
		}
	}
}

// Listen implements transports.Host.
func (f *Fork) Listen(ctx context.Context, x *transports.Exchange) transports.Reply {
	b, leave, _ := f.at(x)
	defer leave()
	if b == nil {
		return over()
	}
	return b.Listen(ctx, x)
}

// End implements transports.Host.
func (f *Fork) End(ctx context.Context, x *transports.Exchange) transports.Reply {
	b, leave, _ := f.at(x)
	defer leave()
	if b == nil {
		return over()
	}
	return b.End(ctx, x)
}

// Malformed implements transports.Host.
func (f *Fork) Malformed(ctx context.Context, x *transports.Exchange, fault *mcp.Fault) transports.Reply {
	b, leave, _ := f.at(x)
	defer leave()
	if b == nil {
		return over()
	}
	return b.Malformed(ctx, x, fault)
}

// Resume implements transports.Resumer.
func (f *Fork) Resume(ctx context.Context, x *transports.Exchange) *transports.Reply {
	b, leave, _ := f.at(x)
	defer leave()
	if b == nil {
		r := over()
		return &r
	}
	return b.Resume(ctx, x)
}
