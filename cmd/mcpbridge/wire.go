package main

import (
	"context"
	"net/http"
	"slices"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/internal/schema"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/metrics"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/detect"
	"github.com/mcpbridge/mcpbridge/transports/sse"
	"github.com/mcpbridge/mcpbridge/transports/stdio"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
	"github.com/mcpbridge/mcpbridge/transports/web"
	"github.com/mcpbridge/mcpbridge/transports/websocket"
)

// knownVersions lists the protocol versions that the bridge speaks, oldest
// first.
func knownVersions() []mcp.Version { return rewrite.Standard().Versions() }

// newEngine joins the client side, the bridge and the server side.
func newEngine(cfg configs.Config, guard *transports.Guard, m *metrics.Metrics, log zerolog.Logger) (engine, error) {
	upstream, err := newUpstream(cfg, m, log)
	if err != nil {
		return engine{}, err
	}
	b := bridge.New(bridge.Settings{
		Ladder:            rewrite.Standard(),
		Dial:              upstream.Conversation,
		UpstreamTransport: transportName(cfg),
		Shared:            cfg.StdioMode == configs.Shared,
		Upstream:          cfg.UpstreamName(),
		Deps:              rewrite.Deps{Validate: schema.Validate},
		Options:           cfg.Options,
		ClientVersions:    oldestFirst(cfg.ClientVersions),
		UpstreamVersions:  handshakes(cfg.UpstreamVersion),
		Era:               era(cfg),
		Credentials:       cfg.EffectiveCredentials(),
		RequestTimeout:    cfg.RequestTimeout,
		SessionTimeout:    cfg.SessionTimeout,
		Observer:          m,
		Log:               log,
	})
	refused := func(status int) { m.Failed(mcp.Client, http.StatusText(status)) }
	limits := web.Limits{MaxBody: cfg.MaxBody, KeepAlive: cfg.KeepAlive, Refused: refused}
	e := engine{
		endpoint: streamable.NewServer(b, guard, limits),
		pipes:    b,
		ready:    b.Ready,
		close: func(ctx context.Context) error {
			defer upstream.CloseIdleConnections()
			return b.Close(ctx)
		},
	}
	e = suit(e, upstream)
	if stream, messages, ok := cfg.SSE(); ok {
		s := sse.NewServer(b, guard, sse.ServerConfig{Limits: limits, MessagePath: messages, BasePath: cfg.BasePath, Owns: b.Owns})
		e.further, e.leave = map[string]http.Handler{stream: s.Stream(), messages: s.Messages()}, s.Leave
	}
	return withSockets(e, cfg, guard, refused), nil
}

// suit lets an engine care for its upstream as the transport asks for.
func suit(e engine, upstream upstreamClient) engine {
	switch c := upstream.(type) {
	case child:
		return c.watch(e)
	case *sse.Client:
		e.ready = c.Reach
	case sockets:
		e.ready = c.Reach
	}
	return e
}

// upstreamClient is a client of the MCP server by any transport.
type upstreamClient interface {
	Conversation() transports.Upstream
	CloseIdleConnections()
}

// transportName is what metrics call a transport that was chosen.
func transportName(cfg configs.Config) string {
	switch {
	case cfg.Command.Given():
		return stdio.Name
	case cfg.UpstreamSocket():
		return websocket.Name
	case cfg.UpstreamTransport == configs.TransportSSE:
		return sse.Name
	}
	return streamable.Name
}

func newUpstream(cfg configs.Config, m *metrics.Metrics, log zerolog.Logger) (upstreamClient, error) {
	if cfg.Command.Given() {
		return newChild(cfg, m, log), nil
	}
	site := web.SiteConfig{
		Header:      cfg.Headers,
		MaxMessage:  int(cfg.MaxBody),
		DialTimeout: cfg.ConnectTimeout,
		Garbage:     func(reason string) { m.Failed(mcp.Server, reason) },
	}
	if cfg.UpstreamSocket() {
		return newSockets(cfg.Upstream, site)
	}
	older := sse.ClientConfig{SiteConfig: site, EndpointTimeout: cfg.ConnectTimeout, MessageURL: cfg.UpstreamMessageURL}
	switch cfg.UpstreamTransport {
	case configs.TransportStreamable:
		return streamable.NewClient(cfg.Upstream, site)
	case configs.TransportSSE:
		return sse.NewClient(cfg.Upstream, older)
	}
	return detect.NewClient(cfg.Upstream, older)
}

func oldestFirst(versions []mcp.Version) []mcp.Version {
	return slices.Compact(slices.Sorted(slices.Values(versions)))
}

// handshakes returns what may be offered in a handshake where only v may be;
// an empty list is all.
func handshakes(v mcp.Version) []mcp.Version {
	if v == "" || isStateless(v) {
		return nil
	}
	return []mcp.Version{v}
}

func isStateless(v mcp.Version) bool {
	return rewrite.Standard().Traits(v).Opening == mcp.Discover
}

// era returns the era that the operator names, by itself or by a version.
func era(cfg configs.Config) negotiate.Era {
	switch {
	case cfg.UpstreamEra == configs.EraModern, cfg.UpstreamVersion != "" && isStateless(cfg.UpstreamVersion):
		return negotiate.Stateless
	case cfg.UpstreamEra == configs.EraLegacy, cfg.UpstreamVersion != "":
		return negotiate.Legacy
	}
	return negotiate.Unknown
}
