package bridge

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// meet finds out how to speak to the server for a stateless client, and opens
// a session with a server that has sessions.
func (c *conversation) meet(ctx context.Context, client mcp.Peer) (mcp.Peer, error) {
	b := c.bridge
	version := client.Version
	v := verdict{era: b.Era}
	if v.era == negotiate.Unknown {
		v = c.askedEra(ctx, true, probeMax)
	}
	if v.era != negotiate.Stateless {
		server, _, early, err := c.handshake(ctx, client)
		if err == nil {
			c.early = early
			return server, nil
		}
		if b.Era != negotiate.Unknown || !speaksStateless(err) {
			return server, unmet(err)
		}
		b.eras.drop(c.owner.principal) // it was wrong, or is by now
		if v = c.askedAgain(ctx); v.era != negotiate.Stateless && !v.guess {
			return server, unmet(err)
		}
		if v.guess { // it has no discovery, or hides it, and no handshake either
			v = verdict{era: negotiate.Stateless, version: version, noHandshake: true}
			b.judge(c.owner.principal, v, ByHandshake)
		}
		c.startOver(ctx)
	}
	if v.version != "" {
		version = v.version
	}
	c.stateless = true
	c.wire.Agree(version, b.Ladder.Traits(version))
	return mcp.Peer{Version: version, Info: mcp.NewObject(), Capabilities: mcp.NewObject()}, nil
}

// startOver forgets what was said to the server: nothing, not even that it
// refused a handshake, may stand before the requests of a stateless revision.
// What opened as one conversation on a pipe does not go on as another.
func (c *conversation) startOver(ctx context.Context) {
	if c.routed() || c.bridge.shared != nil {
		c.wire.Reset()
		return
	}
	_ = c.wire.Close(ctx) // it holds no session
	c.wire = c.bridge.Dial()
}

// unmet keeps codes from a stateless client that its revision reserves: in a
// handshake they mean something else.
func unmet(err error) error {
	var refused *serverError
	if !errors.As(err, &refused) {
		return err
	}
	if code := refused.answer.Code(); code >= -32099 && code <= -32000 || code == 0 {
		return refusedWith("legacyCode", code)
	}
	return err
}

// refusedWith is the error for a client whose conversation ends before it
// begins, at a refusal whose code means nothing to the client.
func refusedWith(member string, code int) *mcp.Error {
	e := mcp.Errorf(mcp.CodeInternal, "the upstream server refused to say what it is")
	e.Data = mcp.Raw(`{"` + member + `":` + strconv.Itoa(code) + `}`)
	return e
}

// doubt gives up what is believed of the upstream when it answers a request
// that stands for itself as servers do that know no such thing: the next
// request asks anew what it is. It reports whether the conversation is out of
// the pool now, and must be ended.
func (c *conversation) doubt(r *mcp.Refusal) bool {
	b := c.bridge
	contradicts := r.Status == http.StatusBadRequest || r.Status == http.StatusNotFound || r.Status == http.StatusMethodNotAllowed
	if !c.stateless || b.Era != negotiate.Unknown || !contradicts {
		return false
	}
	b.eras.drop(c.owner.principal)
	return b.withdraw(c)
}

// endWhenIdle ends a conversation that nobody finds any more, once the calls
// that are under way in it are over.
func (c *conversation) endWhenIdle() {
	if c.Session.Busy() {
		time.AfterFunc(poolCheck, c.endWhenIdle)
		return
	}
	c.end("the server has become another")
}
