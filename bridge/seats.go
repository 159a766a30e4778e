package bridge

import (
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

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
func (b *Bridge) sit(c *conversation, shown proof) (limit string) {
	s := &seat{who: c.owner.principal, anonymous: shown.anonymous()}
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
