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
}

// poolKey tells apart what may not share a conversation.
type poolKey struct {
	principal    principal
	version      mcp.Version
	capabilities string // canonical
	client       string // name and version: for order, not for security
	solo         string // set for a conversation that serves one request
}

type pooled struct {
	ready   chan struct{} // closed when c or the failure is set
	c       *conversation
	failure *transports.Reply
	users   int
	used    time.Time
	timer   *time.Timer // one, however often it is used
}

const (
	poolIdle   = 10 * time.Minute
	poolCheck  = time.Minute // how often a busy one is looked at
	poolLimit  = 1000        // conversations
	poolOfEach = 8           // of one principal
)

// member returns the conversation for a stateless request of a principal, and
// what to call when the request is over. Clients without credentials are not
// one principal: only a server that keeps no session may serve several of them
// in one conversation.
func (b *Bridge) member(ctx context.Context, x *transports.Exchange, m *mcp.Message, who principal, anonymous bool) (*conversation, func(), *transports.Reply) {
	client := statelessPeer(m)
	if key, p := b.resumed(who, m); p != nil {
		return p.c, func() { b.leave(key, p) }, nil
	}
	key := poolKey{
		principal: who, version: client.Version,
		capabilities: fingerprint(client.Capabilities), client: claim(client),
	}
	if anonymous && !b.keepsNone(ctx, x) {
		key.solo = rand.Text()
	}
	p, gone, first := b.pool.enter(key)
	if gone != nil {
		b.Observer.SessionClosed(gone.pair)
		gone.end("the conversation was not used for longest")
	}
	if p == nil {
		r := b.refuse(http.StatusServiceUnavailable, mcp.Errorf(mcp.CodeInternal, "the bridge holds too many conversations; try again later"), m.ID)
		return nil, nil, &r
	}
	if first {
		b.fill(ctx, p, x, m, client, who)
	}
	select {
	case <-p.ready:
	case <-ctx.Done():
		b.leave(key, p)
		return nil, nil, &transports.Reply{Status: http.StatusServiceUnavailable}
	}
	if p.failure != nil {
		b.leave(key, p)
		r := *p.failure
		if r.Message != nil {
			again := *r.Message
			again.ID = m.ID
			r.Message = &again
		}
		return nil, nil, &r
	}
	return p.c, func() { b.leave(key, p) }, nil
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
	if p.members == nil {
		p.members = map[poolKey]*pooled{}
	}
	if found = p.members[key]; found == nil {
		if len(p.members) >= poolLimit || key.solo == "" && p.of(key.principal) >= poolOfEach {
			evicted := p.evict(key.principal)
			if evicted == nil {
				return nil, nil, false
			}
			gone = evicted.c
		}
		found, first = &pooled{ready: make(chan struct{})}, true
		p.members[key] = found
	}
	found.users++
	found.used = time.Now()
	return found, gone, first
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
		mine := key.principal == who || len(p.members) >= poolLimit
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
func (b *Bridge) leave(key poolKey, m *pooled) {
	p := &b.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	m.users--
	m.used = time.Now()
	if m.users > 0 || p.members[key] != m {
		return
	}
	if m.failure != nil {
		delete(p.members, key)
		return
	}
	wait := poolIdle
	if key.solo != "" {
		wait = 0
	}
	if m.timer == nil {
		m.timer = time.AfterFunc(wait, func() { b.reap(key, m, wait) })
	} else {
		m.timer.Reset(wait)
	}
}

// keepsNone reports whether the upstream is known to keep no sessions.
func (b *Bridge) keepsNone(ctx context.Context, x *transports.Exchange) bool {
	if b.Era != negotiate.Unknown {
		return b.Era == negotiate.Stateless
	}
	v, _ := b.eras.get(b.principalOf(x.Header))
	return v.era == negotiate.Stateless
}

// reap ends a conversation that was not used since. One that still holds a
// call, or on which a client listens, is looked at again later.
func (b *Bridge) reap(key poolKey, m *pooled, idle time.Duration) {
	p := &b.pool
	p.mu.Lock()
	unused := p.members[key] == m && m.users == 0 && time.Since(m.used) >= idle
	busy := unused && m.c.Session.Busy()
	if unused && !busy {
		delete(p.members, key)
	}
	p.mu.Unlock()
	switch {
	case busy:
		m.timer.Reset(poolCheck)
	case unused:
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
	c.events = true
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
	b.pool.mu.Lock()
	p.c = c
	b.pool.mu.Unlock()
	b.Observer.SessionOpened(c.pair)
	for _, m := range c.early {
		c.receive(m, 0)
	}
	c.early = nil
}

// withdraw takes a conversation out of the pool; false when it is not in it.
func (b *Bridge) withdraw(c *conversation) bool {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	for key, m := range b.pool.members {
		if m.c == c {
			delete(b.pool.members, key)
			b.Observer.SessionClosed(c.pair)
			return true
		}
	}
	return false
}

// disband ends the conversations of a principal that is gone.
func (b *Bridge) disband(who principal) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	for key, m := range b.pool.members {
		if key.principal == who && m.c != nil {
			delete(b.pool.members, key)
			b.Observer.SessionClosed(m.c.pair)
			go m.c.end("the client left")
		}
	}
}

// closePool ends all conversations of stateless clients.
func (b *Bridge) closePool() {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	for key, m := range b.pool.members {
		delete(b.pool.members, key)
		if m.c != nil {
			b.Observer.SessionClosed(m.c.pair)
			m.c.end("the bridge is shutting down")
		}
	}
}
