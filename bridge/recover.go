package bridge

import (
	"context"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/transports"
)

// recoveries are the sessions that were opened for requests which named one
// that is gone. Clients of revisions with sessions often keep the id that
// their initialize brought, whatever later answers say, so the old id leads to
// the new session: for the principal that used it, and nobody else.
type recoveries struct {
	mu    sync.Mutex
	known map[recoveryKey]*recovery
	ended map[string]bool // ids that their clients ended, the last ones
	order []string        // of ended
}

// recoveryKey is an id that is gone, in the hands of one principal: what it
// leads to is that principal's own, whoever had it before.
type recoveryKey struct {
	principal principal
	id        string
}

type recovery struct {
	ready   chan struct{} // closed when c or the refusal is set
	c       *conversation
	refusal *transports.Reply
}

// maxEnded bounds the ids of which it is remembered that they were ended.
const maxEnded = 10000

// recovered returns the session that an exchange's old id leads to by now.
func (b *Bridge) recovered(x *transports.Exchange) *conversation {
	if !b.RecoverSessions {
		return nil
	}
	r := &b.recoveries
	r.mu.Lock()
	defer r.mu.Unlock()
	if found := r.known[recoveryKey{b.principalOf(proofOf(x)), x.Session}]; found != nil {
		return found.c
	}
	return nil
}

// replace opens a session for an exchange whose own is gone, so that it is
// found from then on. A reply says that the exchange is over. Nothing that
// another principal has is touched: to whom a living session does not belong
// it is still not there.
func (b *Bridge) replace(ctx context.Context, x *transports.Exchange) *transports.Reply {
	if !b.recoverable(x) {
		return nil
	}
	switch requests, others := kindsOf(x.Frame); {
	case requests > 0:
	case others > 0: // it can only be about what is gone
		return &transports.Reply{Status: http.StatusAccepted}
	default:
		return nil
	}
	key := recoveryKey{b.principalOf(proofOf(x)), x.Session}
	found, first := b.recoveries.enter(key)
	if first {
		b.openAnew(context.WithoutCancel(ctx), key, found, x)
	}
	select {
	case <-found.ready:
	case <-ctx.Done():
		return &transports.Reply{Status: http.StatusServiceUnavailable}
	}
	if found.refusal == nil {
		return nil
	}
	r := *found.refusal
	if r.Message != nil && r.Status == http.StatusOK { // of another status the id would mislead: see gone
		again := *r.Message
		again.ID = firstID(x.Frame)
		r.Message = &again
	}
	return &r
}

// recoverable reports whether an exchange names a session that was here, is
// not any more, and was not ended by its client.
func (b *Bridge) recoverable(x *transports.Exchange) bool {
	if !b.RecoverSessions || !isSessionID(x.Session) || len(b.handshakes()) == 0 || !negotiate.Header(x.Version, b.Ladder.Versions()) {
		return false
	}
	if !x.Frame.Batch && x.Frame.Items[0].Message != nil && x.Frame.Items[0].Message.Method == mcp.Initialize {
		return false
	}
	b.mu.Lock()
	living := b.sessions[x.Session] != nil
	b.mu.Unlock()
	return !living && !b.recoveries.wasEnded(x.Session)
}

// isSessionID reports whether a text could be an id that a bridge gave out.
func isSessionID(id string) bool {
	return len(id) == 26 && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// kindsOf counts the requests of a frame, and its other messages.
func kindsOf(f *mcp.Frame) (requests, others int) {
	for _, i := range f.Items {
		switch {
		case i.Message == nil:
		case i.Message.Kind == mcp.Request:
			requests++
		default:
			others++
		}
	}
	return requests, others
}

// enter finds or makes the place of a key; first is true for who must fill it.
func (r *recoveries) enter(key recoveryKey) (found *recovery, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found = r.known[key]; found != nil {
		return found, false
	}
	if r.known == nil {
		r.known = map[recoveryKey]*recovery{}
	}
	found = &recovery{ready: make(chan struct{})}
	r.known[key] = found
	return found, true
}

// openAnew opens the session. What its client said of itself is not known any
// more: the server is told of no capability, so it can ask nothing.
func (b *Bridge) openAnew(ctx context.Context, key recoveryKey, place *recovery, x *transports.Exchange) {
	defer close(place.ready)
	params := mcp.MustObject(`{"capabilities":{},"clientInfo":{"name":"mcpbridge","version":"1"}}`)
	params.Set("protocolVersion", mcp.Quote(string(b.versionOf(x))))
	c, _, refusal := b.establish(ctx, x, mcp.NewRequest(mcp.Initialize, params), &key)
	if refusal == nil {
		c.Session.askFrom(1<<20 + rand.Int64N(1<<30)) // no late answer to the old session's questions may fit
	}
	b.recoveries.mu.Lock()
	place.c, place.refusal = c, refusal
	if refusal != nil {
		delete(b.recoveries.known, key)
	}
	b.recoveries.mu.Unlock()
	b.mu.Lock()
	over := c != nil && b.sessions[c.id] != c
	b.mu.Unlock()
	if over { // before it was found
		b.recoveries.forget(key, c)
	}
}

// versionOf is the revision that a request without a handshake speaks: that of
// its header, and without one the newest that has no such header
// (basic/transports "Protocol Version Header").
func (b *Bridge) versionOf(x *transports.Exchange) mcp.Version {
	served := b.handshakes()
	if slices.Contains(served, mcp.Version(x.Version)) {
		return mcp.Version(x.Version)
	}
	for _, v := range slices.Backward(served) {
		if !b.Ladder.Traits(v).VersionHeader {
			return v
		}
	}
	return served[0]
}

// forget lets an old id lead nowhere, once its session is over.
func (r *recoveries) forget(key recoveryKey, c *conversation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found := r.known[key]; found != nil && found.c == c {
		delete(r.known, key)
	}
}

// ids are those by which its client may name the session.
func (c *conversation) ids() []string {
	if c.replaces != nil {
		return []string{c.id, c.replaces.id}
	}
	return []string{c.id}
}

// end notes that a client ended its session: nothing takes the place of that.
func (r *recoveries) end(ids ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		r.ended = map[string]bool{}
	}
	for _, id := range ids {
		if r.ended[id] {
			continue
		}
		if len(r.order) >= maxEnded {
			delete(r.ended, r.order[0])
			r.order = r.order[1:]
		}
		r.ended[id] = true
		r.order = append(r.order, id)
	}
}

func (r *recoveries) wasEnded(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended[id]
}

// askFrom sets the id that the next question to the client comes after.
func (s *Session) askFrom(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID = id
}
