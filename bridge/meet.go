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
		v = c.era(ctx, probeMax)
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
		if v = c.era(ctx, probeMax); v.era != negotiate.Stateless {
			return server, unmet(err)
		}
		c.wire.Reset()
	}
	if v.version != "" {
		version = v.version
	}
	c.stateless = true
	c.wire.Agree(version, b.Ladder.Traits(version))
	return mcp.Peer{Version: version, Info: mcp.NewObject(), Capabilities: mcp.NewObject()}, nil
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
// request asks anew what it is.
func (c *conversation) doubt(r *mcp.Refusal) {
	b := c.bridge
	contradicts := r.Status == http.StatusBadRequest || r.Status == http.StatusNotFound || r.Status == http.StatusMethodNotAllowed
	if !c.stateless || b.Era != negotiate.Unknown || !contradicts {
		return
	}
	b.eras.drop(c.owner.principal)
	if b.withdraw(c) {
		context.AfterFunc(b.alive, func() { c.end("the bridge is shutting down") })
		c.endWhenIdle()
	}
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
