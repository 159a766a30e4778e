package bridge

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
)

// statelessVersions returns the rungs without a handshake, oldest first.
func (b *Bridge) statelessVersions() []mcp.Version {
	handshakes := b.Ladder.Handshakes().Versions()
	return slices.DeleteFunc(b.Ladder.Versions(), func(v mcp.Version) bool { return slices.Contains(handshakes, v) })
}

// era finds out which era the upstream speaks to these credentials, waiting at
// most wait; a probe that takes longer ends in the background.
func (c *conversation) era(ctx context.Context, wait time.Duration) verdict {
	b := c.bridge
	p := c.owner.principal
	if v, ok := b.eras.get(p); ok {
		return v
	}
	done, first, end := b.eras.begin(p)
	if first {
		b.work.Add(1)
		header := c.headers.get()
		go func() {
			defer b.work.Done()
			defer end()
			probing, cancel := context.WithTimeout(b.alive, probeMax)
			defer cancel()
			helper := &conversation{bridge: b, wire: b.Dial(), link: NewLink(), Session: NewSession(NewLink(), b.Observer, false)}
			helper.headers.last = header
			if v, ok := helper.probe(probing); ok {
				by := ByProbe
				if v.guess {
					by = ByFallback
				}
				b.judge(p, v, by)
			}
			_ = helper.wire.Close(probing) // it holds no session
		}()
	}
	if wait >= probeMax { // until it is over, and not just before
		wait = probeMax + time.Second
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
	v, _ := b.eras.get(p)
	return v
}

// probe asks the server what it is. ok is false when the answer settles
// nothing.
func (c *conversation) probe(ctx context.Context) (v verdict, ok bool) {
	b := c.bridge
	versions := b.statelessVersions()
	version := versions[len(versions)-1]
	for attempt := range 2 {
		answer, err := c.discover(ctx, version, nil, mcp.NewObject())
		var refusal *mcp.Refusal
		silent := errors.Is(ctx.Err(), context.DeadlineExceeded) // as many are on what they do not know
		switch {
		case err == nil, silent, errors.As(err, &refusal), errors.Is(err, transports.ErrNoAnswer):
		case errors.Is(err, transports.ErrBroken) && !c.routed():
			// A process that ends at what comes before initialize expects that.
			b.Observer.Probed(string(negotiate.Legacy))
			return verdict{era: negotiate.Legacy, until: time.Now().Add(legacyTTL)}, true
		default:
			return v, false
		}
		f := negotiate.Discovered(answer, refusal, version, versions, b.Ladder.Handshakes().Versions())
		b.Observer.Probed(string(f.Era))
		switch {
		case f.Again != "":
			version = f.Again
			c.wire.Reset()
		case attempt == 0 && refusal != nil && refusal.Status/100 == 5 && f.Try: // it may have been an accident
		case f.Era == negotiate.Stateless:
			return verdict{era: f.Era, version: f.Version}, true
		case f.Era == negotiate.Legacy:
			return verdict{era: f.Era, until: time.Now().Add(legacyTTL)}, true
		case f.Try: // a handshake will tell, and this says only that it is worth it
			return verdict{era: negotiate.Legacy, guess: true, until: time.Now().Add(shortTTL)}, true
		default:
			return v, false
		}
	}
	return v, false
}

// stamps are the parameters of a request that says of a client what every request
// to a stateless server has to.
func stamps(version mcp.Version, info, capabilities *mcp.Object) *mcp.Object {
	meta := mcp.NewObject()
	meta.Set(mcp.MetaVersion, mcp.Quote(string(version)))
	if info.Text("name") != "" && info.Text("version") != "" {
		meta.Set(mcp.MetaClientInfo, info.Raw())
	} else {
		meta.Set(mcp.MetaClientInfo, mcp.Raw(`{"name":"mcpbridge","version":"1"}`))
	}
	meta.Set(mcp.MetaCapabilities, capabilities.Raw())
	params := mcp.NewObject()
	params.SetObject("_meta", meta)
	return params
}

// discover asks a stateless server what it is, for a client.
func (c *conversation) discover(ctx context.Context, version mcp.Version, info, capabilities *mcp.Object) (*mcp.Message, error) {
	c.wire.Agree(version, c.bridge.Ladder.Traits(version))
	m := mcp.NewRequest(mcp.Discover, stamps(version, info, capabilities))
	m.Header = c.headers.get()
	answer, _, status, err := c.inquire(ctx, m, true)
	if err == nil && answer.Kind == mcp.Failure && (status/100 == 5 || status == http.StatusTooManyRequests) {
		// It says how the server is, not what: the status counts, and codes that
		// only a stateless server has.
		return nil, &mcp.Refusal{Status: status, Body: answer.Bytes()}
	}
	return answer, err
}

// enter opens the conversation with the server in the era that serves this
// client best: its own, where the server has it.
func (c *conversation) enter(ctx context.Context, client mcp.Peer) (server mcp.Peer, result *mcp.Message, early []*mcp.Message, err error) {
	switch c.bridge.Era {
	case negotiate.Legacy:
		return c.handshake(ctx, client)
	case negotiate.Stateless:
		versions := c.bridge.statelessVersions()
		return c.enterStateless(ctx, client, versions[len(versions)-1])
	}
	var v verdict
	if len(c.bridge.statelessVersions()) == 0 {
		return c.handshake(ctx, client)
	}
	// On a pipe a probe could end a server that expects a handshake.
	v = c.askedEra(ctx, c.routed(), probeWait)
	if v.noHandshake {
		server, result, early, err = c.enterStateless(ctx, client, v.version)
		if err == nil || !settles(err) {
			return server, result, early, err
		}
		c.bridge.eras.drop(c.owner.principal) // the server is another by now
		c.wire.Reset()
		v = verdict{}
	}
	return c.enterEither(ctx, client, v)
}

// enterEither tries a handshake, and does without where that is better or the
// server has none.
func (c *conversation) enterEither(ctx context.Context, client mcp.Peer, v verdict) (server mcp.Peer, result *mcp.Message, early []*mcp.Message, err error) {
	server, result, early, err = c.handshake(ctx, client)
	switch {
	case err == nil && v.era == negotiate.Stateless && asksBack(client) && !transports.IsStateful(c.wire):
		// Without a session its answers to questions would be lost.
		c.wire.Reset()
		return c.enterStateless(ctx, client, v.version)
	case err == nil:
		return server, result, early, nil
	}
	version := v.version
	if version == "" && speaksStateless(err) {
		versions := c.bridge.statelessVersions()
		version = versions[len(versions)-1]
	}
	if version == "" {
		return server, nil, nil, err
	}
	c.wire.Reset()
	server, result, early, modern := c.enterStateless(ctx, client, version)
	if modern != nil {
		return server, nil, nil, unmet(err)
	}
	c.bridge.judge(c.owner.principal, verdict{era: negotiate.Stateless, version: version, noHandshake: settles(err)}, ByHandshake)
	return server, result, early, nil
}

// settles reports whether a failure is what the server has to say, rather than
// that it is busy, out of reach, or wants credentials.
func settles(err error) bool {
	var own *mcp.Error
	var refused *serverError
	var refusal *mcp.Refusal
	if errors.As(err, &refusal) {
		return refusal.Status/100 == 4 && !asksToAuthenticate(refusal) && refusal.Status != http.StatusTooManyRequests
	}
	if errors.As(err, &refused) {
		return refused.status/100 != 5 && refused.status != http.StatusTooManyRequests
	}
	return errors.As(err, &own)
}

func speaksStateless(err error) bool {
	var refused *serverError
	var refusal *mcp.Refusal
	if errors.As(err, &refused) {
		return negotiate.SpeaksStateless(refused.answer, nil)
	}
	return errors.As(err, &refusal) && negotiate.SpeaksStateless(nil, refusal)
}

// asksBack reports whether the client can be asked anything.
func asksBack(client mcp.Peer) bool {
	return client.Declares("elicitation") || client.Declares("sampling") || client.Declares("roots")
}

// routed reports whether headers repeat parts of requests on the way to the
// server.
func (c *conversation) routed() bool {
	return transports.NameOf(c.wire, c.bridge.UpstreamTransport) == streamable.Name
}

// enterStateless opens no session: it asks the server what it is, and makes of
// that what a handshake would have told.
func (c *conversation) enterStateless(ctx context.Context, client mcp.Peer, version mcp.Version) (server mcp.Peer, result *mcp.Message, early []*mcp.Message, err error) {
	b := c.bridge
	c.stateless = true
	f := c.facing(client, mcp.Peer{Version: version})
	answer, err := c.discover(ctx, version, client.Info, rewrite.StampedCapabilities(f))
	if err != nil {
		c.stateless = false
		return server, nil, nil, err
	}
	if answer.Kind == mcp.Failure && answer.Code() == mcp.CodeMethodNotFound {
		answer, err = c.undiscovered(ctx, client, version, answer)
	} else if answer.Kind == mcp.Failure {
		err = refusedWith("upstreamCode", answer.Code())
	}
	if err != nil {
		c.stateless = false
		return server, nil, nil, err
	}
	if f := negotiate.Discovered(answer, nil, version, b.statelessVersions(), b.Ladder.Handshakes().Versions()); f.Era != negotiate.Stateless && !f.Try {
		c.stateless = false
		return server, nil, nil, mcp.Errorf(mcp.CodeInternal, "the upstream server speaks no protocol version that the bridge does")
	}
	b.Observer.Negotiated(mcp.Server, version, version)
	server = mcp.Peer{Version: version, Instructions: answer.Body.Text("instructions"), Capabilities: peerObject(answer, "capabilities")}
	server.Info = mcp.MustObject(`{"name":"upstream","version":"0"}`)
	if meta := answer.Meta(); meta != nil && meta.Object(mcp.MetaServerInfo) != nil {
		server.Info = meta.Object(mcp.MetaServerInfo).Clone()
	}
	return server, &mcp.Message{Kind: mcp.Result, Body: synthesized(server)}, nil, nil
}

// synthesized is the handshake's result that the server would have given.
func synthesized(server mcp.Peer) *mcp.Object {
	body := mcp.NewObject()
	body.Set("protocolVersion", mcp.Quote(string(server.Version)))
	capabilities := server.Capabilities.Clone()
	capabilities.Delete("tasks")
	if extensions := capabilities.Object("extensions"); extensions != nil && extensions.Delete(mcp.MetaPrefix+"tasks") && extensions.Len() == 0 {
		capabilities.Delete("extensions")
	}
	body.SetObject("capabilities", capabilities)
	body.SetObject("serverInfo", server.Info.Clone())
	if server.Instructions != "" {
		body.Set("instructions", mcp.Quote(server.Instructions))
	}
	return body
}
