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

// pool holds the conversations that stateless clients use. Whose requests
// share one is decided by who sends them and by what they declare: nothing of
// one principal ever reaches another.
type pool struct {
	mu      sync.Mutex
	members map[poolKey]*pooled
	freed   chan struct{} // closed when somebody leaves; nil while nobody waits
	retired bool          // conversations do not wait for another request
	limits  poolLimits
}

// poolLimits bound the pool.
type poolLimits struct {
	all, ofOne int           // conversations, those of one principal
	idle       time.Duration // of one that nobody uses
	hit        func(limit string)
}

// poolKey tells apart what may not share a conversation.
type poolKey struct {
	principal    principal
	version      mcp.Version
	capabilities string // canonical
	client       string // name and version: for order, not for security
	solo         string // set for a conversation that serves one request
	rule         int    // for its client
	spare        int    // counts conversations of the same kind
}

type pooled struct {
	key     poolKey       // under which it is found now
	ready   chan struct{} // closed when c or the failure is set
	c       *conversation
	failure *transports.Reply
	users   int
	asking  int  // of the users, requests within which the server may ask
	many    bool // clients use it, who are not one principal
	used    time.Time
	timer   *time.Timer // one, however often it is used
}

// poolCheck is how often a conversation that is busy is looked at.
const poolCheck = time.Minute

// member returns the conversation for a stateless request of a principal, and
// what to call when the conversation has the request, and when that is over.
// Clients without credentials are not one principal: only a server that keeps no
// session may serve several of them in one conversation.
func (b *Bridge) member(ctx context.Context, x *transports.Exchange, m *mcp.Message, who principal, anonymous bool) (c *conversation, handed, leave func(), refusal *transports.Reply) {
	client := statelessPeer(m)
	if p := b.resumed(ctx, x, who, m); p != nil {
		return p.c, func() {}, func() { b.leave(p) }, nil
	}
	key := poolKey{
		principal: who, version: client.Version,
		capabilities: fingerprint(client.Capabilities), client: claim(client), rule: b.ruleOf(client),
	}
	if anonymous && !b.keepsNone(ctx, x) {
		key.solo = rand.Text()
	}
	asking := b.oneAtATime(client, m, key)
	p, gone, first, busy := b.pool.place(ctx, key, asking)
	if gone != nil {
		b.Observer.SessionClosed(gone.pair)
		gone.end("the conversation was not used for longest")
	}
	if busy {
		return nil, nil, nil, busyWithQuestions(m)
	}
	if p == nil {
		r := b.noConversation(m, key)
		return nil, nil, nil, &r
	}
	handed, leave = func() {}, func() { b.leave(p) }
	if asking {
		handed = sync.OnceFunc(func() { b.handed(p) })
		leave = func() { handed(); b.leave(p) }
	}
	if first {
		p.many = anonymous && key.solo == ""
		b.fill(ctx, p, x, m, client, who)
	}
	if refusal := p.await(ctx, m); refusal != nil {
		leave()
		return nil, nil, nil, refusal
	}
	return p.c, handed, leave, nil
}

// await returns when the conversation is open; or why there is none, as the
// answer to a request.
func (m *pooled) await(ctx context.Context, request *mcp.Message) *transports.Reply {
	select {
	case <-m.ready:
	case <-ctx.Done():
		return &transports.Reply{Status: http.StatusServiceUnavailable}
	}
	if m.failure == nil {
		return nil
	}
	r := *m.failure
	if r.Message != nil {
		again := *r.Message
		again.ID = request.ID
		r.Message = &again
	}
	return &r
}

// statelessPeer is the client as a request of it says.
func statelessPeer(m *mcp.Message) mcp.Peer {
	meta := m.Meta()
	p := mcp.Peer{Version: mcp.Version(meta.Text(mcp.MetaVersion)), Info: mcp.NewObject(), Capabilities: mcp.NewObject()}
	if info := meta.Object(mcp.MetaClientInfo); info != nil {
		p.Info = info.Clone()
	}
	if capabilities := meta.Object(mcp.MetaCapabilities); capabilities != nil {
		p.Capabilities = capabilities.Clone()
	}
	return p
}

// fingerprint is the same for capabilities that mean the same.
func fingerprint(capabilities *mcp.Object) string {
	c := capabilities.Clone()
	if e := c.Object("elicitation"); e != nil && e.Len() == 0 {
		c.Set("elicitation", mcp.Raw(`{"form":{}}`))
	}
	return string(mcp.Canonical(c.Raw()))
}

// enter finds or makes the place of a key; first is true for who must fill it.
// gone, if not nil, had to make room and must be ended.
func (p *pool) enter(key poolKey) (found *pooled, gone *conversation, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.enterLocked(key)
}

func (p *pool) enterLocked(key poolKey) (found *pooled, gone *conversation, first bool) {
	if p.members == nil {
		p.members = map[poolKey]*pooled{}
	}
	if found = p.members[key]; found == nil {
		if limit := p.over(key); limit != "" {
			evicted := p.evict(key.principal)
			if evicted == nil {
				return nil, nil, false
			}
			p.limits.hit(limit)
			gone = evicted.c
		}
		found, first = &pooled{key: key, ready: make(chan struct{})}, true
		p.members[key] = found
	}
	found.users++
	found.used = time.Now()
	return found, gone, first
}

// over returns the limit that stands against one more conversation, "" for
// none. It is called under the lock.
func (p *pool) over(key poolKey) string {
	switch {
	case len(p.members) >= p.limits.all:
		return mcp.LimitPooled
	case key.solo == "" && p.of(key.principal) >= p.limits.ofOne:
		return mcp.LimitPooledOfOne
	}
	return ""
}

func (p *pool) of(who principal) int {
	n := 0
	for key := range p.members {
		if key.principal == who && key.solo == "" {
			n++
		}
	}
	return n
}

// evict makes room: it takes out the conversation of a principal that was idle
// longest, or of anyone when the pool is full. One with a parked call is not
// idle: nobody's load may cost another's call.
func (p *pool) evict(who principal) *pooled {
	var oldest poolKey
	var found *pooled
	for key, m := range p.members {
		mine := key.principal == who || len(p.members) >= p.limits.all
		if mine && m.users == 0 && m.c != nil && (found == nil || m.used.Before(found.used)) && !m.c.Session.Busy() {
			oldest, found = key, m
		}
	}
	if found != nil {
		delete(p.members, oldest)
	}
	return found
}

// leave notes that a request is over. A conversation that nobody uses ends
// after a while, and one that failed or served a single client at once.
func (b *Bridge) leave(m *pooled) {
	p := &b.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	key := m.key
	m.users--
	m.used = time.Now()
	p.free()
	if m.users > 0 || p.members[key] != m {
		return
	}
	if m.failure != nil {
		delete(p.members, key)
		return
	}
	b.reapSoon(m)
}

// reapSoon ends a conversation if nobody uses it for a while. It is called
// under the pool's lock.
func (b *Bridge) reapSoon(m *pooled) {
	wait := b.pool.idleTime(m.key)
	if m.timer == nil {
		m.timer = time.AfterFunc(wait, func() { b.reap(m) })
	} else {
		m.timer.Reset(wait)
	}
}

// idleTime is how long a conversation waits for its next request.
func (p *pool) idleTime(key poolKey) time.Duration {
	if key.solo != "" || p.retired {
		return 0
	}
	return p.limits.idle
}

// keepsNone reports whether the upstream is known to keep no sessions.
func (b *Bridge) keepsNone(ctx context.Context, x *transports.Exchange) bool {
	if b.Era != negotiate.Unknown {
		return b.Era == negotiate.Stateless
	}
	v, _ := b.eras.get(b.principalOf(proofOf(x)))
	return v.era == negotiate.Stateless
}

// reap ends a conversation that was not used since. One that still holds a
// call, or on which a client listens, is looked at again later.
func (b *Bridge) reap(m *pooled) {
	p := &b.pool
	p.mu.Lock()
	key := m.key
	wait := p.idleTime(key)
	unused := p.members[key] == m && m.users == 0 && time.Since(m.used) >= wait
	busy := unused && m.c.Session.Busy()
	if unused && !busy {
		delete(p.members, key)
	}
	p.mu.Unlock()
	switch {
	case busy:
		m.timer.Reset(poolCheck)
	case unused:
		if wait > 0 {
			b.Observer.Limited(mcp.LimitPoolIdle)
		}
		b.Observer.SessionClosed(m.c.pair)
		m.c.end("the conversation was not used for too long")
	}
}

// fill opens the conversation for a place in the pool.
func (b *Bridge) fill(ctx context.Context, p *pooled, x *transports.Exchange, m *mcp.Message, client mcp.Peer, who principal) {
	defer close(p.ready)
	c := b.newConversation(x)
	if c == nil {
		r := b.refuse(http.StatusServiceUnavailable, mcp.Errorf(mcp.CodeInternal, "the bridge is shutting down"), m.ID)
		p.failure = &r
		return
	}
	if p.many {
		c.Session.Bound(0, 0)
	}
	c.events = true
	c.serveAs(p.key.rule)
	c.opening = mcp.NewRequest(mcp.Initialize, mcp.MustObject(`{"protocolVersion":"","capabilities":{}}`))
	c.opening.Body.SetObject("clientInfo", client.Info.Clone())
	c.pair.ClientTransport = x.Transport
	// Who waits may leave; the conversation is for others too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.HandshakeTimeout)
	defer cancel()
	server, err := c.meet(ctx, client)
	if err != nil {
		c.end("no conversation could be opened")
		r := b.unopened(m, err)
		if r.Status == http.StatusOK && m.Method == mcp.Discover {
			// Clients take any JSON-RPC error to a discovery for an older server.
			r.Status = http.StatusServiceUnavailable
		}
		p.failure = &r
		return
	}
	c.pair.ServerTransport = transports.NameOf(c.wire, b.UpstreamTransport)
	c.Session.Build(b.Ladder, c.facing(client, server), c.deps(who))
	c.pair.Client, c.pair.Server = client.Version, server.Version
	c.pair.ClientName, _ = client.Name()
	c.pair.ServerName, _ = server.Name()
	b.unrelated.Store(!c.routed() && !c.stateless)
	b.pool.mu.Lock()
	p.c = c
	b.pool.mu.Unlock()
	b.Observer.SessionOpened(c.pair)
	for _, m := range c.early {
		c.receive(m, 0)
	}
	c.early = nil
}
