package configs

import (
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Limits bound what the clients of a route may take. Each has the key that
// errors and metrics name it by.
type Limits struct {
	MaxDepth int // levels of nesting of a client's message
	MaxBatch int // elements of a batch

	MaxSessions             int // in all
	MaxSessionsPerPrincipal int // of clients with one and the same credentials
	MaxStreams              int // open at once of one session
	MaxCalls                int // under way in one session

	MaxQueuedMessages int  // that wait for the reader of one stream
	MaxQueuedBytes    Size // their size

	HandshakeTimeout time.Duration // for a handshake with the server in all

	// Of the conversations that are kept for stateless clients.
	MaxPooled             int           // in all
	MaxPooledPerPrincipal int           // of clients with one and the same credentials
	PoolIdle              time.Duration // silence of one of them
}

// defaultLimits returns what applies where an operator chose nothing.
func defaultLimits() Limits {
	return Limits{
		MaxDepth:                mcp.MaxDepth,
		MaxBatch:                1000,
		MaxSessions:             10000,
		MaxSessionsPerPrincipal: 1000,
		MaxStreams:              1000,
		MaxCalls:                2000,
		MaxQueuedMessages:       1000,
		MaxQueuedBytes:          1 << 20,
		HandshakeTimeout:        time.Minute,
		MaxPooled:               1000,
		MaxPooledPerPrincipal:   8,
		PoolIdle:                10 * time.Minute,
	}
}

// limits are the keys of a route that bound what clients take.
func (r *Route) limits() object {
	l, o := &r.Limits, &r.Options
	return object{
		{key: mcp.LimitHandshake, value: span{&l.HandshakeTimeout}, doc: "How long a handshake with the server may take in all."},
		{key: mcp.LimitDepth, value: count{&l.MaxDepth}, doc: "Levels of nesting of a message of a client, those of its envelope among them; 16 to 1024. What a server sends may have 1024."},
		{key: mcp.LimitBatch, value: count{&l.MaxBatch}, doc: "Messages in a batch of a client; 10000 at most."},
		{key: mcp.LimitSessions, value: count{&l.MaxSessions}, doc: "Sessions open at once, of all clients; and as many connections of HTTP+SSE, and of WebSocket."},
		{key: mcp.LimitSessionsOfOne, value: count{&l.MaxSessionsPerPrincipal}, doc: "Sessions open at once of clients with the same credentials. Those without credentials are bound by max_sessions alone."},
		{key: mcp.LimitStreams, value: count{&l.MaxStreams}, doc: "Streams open at once of one session over Streamable HTTP: those of its calls, and the standalone one."},
		{key: mcp.LimitCalls, value: count{&l.MaxCalls}, doc: "Calls under way at once in one session."},
		{key: mcp.LimitQueuedMessages, value: count{&l.MaxQueuedMessages}, doc: "Messages that wait for a client that reads one stream slowly, before the server is read no further."},
		{key: mcp.LimitQueuedBytes, value: octets{&l.MaxQueuedBytes}, doc: "The same by their size."},
		{key: mcp.LimitParked, value: count{&o.MaxParked}, doc: "Calls in one conversation of a stateless client that wait for it to come back with answers."},
		{key: mcp.LimitPark, value: span{&o.ParkTimeout}, doc: "How long such a call waits."},
		{key: mcp.LimitPooled, value: count{&l.MaxPooled}, doc: "Conversations with the server that are kept for stateless clients, in all."},
		{key: mcp.LimitPooledOfOne, value: count{&l.MaxPooledPerPrincipal}, doc: "Those of clients with the same credentials."},
		{key: mcp.LimitPoolIdle, value: span{&l.PoolIdle}, doc: "How long such a conversation may be unused before it ends."},
	}
}

func (r Route) checkLimits(p *Problems) {
	l := r.Limits
	for _, d := range []struct {
		field string
		value time.Duration
	}{
		{mcp.LimitConnect, r.ConnectTimeout},
		{mcp.LimitRequest, r.RequestTimeout},
		{mcp.LimitSession, r.SessionTimeout},
		{"keep_alive", r.KeepAlive},
		{mcp.LimitHandshake, l.HandshakeTimeout},
		{mcp.LimitPark, r.Options.ParkTimeout},
		{mcp.LimitPoolIdle, l.PoolIdle},
	} {
		if d.value <= 0 {
			p.noTime(d.field, d.value)
		}
	}
	for _, s := range []struct {
		field string
		value Size
		as    string
	}{{mcp.LimitBody, r.MaxBody, "64MiB"}, {mcp.LimitQueuedBytes, l.MaxQueuedBytes, "1MiB"}} {
		if s.value <= 0 {
			p.add(s.field, "%d is no size; write one above zero, as %s", s.value, s.as)
		}
	}
	r.checkCounts(p)
}

func (r Route) checkCounts(p *Problems) {
	l := r.Limits
	for _, n := range []struct {
		field            string
		value, low, high int // high 0 is no bound
	}{
		{mcp.LimitDepth, l.MaxDepth, mcp.MinDepth, mcp.MaxDepth},
		{mcp.LimitBatch, l.MaxBatch, 1, mcp.MaxBatch},
		{mcp.LimitSessions, l.MaxSessions, 1, 0},
		{mcp.LimitSessionsOfOne, l.MaxSessionsPerPrincipal, 1, 0},
		{mcp.LimitStreams, l.MaxStreams, 1, 0},
		{mcp.LimitCalls, l.MaxCalls, 1, 0},
		{mcp.LimitQueuedMessages, l.MaxQueuedMessages, 1, 0},
		{mcp.LimitParked, r.Options.MaxParked, 1, 0},
		{mcp.LimitPooled, l.MaxPooled, 1, 0},
		{mcp.LimitPooledOfOne, l.MaxPooledPerPrincipal, 1, 0},
	} {
		switch {
		case n.value < n.low:
			p.add(n.field, "%d is too few; write %d or more", n.value, n.low)
		case n.high > 0 && n.value > n.high:
			p.add(n.field, "%d is too many; write %d or less", n.value, n.high)
		}
	}
	d := defaultLimits()
	atMost(p, mcp.LimitSessionsOfOne, l.MaxSessionsPerPrincipal, d.MaxSessionsPerPrincipal, mcp.LimitSessions, l.MaxSessions)
	atMost(p, mcp.LimitPooledOfOne, l.MaxPooledPerPrincipal, d.MaxPooledPerPrincipal, mcp.LimitPooled, l.MaxPooled)
}

// atMost reports a limit of one that is above the limit of all. The default is
// no mistake of the operator's, who chose fewer for all: it means nothing then.
func atMost(p *Problems, field string, one, byDefault int, all string, most int) {
	if one > most && one != byDefault {
		p.add(field, "%d is more than all may have together, %s: %d; lower it or raise that", one, all, most)
	}
}
