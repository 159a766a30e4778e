package bridge

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
)

// initialize opens a session: the handshake with the client ends here, and one
// of the bridge's own with the server supplies what the client is told.
func (b *Bridge) initialize(ctx context.Context, x *transports.Exchange, m *mcp.Message) transports.Reply {
	c, answer, refusal := b.begin(ctx, x, m)
	if refusal != nil {
		return *refusal
	}
	stream := b.newStream()
	stream.Finish(answer)
	return transports.Reply{Status: http.StatusOK, Header: http.Header{mcp.HeaderSession: {c.id}}, Stream: stream}
}

// begin opens a conversation for an initialize and returns what to answer the
// client, or the refusal.
func (b *Bridge) begin(ctx context.Context, x *transports.Exchange, m *mcp.Message) (*conversation, *mcp.Message, *transports.Reply) {
	b.Observer.Received(mcp.Client, m.Kind, m.Method)
	c, answer, refusal := b.establish(ctx, x, m, nil)
	if refusal == nil {
		b.Observer.Sent(mcp.Client, answer.Kind, answer.Method)
	}
	return c, answer, refusal
}

// establish opens a conversation as an initialize asks; replaces is the session
// that it takes the place of, if any.
func (b *Bridge) establish(ctx context.Context, x *transports.Exchange, m *mcp.Message, replaces *recoveryKey) (*conversation, *mcp.Message, *transports.Reply) {
	requested := mcp.Version(m.Body.Text("protocolVersion"))
	handshakes := b.handshakes()
	if len(handshakes) == 0 {
		return nil, nil, b.turnAway(m, requested)
	}
	client := mcp.Peer{Version: negotiate.ForClient(requested, handshakes)}
	client.Info, client.Capabilities = peerObject(m, "clientInfo"), peerObject(m, "capabilities")
	if !x.Events {
		// No stream could carry a question to this client.
		for _, name := range []string{"roots", "sampling", "elicitation"} {
			client.Capabilities.Delete(name)
		}
	}
	b.Observer.Negotiated(mcp.Client, requested, client.Version)
	c := b.newConversation(x)
	if c == nil {
		return nil, nil, b.stopping(m)
	}
	if limit := b.sit(c, proofOf(x)); limit != "" {
		c.end("there is no room for the session")
		return nil, nil, b.noSeat(m, limit)
	}
	c.opening, c.piped, c.events = m, x.Transport != streamable.Name, x.Events
	c.replaces = replaces
	c.serveAs(b.ruleOf(client))
	c.pair.ClientTransport = x.Transport
	ctx, cancel := context.WithTimeout(ctx, b.HandshakeTimeout)
	defer cancel()
	defer context.AfterFunc(b.alive, cancel)()
	answer, err := c.open(ctx, client)
	if err != nil && b.alive.Err() == nil {
		c.end("no session could be opened")
		r := b.unopened(m, err)
		return nil, nil, &r
	}
	c.pair.ServerTransport = transports.NameOf(c.wire, b.UpstreamTransport)
	if err != nil || !b.admit(c) {
		c.end("the bridge is shutting down")
		return nil, nil, b.stopping(m)
	}
	line := b.Log.Info()
	if x.Remote != "" {
		line.Str("remote", x.Remote)
	}
	line.Str("client", claim(client)).Str("client_version", string(c.pair.Client)).
		Str("server_version", string(c.pair.Server)).Bool("recovered", replaces != nil).Msg("session opened")
	return c, answer, nil
}

// turnAway refuses a handshake where only revisions without one are served.
func (b *Bridge) turnAway(m *mcp.Message, requested mcp.Version) *transports.Reply {
	served := b.served()
	err := negotiate.Unsupported(requested, served)
	err.Message += ": only " + string(served[len(served)-1]) + " is served here, which has no initialize; use a client of that version"
	r := b.refuse(http.StatusOK, err, m.ID)
	r.Unopened = true
	return &r
}

// stopping refuses an initialize at the end.
func (b *Bridge) stopping(m *mcp.Message) *transports.Reply {
	r := b.refuse(http.StatusServiceUnavailable, mcp.Errorf(mcp.CodeInternal, "the bridge is shutting down"), m.ID)
	return &r
}

// claim is what a peer calls itself, short enough for a log.
func claim(p mcp.Peer) string {
	name, version := p.Name()
	return clip(name, 64) + "/" + clip(version, 32)
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// peerObject copies an object out of a handshake message; it is never nil.
func peerObject(m *mcp.Message, member string) *mcp.Object {
	if m.Body != nil {
		if o := m.Body.Object(member); o != nil {
			return o.Clone()
		}
	}
	return mcp.NewObject()
}

// open performs the handshake with the server and returns the result for the
// client.
func (c *conversation) open(ctx context.Context, client mcp.Peer) (*mcp.Message, error) {
	b := c.bridge
	server, result, early, err := c.enter(ctx, client)
	if err != nil {
		return nil, err
	}
	c.Session.Build(c.bridge.Ladder, c.facing(client, server), c.bridge.Deps)
	c.pair.Client, c.pair.Server = client.Version, server.Version
	c.pair.ClientName, _ = client.Name()
	c.pair.ServerName, _ = server.Name()
	result.ID, result.Method = c.opening.ID, mcp.Initialize
	answer := c.Session.Translate(result, mcp.Client, time.Now())
	if answer == nil {
		return nil, mcp.Errorf(mcp.CodeInternal, "the handshake has no answer")
	}
	answer.Body.Set("protocolVersion", mcp.Quote(string(client.Version)))
	if !c.events || b.pushless.Load() {
		promiseNothing(answer.Body.Object("capabilities"))
	}
	for _, m := range early {
		c.receive(m, 0)
	}
	return answer, nil
}

// promiseNothing takes out of a server's capabilities what it could not keep:
// news that no stream would carry.
func promiseNothing(capabilities *mcp.Object) {
	for _, name := range []string{"tools", "prompts", "resources"} {
		if c := capabilities.Object(name); c != nil {
			c.Delete("listChanged")
			c.Delete("subscribe")
		}
	}
}

// handshake offers versions to the server until it agrees to one. early is
// what the server sent besides its answer.
func (c *conversation) handshake(ctx context.Context, client mcp.Peer) (server mcp.Peer, result *mcp.Message, early []*mcp.Message, err error) {
	b := c.bridge
	plan := negotiate.NewHandshake(client.Version, c.upstreamVersions(), b.Ladder.Handshakes().Versions())
	for offer := plan.First(); ; {
		answer, others, status, err := c.offer(ctx, client, offer)
		verdict, err := judge(plan, answer, status, err)
		if verdict.Next != nil && !c.onlyStateless(answer) {
			c.wire.Reset()
			offer = *verdict.Next
			continue
		}
		b.Observer.Negotiated(mcp.Server, offer.Version, verdict.Agreed)
		if verdict.Next != nil {
			return server, nil, nil, &serverError{answer, status}
		}
		if err != nil {
			return server, nil, nil, err
		}
		server = mcp.Peer{Version: verdict.Agreed, Instructions: answer.Body.Text("instructions")}
		server.Info, server.Capabilities = peerObject(answer, "serverInfo"), peerObject(answer, "capabilities")
		c.wire.Agree(server.Version, b.Ladder.Traits(server.Version))
		return server, answer, others, nil
	}
}

// serverError is an error with which the server itself answered.
type serverError struct {
	answer *mcp.Message
	status int // of the HTTP response, 0 for none
}

func (e *serverError) Error() string {
	return "the upstream refused: " + e.answer.Body.Text("message")
}

// judge lets the plan look at how an offer was taken.
func judge(plan *negotiate.Handshake, answer *mcp.Message, status int, err error) (negotiate.Verdict, error) {
	var refusal *mcp.Refusal
	if errors.As(err, &refusal) {
		return plan.Refused(refusal), err
	}
	if err != nil {
		return negotiate.Verdict{}, err
	}
	v := plan.Answered(answer)
	switch {
	case v.Fault != nil:
		return v, v.Fault
	case v.Agreed == "":
		return v, &serverError{answer, status}
	}
	return v, nil
}

// offer sends one initialize, translated for the version that it offers.
func (c *conversation) offer(ctx context.Context, client mcp.Peer, o negotiate.Offer) (answer *mcp.Message, others []*mcp.Message, status int, err error) {
	c.Session.Build(c.bridge.Ladder, c.facing(client, mcp.Peer{Version: o.Version}), c.bridge.Deps)
	params := c.opening.Body.Clone()
	if params == nil {
		params = mcp.NewObject()
	}
	params.Set("protocolVersion", mcp.Quote(string(o.Version)))
	params.SetObject("capabilities", client.Capabilities.Clone())
	m := c.Session.Translate(mcp.NewRequest(mcp.Initialize, params), mcp.Server, time.Now())
	m.Header = c.headers.get()
	return c.inquire(ctx, m, o.WithHeader)
}

// ask sends a request of the bridge's own and returns its answer, and what
// else the server sent along with it.
func (c *conversation) ask(ctx context.Context, m *mcp.Message, withVersion bool) (answer *mcp.Message, others []*mcp.Message, err error) {
	answer, others, _, err = c.inquire(ctx, m, withVersion)
	return answer, others, err
}

// inquire is ask for who must know the HTTP status of the answer, too; it is 0
// where there is none.
func (c *conversation) inquire(ctx context.Context, m *mcp.Message, withVersion bool) (answer *mcp.Message, others []*mcp.Message, status int, err error) {
	n := c.link.open(nil, 0, m.Method)
	c.link.release([]int64{n})
	defer c.link.close(n)
	m.ID = mcp.IntID(n)
	setToken(m, m.ID)
	c.bridge.Observer.Sent(mcp.Server, m.Kind, m.Method)
	var early outbox
	err = c.wire.Send(ctx, m, transports.Outgoing{WithVersion: withVersion, Status: func(code int) { status = code }, Receive: func(r *mcp.Message) {
		c.respell(r)
		switch {
		case r.IsAnswer() && r.ID.Equal(m.ID):
			r.Method, answer = m.Method, r
			c.bridge.Observer.Received(mcp.Server, r.Kind, r.Method)
			c.bridge.health.answered(time.Now())
		case r.Kind == mcp.Request && (c.stateless || m.Method == mcp.Discover): // what answers this has no requests of its own
			c.bridge.Observer.Failed(mcp.Server, "unexpected_request")
		case r.Kind == mcp.Request && r.Method == mcp.Ping: // the server may wait for this before it answers
			pong := r.Answer(mcp.NewObject())
			pong.Header = m.Header
			_ = c.wire.Send(ctx, pong, transports.Outgoing{Receive: func(*mcp.Message) {}})
		case !early.add(r, time.Now()):
			c.bridge.Observer.Lost("deliver", mcp.Passed)
		}
	}})
	switch {
	case answer != nil:
		return answer, early.take(true), status, nil
	case err == nil:
		err = transports.ErrNoAnswer
	}
	return nil, nil, status, err
}

// unopened answers a client for which no session could be opened.
func (b *Bridge) unopened(m *mcp.Message, err error) transports.Reply {
	b.Observer.Failed(mcp.Server, reasonOf(err))
	b.reached(err)
	b.Log.Warn().Err(err).Str("upstream", b.Upstream).Msg("no session could be opened")
	var refused *serverError
	if errors.As(err, &refused) {
		answer := refused.answer
		answer.ID = m.ID
		return transports.Reply{Status: http.StatusOK, Message: answer, Unopened: true}
	}
	var refusal *mcp.Refusal
	if errors.As(err, &refusal) && b.forTheClient(refusal) {
		r := relay(refusal)
		r.Unopened = !asksToAuthenticate(refusal) // which no other server should hide
		return r
	}
	return transports.Reply{Status: http.StatusOK, Message: b.explain(err).Failure(m.ID), Unopened: true}
}
