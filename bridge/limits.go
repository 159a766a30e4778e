package bridge

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/eventstream"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// exceeds refuses what there is no room for now: the text names the limit and
// its value, and says what to do.
func (b *Bridge) exceeds(status int, id mcp.ID, limit, format string, args ...any) transports.Reply {
	b.Observer.Limited(limit)
	r := b.refuse(status, mcp.Errorf(mcp.CodeInternal, format, args...), id)
	r.Header = http.Header{"Retry-After": {transports.RetryAfter}}
	return r
}

// faulty refuses a frame for what is wrong with it.
func (b *Bridge) faulty(f *mcp.Fault) transports.Reply {
	if f.Limit != "" {
		b.Observer.Limited(f.Limit)
	}
	return b.refuse(http.StatusBadRequest, &f.Error, f.ID)
}

func (b *Bridge) limited(limit string) { b.Observer.Limited(limit) }

// newStream returns a stream to a client.
func (b *Bridge) newStream() *transports.Stream {
	return transports.Room{Messages: b.StreamMessages, Bytes: b.StreamBytes, Waited: b.limited}.NewStream()
}

// reached counts the limit that an error of the server's leg comes from, if it
// comes from one.
func (b *Bridge) reached(err error) {
	if limit := limitOf(err); limit != "" {
		b.Observer.Limited(limit)
	}
}

func limitOf(err error) string {
	var unreachable *transports.Unreachable
	switch {
	case isTooLarge(err):
		return mcp.LimitBody
	case errors.Is(err, errSilent):
		return mcp.LimitRequest
	case errors.As(err, &unreachable) && isTimeout(err):
		return mcp.LimitConnect
	case errors.Is(err, context.DeadlineExceeded): // only a handshake has a deadline
		return mcp.LimitHandshake
	}
	return ""
}

func isTooLarge(err error) bool {
	return errors.Is(err, web.ErrTooLarge) || errors.Is(err, eventstream.ErrTooLarge)
}

func isTimeout(err error) bool {
	var late net.Error
	return errors.As(err, &late) && late.Timeout()
}

// seats counts the sessions, those that are about to open among them. Clients
// without credentials are not one principal. The bridge's lock guards it.
type seats struct {
	taken int
	of    map[principal]int
}

// seat is what a session takes of them.
type seat struct {
	who       principal
	anonymous bool
}

// sit lets a session open; otherwise it returns the key of the limit that
// stands against it.
func (b *Bridge) sit(c *conversation, h http.Header) (limit string) {
	s := &seat{who: c.owner.principal, anonymous: h.Get("Authorization") == ""}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.seats.taken >= b.MaxSessions:
		return mcp.LimitSessions
	case !s.anonymous && b.seats.of[s.who] >= b.MaxSessionsPerPrincipal:
		return mcp.LimitSessionsOfOne
	}
	if b.seats.taken++; !s.anonymous {
		b.seats.of[s.who]++
	}
	c.seat = s
	return ""
}

// stand gives the place of a session that ends to others.
func (b *Bridge) stand(c *conversation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := c.seat
	if c.seat = nil; s == nil {
		return
	}
	if b.seats.taken--; s.anonymous {
		return
	}
	if b.seats.of[s.who]--; b.seats.of[s.who] == 0 {
		delete(b.seats.of, s.who)
	}
}

// noSeat refuses an initialize for want of room.
func (b *Bridge) noSeat(m *mcp.Message, limit string) *transports.Reply {
	var r transports.Reply
	if limit == mcp.LimitSessionsOfOne {
		r = b.exceeds(http.StatusTooManyRequests, m.ID, limit, "%d sessions are open for these credentials, the limit %s; end one, or try again later", b.MaxSessionsPerPrincipal, limit)
	} else {
		r = b.exceeds(http.StatusServiceUnavailable, m.ID, limit, "%d sessions are open, the limit %s; try again later", b.MaxSessions, limit)
	}
	return &r
}

// Bound limits the calls under way of the session and its open streams; 0 is
// no limit.
func (s *Session) Bound(calls, streams int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.maxCalls, s.maxStreams = calls, streams
}

// crowded returns the error for a request for which there is no room, nil if
// there is. A ping, which is answered at once, is always taken. It is called
// under the lock.
func (s *Session) crowded(m *mcp.Message, t *Turn) *mcp.Error {
	switch {
	case m.Method == mcp.Ping:
	case s.maxCalls > 0 && len(s.calls) >= s.maxCalls:
		s.watch.Limited(mcp.LimitCalls)
		return mcp.Errorf(mcp.CodeInternal, "the session has %d calls under way, the limit %s; wait for answers", len(s.calls), mcp.LimitCalls)
	case s.noStreamFor(t):
		return s.noStream()
	}
	return nil
}

func (s *Session) noStream() *mcp.Error {
	s.watch.Limited(mcp.LimitStreams)
	return mcp.Errorf(mcp.CodeInternal, "the session has %d streams open, the limit %s; wait for answers", s.maxStreams, mcp.LimitStreams)
}

// noStreamFor reports whether the stream of a turn would be one too many. A
// stream that is open has a call, but for the standalone one: where there are
// few calls nothing needs to be counted.
func (s *Session) noStreamFor(t *Turn) bool {
	if s.maxStreams <= 0 || t.shared || len(s.calls)+1 < s.maxStreams {
		return false
	}
	open := map[*Turn]bool{}
	for _, c := range s.calls {
		if c.turn != nil && !c.turn.shared {
			open[c.turn] = true
		}
	}
	if s.standalone != nil && !s.standalone.shared && s.standalone.Stream.Open() {
		open[s.standalone] = true
	}
	return !open[t] && len(open) >= s.maxStreams
}

// mayListen returns why the session may not have a standalone stream, nil if it
// may. One that it has makes room for the next.
func (s *Session) mayListen() *mcp.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.standalone != nil && s.standalone.Stream.Open() || !s.noStreamFor(&Turn{}) {
		return nil
	}
	return s.noStream()
}

// turnAway answers a request for which there is no room. Clients of revisions
// with sessions take a status that refuses for the end of the connection, so
// only the others are given one.
func (s *Session) turnAway(m *mcp.Message, t *Turn, why *mcp.Error) {
	m.Call = s.newKey()
	answer := why.Failure(m.ID)
	answer.Method = m.Method
	s.watch.Failed(mcp.Client, "no_room")
	refusal := transports.Reply{Status: http.StatusTooManyRequests, Message: answer, Header: http.Header{"Retry-After": {transports.RetryAfter}}}
	if !s.standsAlone || t.shared || !t.Stream.Refuse(refusal) {
		t.Stream.Push(answer)
	}
}

// noConversation refuses a stateless request for want of room in the pool.
func (b *Bridge) noConversation(m *mcp.Message, key poolKey) transports.Reply {
	b.pool.mu.Lock()
	limit := b.pool.over(key)
	b.pool.mu.Unlock()
	if limit == mcp.LimitPooledOfOne {
		return b.exceeds(http.StatusTooManyRequests, m.ID, limit, "%d conversations are held for these credentials and all are in use, the limit %s; wait for answers", b.MaxPooledPerPrincipal, limit)
	}
	return b.exceeds(http.StatusServiceUnavailable, m.ID, mcp.LimitPooled, "%d conversations are held and all are in use, the limit %s; try again later", b.MaxPooled, mcp.LimitPooled)
}
