package bridge

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
)

// Bridge serves clients of one upstream: it is a transports.Host. All methods
// are safe for concurrent use.
type Bridge struct {
	Settings
	salt   [32]byte
	sealer sealer

	mu       sync.Mutex
	sessions map[string]*conversation
	seats    seats
	pipes    int // clients on a pipe
	closed   bool
	work     sync.WaitGroup // conversations that have not ended

	health     health
	eras       verdicts
	recoveries recoveries
	pool       pool
	visits     atomic.Int64    // exchanges that a Succession has not got back yet
	alive      context.Context // ends with the bridge
	die        context.CancelFunc
	shared     *share // nil unless all sessions share the upstream conversation
	// pushless says that the upstream refused a standalone stream lately.
	pushless atomic.Bool
	// unrelated says that what the upstream asks does not come with the call that
	// it belongs to.
	unrelated atomic.Bool
}

// conversation is a session at work: the core, its upstream and its timers.
type conversation struct {
	*Session
	bridge    *Bridge
	id        string
	wire      transports.Upstream
	link      *Link
	pair      mcp.Pair
	piped     bool           // it lives on a pipe: no request may name it
	events    bool           // the client takes more than answers
	mute      bool           // it must not be asked anything
	stateless bool           // the server keeps no session
	early     []*mcp.Message // what the server sent during the handshake
	opening   *mcp.Message   // the initialize request as the client sent it
	rule      *ClientRule    // nil: the client is served as the route says
	replaces  *recoveryKey   // the session that is gone and that it stands for
	headers   headers
	seat      *seat // that it takes as a session; nil for one in the pool

	ctx    context.Context // ends with the conversation
	cancel context.CancelFunc
	work   sync.WaitGroup // goroutines of the conversation

	replies chan struct{} // has a token for each reply to the server under way

	mu        sync.Mutex
	owner     owner
	exchanges map[mcp.CallKey]*Exchange
	listening *listener
	timer     *time.Timer // of the session's Due
	idle      *time.Timer
	ended     bool

	start   sync.Once // tells the server that the handshake is complete
	revival revival
	kept    kept
}

// New returns a bridge.
func New(s Settings) *Bridge {
	b := &Bridge{Settings: s.withDefaults(), sessions: map[string]*conversation{}, sealer: newSealer(s.Secrets)}
	b.seats.of = map[principal]int{}
	b.pool.limits = poolLimits{all: b.MaxPooled, ofOne: b.MaxPooledPerPrincipal, idle: b.PoolIdle, hit: b.limited}
	if len(s.Secrets) == 0 {
		_, _ = rand.Read(b.salt[:]) // never fails (crypto/rand)
	} // else principals mean the same to all who share the secrets, whichever of them is current
	b.unrelated.Store(b.UpstreamTransport != streamable.Name && b.Era != negotiate.Stateless)
	b.alive, b.die = context.WithCancel(context.Background())
	if b.Shared {
		b.shared = newShare(b, b.Dial())
	}
	return b
}

// newConversation makes a conversation that is in no table yet, and must be
// ended all the same; nil once the bridge closes.
func (b *Bridge) newConversation(x *transports.Exchange) *conversation {
	if !b.enter() {
		return nil
	}
	c := &conversation{
		bridge: b, id: rand.Text(),
		owner:     b.ownerOf(proofOf(x)),
		exchanges: map[mcp.CallKey]*Exchange{},
		replies:   make(chan struct{}, replyLimit),
	}
	if b.shared != nil {
		c.wire, c.link = b.shared.join(c), b.shared.link
	} else {
		c.wire, c.link = b.Dial(), NewLink()
	}
	c.Session = NewSession(c.link, b.Observer, false)
	c.Session.Bound(b.MaxCalls, b.MaxStreams)
	c.Session.hasty = b.shared != nil
	c.headers.keep(x.Header, b)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// enter counts a conversation, unless the bridge closes already.
func (b *Bridge) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.work.Add(1)
	return true
}

// admit puts a conversation into the table; false when the bridge is closed.
func (b *Bridge) admit(c *conversation) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.sessions[c.id] = c
	b.Observer.SessionOpened(c.pair)
	c.touch()
	return true
}

// find returns the session of that id if it belongs to that principal. To
// anybody else it does not exist.
func (b *Bridge) find(ctx context.Context, x *transports.Exchange) *conversation {
	b.mu.Lock()
	c := b.sessions[x.Session]
	b.mu.Unlock()
	if c == nil {
		c = b.recovered(x)
	}
	if c == nil || c.piped || !c.belongs(ctx, proofOf(x)) {
		return nil
	}
	return c
}

// remove ends a conversation: its streams, its exchanges, its upstream.
func (b *Bridge) remove(c *conversation, why string) {
	if b.forget(c) {
		c.end(why)
	}
}

// forget takes a conversation out of the table; false when it is in none.
func (b *Bridge) forget(c *conversation) bool {
	b.mu.Lock()
	_, present := b.sessions[c.id]
	delete(b.sessions, c.id)
	b.mu.Unlock()
	if c.replaces != nil {
		b.recoveries.forget(*c.replaces, c)
	}
	if present {
		b.Observer.SessionClosed(c.pair)
	}
	return present
}

// Sessions returns the number of open sessions.
func (b *Bridge) Sessions() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.sessions)
}

// Close ends all sessions and refuses new ones. It waits for their goroutines
// until ctx ends.
func (b *Bridge) Close(ctx context.Context) error {
	b.die()
	b.mu.Lock()
	b.closed = true
	var all []*conversation
	for _, c := range b.sessions {
		all = append(all, c)
	}
	b.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, c := range all {
			b.remove(c, "the bridge is shutting down")
		}
		b.closePool()
		b.work.Wait()
		if b.shared != nil {
			_ = b.shared.end(ctx) // it is over either way
		}
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// closeTimeout bounds how long a server is told good-bye.
const closeTimeout = 5 * time.Second

// end ends a conversation, once.
func (c *conversation) end(why string) {
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return
	}
	c.ended = true
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.idle != nil {
		c.idle.Stop()
	}
	c.mu.Unlock()
	c.bridge.stand(c)
	effects := c.Session.Close(why)
	go func() {
		defer c.bridge.work.Done()
		defer c.work.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		for _, e := range effects {
			if e.Verb != Send {
				continue
			}
			e.Msg.Header = c.headers.get()
			if e.Msg.Method != mcp.Cancelled || c.wire.Send(ctx, e.Msg, transports.Outgoing{Receive: func(*mcp.Message) {}}) != nil {
				break
			}
		}
		c.cancel()
		if err := c.wire.Close(ctx); err != nil {
			c.bridge.Log.Debug().Err(err).Msg("closing the upstream session")
		}
	}()
}

// touch starts the session's idle time anew.
func (c *conversation) touch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended:
	case c.idle == nil:
		c.idle = time.AfterFunc(c.bridge.SessionTimeout, c.expireIdle)
	default:
		c.idle.Reset(c.bridge.SessionTimeout)
	}
}

func (c *conversation) expireIdle() {
	if c.Session.Busy() {
		c.touch()
		return
	}
	c.bridge.Observer.Limited(mcp.LimitSession)
	c.bridge.remove(c, "the session was not used for too long")
}

// arm sets the timer to when the session next wants to act.
func (c *conversation) arm() {
	due := c.Session.Due()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	if !due.IsZero() && !c.ended {
		c.timer = time.AfterFunc(time.Until(due), c.expire)
	}
}

func (c *conversation) expire() { c.do(c.Session.Expire(time.Now())) }

// facing is what the pipeline is built from.
func (c *conversation) facing(client, server mcp.Peer) rewrite.Facing {
	o := c.options()
	switch {
	case c.mute:
		o = o.WithFallback(func(f *mcp.Fallback) { f.Declare = false })
	case c.bridge.SharedInteractive: // the shared server was told so for all
		o = o.WithFallback(func(f *mcp.Fallback) { f.Declare = true })
	}
	one := c.bridge.Several || c.bridge.Credentials != mcp.CredentialsForward || !transports.IsHeaded(c.wire)
	return rewrite.Facing{Client: client, Server: server, Options: o, Routed: c.routed(), Headless: c.headless(), OneCredential: one}
}

// headless reports whether the client's messages come without headers.
func (c *conversation) headless() bool {
	return c.pair.ClientTransport != "" && c.pair.ClientTransport != streamable.Name
}
