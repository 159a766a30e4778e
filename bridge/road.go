package bridge

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/internal/route"
	"github.com/mcpbridge/mcpbridge/transports"
)

// road is the way of one opening of a conversation: the upstreams that may take
// it, in order. After the first each is tried only where the one before took
// none.
type road struct {
	fork  *Fork
	plan  Plan
	heads []*branch
	who   string // for logs
	memo  memoKey
	keeps bool // the choice is remembered

	mu    sync.Mutex
	order []route.Choice
	here  *route.Choice // where it is; nil before the first
	first int           // the branch that was chosen
}

// road chooses the upstreams for a conversation.
func (f *Fork) road(o *opener, header http.Header) (*road, *transports.Reply) {
	f.mu.RLock()
	r := &road{fork: f, plan: f.plan, heads: f.now, who: claim(o.peer)}
	f.mu.RUnlock()
	branches := make([]route.Branch, len(r.plan.Ways))
	for i, w := range r.plan.Ways {
		branches[i] = w.Branch
	}
	order, err := route.Choose(branches, route.Client{Peer: o.peer, Header: header}, f.point(o))
	if err != nil {
		r.plan.Log.Debug().Err(err).Msg("a client was refused")
		return nil, o.nobody(err)
	}
	r.first = order[0].Branch
	if o.alone {
		r.memo, r.keeps = memoKey(f.hash("memo", f.name(o), r.who, string(o.peer.Version))), true
		order = f.memos.prefer(r.memo, order, time.Now())
	}
	r.order = order
	return r, nil
}

// set chooses the upstreams for a conversation and goes to the first.
func (f *Fork) set(o *opener, header http.Header) (r *road, b *Bridge, leave func(), refusal *transports.Reply) {
	for range 3 { // the plan may change meanwhile
		if r, refusal = f.road(o, header); refusal != nil {
			return nil, nil, nil, refusal
		}
		if b, leave, ok := r.next(); ok {
			return r, b, leave, nil
		}
	}
	gone := over()
	return nil, nil, nil, &gone
}

// next goes on to the next upstream; ok is false at the end. The bridge is in
// use until leave is called.
func (r *road) next() (b *Bridge, leave func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.order) > 0 {
		to := r.order[0]
		r.order = r.order[1:]
		if r.here != nil {
			to.By = route.ByFallover
		}
		if b, leave = r.heads[to.Branch].visit(&transports.Exchange{}); b == nil {
			continue // it is served no longer
		}
		r.take(to)
		return b, leave, true
	}
	return nil, nil, false
}

// take notes a choice.
func (r *road) take(to route.Choice) {
	name := r.plan.Ways[to.Branch].Name
	if r.plan.Chosen != nil {
		r.plan.Chosen(name, string(to.By))
	}
	if r.here != nil {
		r.plan.Log.Warn().Str("branch", r.plan.Ways[r.here.Branch].Name).Str("next", name).Str("client", r.who).
			Msg("an upstream took no conversation; the next one is tried")
	} else {
		r.plan.Log.Debug().Str("branch", name).Str("by", string(to.By)).Str("client", r.who).Msg("an upstream was chosen")
	}
	r.here = &to
	if r.keeps {
		r.fork.memos.put(r.memo, memo{first: r.first, branch: to.Branch, strays: to.Branch != r.first}, time.Now())
	}
}

// failed notes that the upstream took no conversation, and reports whether there
// is another to try.
func (r *road) failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.plan.Unopened != nil {
		r.plan.Unopened(r.plan.Ways[r.here.Branch].Name)
	}
	return len(r.order) > 0
}

// point is where the client stands: the same for all requests that must meet the
// same upstream, drawn for those that open a session.
func (f *Fork) point(o *opener) (p route.Point) {
	switch {
	case o.alone:
		return f.hash("client", f.name(o))
	case o.session != "": // several requests may name it at once
		return f.hash("session", o.session)
	}
	_, _ = rand.Read(p[:]) // never fails (crypto/rand)
	return p
}

// name tells one client without session from others, by what it proves; a guest,
// who proves nothing, by its address and what it calls itself.
func (f *Fork) name(o *opener) string {
	if o.proof.anonymous() {
		host, _, err := net.SplitHostPort(o.remote)
		if err != nil {
			host = o.remote
		}
		return "guest\x00" + host + "\x00" + claim(o.peer)
	}
	if who := o.proof.verified(); who != "" {
		return "verified\x00" + who
	}
	if issuer, subject, ok := claimsOf(o.proof.header); ok { // whose tokens are renewed
		return "token\x00" + issuer + "\x00" + subject
	}
	return "credential\x00" + o.proof.header.Get("Authorization")
}

func (f *Fork) hash(values ...string) route.Point {
	mac := hmac.New(sha256.New, f.salt[:])
	for _, v := range values {
		_, _ = mac.Write([]byte(v)) // never fails (hash.Hash)
		_, _ = mac.Write([]byte{0})
	}
	return route.Point(mac.Sum(nil))
}

// memos remember where clients without session were served, so that each is
// counted once, and those whom another upstream took over need not fail at the
// first one again with every request.
type memos struct {
	mu    sync.Mutex
	known map[memoKey]memo
}

type memoKey route.Point

type memo struct {
	first  int // the branch that was chosen
	branch int // the one that served
	strays bool
	until  time.Time
}

const (
	maxMemos = 10000
	memoIdle = 10 * time.Minute // without a request
	memoAway = time.Minute      // until one that strayed tries the first again
)

func (m *memos) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.known)
}

// prefer puts the branch where a client was to the front, as long as it would
// be sent the same way.
func (m *memos) prefer(key memoKey, order []route.Choice, now time.Time) []route.Choice {
	m.mu.Lock()
	defer m.mu.Unlock()
	was, ok := m.known[key]
	if !ok || now.After(was.until) || was.first != order[0].Branch {
		return order
	}
	out := []route.Choice{{Branch: was.branch, By: route.BySticky}}
	for _, c := range order {
		if c.Branch != was.branch {
			out = append(out, c)
		}
	}
	return out
}

// put remembers a choice. That a client strays is not prolonged.
func (m *memos) put(key memoKey, now memo, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	was, ok := m.known[key]
	switch {
	case ok && now.strays && was.strays && was.branch == now.branch && at.Before(was.until):
		return
	case now.strays:
		now.until = at.Add(memoAway)
	default:
		now.until = at.Add(memoIdle)
	}
	if m.known == nil || !ok && len(m.known) >= maxMemos {
		m.known = map[memoKey]memo{}
	}
	m.known[key] = now
}
