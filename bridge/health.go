package bridge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/transports"
)

// health remembers when the upstream last said anything.
type health struct {
	mu   sync.Mutex
	last time.Time
}

// healthFresh is how long an answer proves that the upstream is there.
const healthFresh = 15 * time.Second

func (h *health) answered(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = now
}

func (h *health) fresh(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.last.IsZero() && now.Sub(h.last) < healthFresh
}

// Ready returns nil when the upstream answers. It asks by a ping outside of
// any session, which opens none there: a refusal is an answer too. A server that
// may be stateless gets it as one: it must not be sent anything else.
func (b *Bridge) Ready(ctx context.Context) error {
	if b.health.fresh(time.Now()) {
		return nil
	}
	u := b.Dial()
	defer func() { _ = u.Close(ctx) }() // it holds no session
	var params *mcp.Object
	if versions := b.statelessVersions(); b.Era != negotiate.Legacy && len(versions) > 0 {
		version := versions[len(versions)-1]
		params = stamps(version, nil, mcp.NewObject())
		u.Agree(version, b.Ladder.Traits(version))
	}
	ping := mcp.NewRequest(mcp.Ping, params)
	ping.ID = mcp.IntID(1)
	err := u.Send(ctx, ping, transports.Outgoing{Receive: func(*mcp.Message) {}})
	var refusal *mcp.Refusal
	switch {
	case err == nil, errors.Is(err, transports.ErrNoAnswer), errors.Is(err, transports.ErrSessionGone):
	case errors.As(err, &refusal) && refusal.Status < 500:
	default:
		return fmt.Errorf("the upstream %s does not answer: %w", b.Upstream, err)
	}
	b.health.answered(time.Now())
	return nil
}
