package main

import (
	"context"
	"net/http"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/internal/oauth"
	"github.com/mcpbridge/mcpbridge/metrics"
	"github.com/mcpbridge/mcpbridge/transports"
)

// engine serves one route, as the listeners see it.
type engine struct {
	endpoint http.Handler
	// events, messages and sockets are the endpoints of HTTP+SSE and WebSocket;
	// nil where the route has none.
	events, messages, sockets http.Handler
	pipes                     transports.PipeHost         // serves clients on one pipe
	leave                     func()                      // ends streams that wait for nothing; may be nil
	wait                      func(context.Context) error // for the end of connections that are no HTTP any more; may be nil
	ready                     func(context.Context) error // nil error when the upstream answered
	close                     func(context.Context) error // ends all sessions
	// change makes what a changed route needs, and returns what puts it to
	// work: for new sessions, while running ones keep what they have. nil
	// where a route cannot change.
	change func(configs.Route, common) (commit func(), err error)
	// holds reports whether a request is about a session that this engine has;
	// nil where a route cannot change.
	holds func(*http.Request) bool
	// finish takes no new sessions any more; nil where a route cannot change.
	finish func()
	// settle ends what a change left behind and nobody uses any more, and
	// reports whether anybody is served at all; nil where a route cannot change.
	settle func(context.Context) (used bool)
	// pool counts the conversations of stateless clients by state; may be nil.
	pool func() map[string]int
	// login tells where clients log in; may be nil.
	login func() *oauth.Discovery
}

// common is what the engines of all routes share, but for the metrics, which
// are those of the route.
type common struct {
	guard   *transports.Guard // nil without an endpoint: there is nobody to admit
	metrics *metrics.Metrics
	log     zerolog.Logger
	keys    []string
	// at tells where a request reached the bridge, as its client sees it.
	at func(*http.Request) oauth.At
	// clientCAFile holds the authorities of the clients' certificates.
	clientCAFile string

	share     string // names the upstream where there are several
	maxHeader int    // bytes of a request's header; 0 is no bound
}

// observer counts for the upstream of a bridge.
func (c common) observer() bridge.Observer {
	if c.share != "" {
		return c.metrics.Of(c.share)
	}
	return c.metrics
}

// engineBuilder makes the engine of a route.
type engineBuilder func(configs.Route, common) (engine, error)
