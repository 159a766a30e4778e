package bridge

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// revival counts the attempts to replace a conversation's upstream session.
type revival struct {
	mu     sync.Mutex
	count  int
	failed error // of the last attempt: since then there is no session
}

// now returns the generation of the upstream session, and whether there is
// one.
func (r *revival) now() (generation int, lost bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.count, r.failed != nil
}

// stateLost says that a new upstream session is not what the client was told
// about the old one, so that the client must open a new session itself.
type stateLost struct{ what string }

func (e *stateLost) Error() string { return "the new upstream session differs in its " + e.what }

// revive opens a new upstream session in place of the one of that generation.
// Concurrent callers share one attempt and its outcome.
func (c *conversation) revive(generation int) error {
	r := &c.revival
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == generation {
		r.failed = c.reopen()
		r.count++
	}
	return r.failed
}

// reopen opens a new upstream session. What a client set up in the old one,
// its log level and its subscriptions, is set up again. basic/transports
// "Session Management": on 404 the client starts a new session.
func (c *conversation) reopen() error {
	c.bridge.Log.Info().Str("upstream", c.bridge.Upstream).Msg("the upstream lost the session; opening a new one")
	c.wire.Reset()
	ctx, cancel := context.WithTimeout(c.ctx, c.bridge.HandshakeTimeout)
	defer cancel()
	client, server := c.Session.Peers()
	if c.stateless {
		return c.reach(ctx, client, server)
	}
	fresh, early, err := c.again(ctx, client)
	if err != nil {
		c.wire.Reset() // nothing may go out on what has no handshake
		if c.bridge.Era == negotiate.Unknown && speaksStateless(err) {
			c.bridge.eras.drop(c.owner.principal)
			return &stateLost{what: lostEra}
		}
		return err
	}
	if what := difference(server, fresh); what != "" {
		return &stateLost{what: what}
	}
	c.do(c.Session.Withdraw(time.Now()))
	c.announceAgain()
	for _, m := range early {
		c.receive(m, 0)
	}
	return c.restore(ctx)
}

// reach opens the way to a stateless server again, which has nothing to set up:
// it only shows that it is still one. What is under way there is asked again by
// whoever asked.
func (c *conversation) reach(ctx context.Context, client, server mcp.Peer) error {
	answer, err := c.discover(ctx, server.Version, client.Info, rewrite.StampedCapabilities(c.facing(client, server)))
	if err != nil {
		return err
	}
	if speaks := answer.Kind == mcp.Result || answer.Code() == mcp.CodeMethodNotFound; !speaks {
		c.bridge.eras.drop(c.owner.principal)
		return &stateLost{what: lostEra}
	}
	if !c.routed() {
		c.relisten()
	}
	return nil
}

// recheck asks a server that refuses a stream it had before whether it still
// knows the session, and opens a new one if not.
func (c *conversation) recheck(ctx context.Context) {
	generation, lost := c.revival.now()
	if lost || c.stateless {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, noticeTimeout)
	defer cancel()
	ping := mcp.NewRequest(mcp.Ping, nil)
	ping.Header = c.headers.get()
	if _, _, err := c.ask(ctx, ping, false); !errors.Is(err, transports.ErrSessionGone) {
		return
	}
	var differs *stateLost
	if err := c.revive(generation); errors.As(err, &differs) {
		c.lose()
	}
}

// lose ends a conversation whose server is not what its client was told.
func (c *conversation) lose() {
	b := c.bridge
	known := b.forget(c) // before anybody is told, so that nobody finds it again
	if b.withdraw(c) {   // a client without session is not told that there was one
		known = true
	} else {
		for _, s := range c.Session.Streams() {
			s.Refuse(b.gone())
		}
	}
	c.Session.Close("the upstream lost the session") // and with it what was under way there
	if known {
		c.end("the upstream lost the session")
	}
}

// again repeats the handshake, offering what was agreed before. The session
// keeps its pipeline: a handshake builds others only to translate itself.
func (c *conversation) again(ctx context.Context, client mcp.Peer) (mcp.Peer, []*mcp.Message, error) {
	side := &conversation{
		bridge: c.bridge, wire: c.wire, link: c.link, opening: c.opening, rule: c.rule,
		Session: NewSession(c.link, c.bridge.Observer, false),
	}
	side.headers.last = c.headers.get()
	side.ctx, side.cancel = context.WithCancel(ctx)
	defer side.cancel()
	server, _, early, err := side.handshake(ctx, client)
	return server, early, err
}

func (c *conversation) announceAgain() {
	m := mcp.NewNotification(mcp.Initialized, nil)
	if err := c.tell(m); err != nil {
		c.failedNotice(m, err)
	}
	c.relisten()
}

// difference names what the client would have to hear anew.
func difference(before, after mcp.Peer) string {
	switch {
	case before.Version != after.Version:
		return "protocol version"
	case !mcp.Equivalent(before.Capabilities.Raw(), after.Capabilities.Raw()):
		return "capabilities"
	case before.Instructions != after.Instructions:
		return "instructions"
	}
	return ""
}

// kept is what a client set up in its upstream session.
type kept struct {
	mu    sync.Mutex
	level *mcp.Object
	uris  map[string]bool
}

// maxSubscriptions bounds what is remembered of one session.
const maxSubscriptions = 10000

// note remembers a request that the server granted.
func (k *kept) note(request, answer *mcp.Message) {
	if answer.Kind != mcp.Result || request.Body == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	uri := request.Body.Text("uri")
	switch request.Method {
	case mcp.SetLevel:
		k.level = request.Body.Clone()
	case mcp.ResourcesSubscribe:
		if k.uris == nil {
			k.uris = map[string]bool{}
		}
		if len(k.uris) < maxSubscriptions {
			k.uris[uri] = true
		}
	case mcp.ResourcesUnsubscribe:
		delete(k.uris, uri)
	}
}

func (k *kept) requests() []*mcp.Message {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []*mcp.Message
	if k.level != nil {
		out = append(out, mcp.NewRequest(mcp.SetLevel, k.level.Clone()))
	}
	for _, uri := range slices.Sorted(maps.Keys(k.uris)) {
		params := mcp.NewObject()
		params.Set("uri", mcp.Quote(uri))
		out = append(out, mcp.NewRequest(mcp.ResourcesSubscribe, params))
	}
	return out
}

// restore repeats in the new upstream session what was granted in the old.
func (c *conversation) restore(ctx context.Context) error {
	for _, m := range c.kept.requests() {
		m.Header = c.headers.get()
		answer, _, err := c.ask(ctx, m, false)
		if err != nil {
			return err
		}
		if answer.Kind == mcp.Failure {
			return &stateLost{what: "answer to " + m.Method}
		}
	}
	return nil
}
