package bridge

import (
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// retire makes the bridge end the conversations of stateless clients as soon
// as nobody uses them: their next requests go elsewhere.
func (b *Bridge) retire() {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	b.pool.retired = true
	for _, m := range b.pool.members {
		if m.users == 0 && m.c != nil && m.failure == nil {
			b.reapSoon(m)
		}
	}
}

// inUse reports whether anybody is served here.
func (b *Bridge) inUse() bool {
	b.mu.Lock()
	used := len(b.sessions) > 0 || b.pipes > 0
	b.mu.Unlock()
	if used || b.visits.Load() > 0 {
		return true
	}
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	return len(b.pool.members) > 0
}

// holds reports whether an exchange goes on with what began here: it names a
// session, also one that its client ended, or comes back to a call.
func (b *Bridge) holds(x *transports.Exchange) bool {
	if x.Session != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.sessions[x.Session] != nil || b.recovered(x) != nil || b.recoveries.wasEnded(x.Session)
	}
	if x.Frame == nil || x.Frame.Batch || len(x.Frame.Items) != 1 || x.Frame.Items[0].Message == nil {
		return false
	}
	m := x.Frame.Items[0].Message
	if m.Kind != mcp.Request || m.Body == nil || !m.Body.Has("requestState") {
		return false
	}
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	return b.parkedAt(b.ownerOf(proofOf(x)), m) != nil
}
