package bridge

import (
	"context"
	"slices"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/transports"
)

// lostEra is what stateLost calls it when the server lost the session because it
// no longer has any.
const lostEra = "protocol era"

// turned reports whether the server refuses a session's request as one does
// that has become stateless: it names a stateless version that the bridge
// speaks, or, where it is known to be stateless too and gave no session, misses
// what every stateless request has. The request was not executed.
func (c *conversation) turned(r *mcp.Message) bool {
	b := c.bridge
	if c.stateless || b.Era != negotiate.Unknown || b.shared != nil || r.Kind != mcp.Failure {
		return false
	}
	version := mcp.Version("")
	v, _ := b.eras.get(c.owner.principal)
	switch {
	case r.Code() == mcp.CodeBadVersion:
		version = c.named(r)
	case r.Code() != mcp.CodeMethodNotFound && v.era == negotiate.Stateless && !transports.IsStateful(c.wire) && negotiate.SpeaksStateless(r, nil):
		version = v.version
	}
	if version == "" {
		return false
	}
	b.eras.drop(c.owner.principal)
	if !c.standsAlone() { // the client opens a new session, which must not be like this one
		b.judge(c.owner.principal, verdict{era: negotiate.Stateless, version: version, noHandshake: true}, ByHandshake)
	}
	return true
}

// named returns the newest stateless version that a refusal lists and that the
// bridge speaks.
func (c *conversation) named(r *mcp.Message) mcp.Version {
	return newestListed(r, c.bridge.statelessVersions())
}

// onlyStateless reports whether a server refuses a handshake with nothing but
// stateless versions to offer: older ones need not be tried.
func (c *conversation) onlyStateless(r *mcp.Message) bool {
	return r != nil && r.Kind == mcp.Failure && r.Code() == mcp.CodeBadVersion &&
		c.named(r) != "" && newestListed(r, c.bridge.Ladder.Handshakes().Versions()) == ""
}

// newestListed returns the newest of these versions that an error lists as
// supported, "" for none.
func newestListed(r *mcp.Message, versions []mcp.Version) (found mcp.Version) {
	list := r.Body.Object("data").Array("supported")
	for i := range min(list.Len(), 64) {
		text, _ := list.At(i).Text()
		if v := mcp.Version(text); v > found && slices.Contains(versions, v) {
			found = v
		}
	}
	return found
}

// standsAlone reports whether the conversation serves a client without session.
func (c *conversation) standsAlone() bool {
	return c.bridge.Ladder.Traits(c.pair.Client).Opening != mcp.Initialize
}

// move has a request served by another conversation, where the client knows
// none: this one lost what its server was. It is false when that is not
// possible, and done once for a request at most.
func (c *conversation) move(key mcp.CallKey, m *mcp.Message) bool {
	if !c.standsAlone() {
		return false
	}
	call := c.Session.lift(key, m.Method, time.Now())
	if call == nil {
		return false
	}
	c.retire()
	again := call.turn.again
	call.turn.again = nil
	again(c.asBefore(call, m))
	return true
}

// asBefore is the request as the client sent it, as far as its server was told.
func (c *conversation) asBefore(call *Call, m *mcp.Message) *mcp.Message {
	client, _ := c.Session.Peers()
	body := m.Body.Clone()
	if body == nil {
		body = mcp.NewObject()
	}
	meta := body.Object("_meta")
	if meta == nil {
		meta = mcp.NewObject()
		body.SetObject("_meta", meta)
	}
	meta.Set(mcp.MetaVersion, mcp.Quote(string(client.Version)))
	if client.Info.Len() > 0 {
		meta.Set(mcp.MetaClientInfo, client.Info.Raw())
	}
	meta.Set(mcp.MetaCapabilities, client.Capabilities.Raw())
	meta.Delete("progressToken")
	if !call.token.IsZero() {
		meta.Set("progressToken", call.token.Raw())
	}
	request := mcp.NewRequest(m.Method, body)
	request.ID = call.id
	return request
}

// retire takes a conversation out of the pool. It ends when the calls that are
// under way in it are over.
func (c *conversation) retire() {
	if c.bridge.withdraw(c) {
		c.wane()
	}
}

// wane ends a conversation that is in no table any more, once it is idle.
func (c *conversation) wane() {
	context.AfterFunc(c.bridge.alive, func() { c.end("the bridge is shutting down") })
	c.endWhenIdle()
}

// lift takes a call out of the session that can be served elsewhere; nil when
// it cannot: it was parked, it is not the client's own, or it was lifted before.
// Its turn still owes the answer.
func (s *Session) lift(key mcp.CallKey, method string, now time.Time) *Call {
	s.enter(now)
	defer s.leave()
	c := s.calls[key]
	if c == nil || c.turn == nil || c.turn.again == nil || c.method != method || !c.parked.IsZero() {
		return nil
	}
	s.abort(key, "the call is served elsewhere")
	delete(s.calls, key)
	s.listenOver(mcp.Client, key)
	s.link.release(c.names)
	return c
}

// abort lets the stages forget a call whose exchange with the server is over.
func (s *Session) abort(key mcp.CallKey, why string) {
	if n, under := s.upstream[key]; under {
		s.closeUpstream(key, n)
	}
	m := mcp.NewNotification(mcp.Cancelled, mcp.NewObject())
	m.Body.Set("reason", mcp.Quote(why))
	m.Call = key
	s.toServer(m)
}

// Cut ends the stream of a call whose server is gone before it answered: what
// the client has got must not look complete. It is false where the stream is
// not the call's alone, or nothing of it has been written: an error can be
// answered there.
func (s *Session) Cut(key mcp.CallKey, now time.Time) bool {
	s.enter(now)
	defer s.leave()
	c := s.calls[key]
	if s.closed || c == nil || c.turn == nil || c.turn.shared || !c.turn.Stream.Begun() {
		return false
	}
	s.abort(key, "the upstream is gone")
	s.drop(key)
	return true
}
