package main

import (
	"context"
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

// newBridge makes the bridge of a route with one server, and its upstream.
func newBridge(r configs.Route, c common) (*bridge.Bridge, upstreamClient, error) {
	upstream, err := newUpstream(r, c.metrics, c.log)
	if err != nil {
		return nil, nil, err
	}
	b := bridge.New(bridge.Settings{
		Ladder:            rewrite.Standard(),
		Dial:              upstream.Conversation,
		UpstreamTransport: transportName(r),
		Several:           c.share != "",
		Shared:            r.StdioMode == configs.Shared,
		SharedInteractive: r.Serializes(),
		Upstream:          r.UpstreamName(),
		Deps:              rewrite.Deps{Validate: schema.Validate},
		Options:           r.Options,
		Clients:           clientRules(r.Clients),
		Probe:             r.Probe,
		RecoverSessions:   r.RecoverSessions,
		Rebind:            r.SessionRebind == configs.RebindUpstreamAccepts,
		ClientVersions:    oldestFirst(r.ClientVersions),
		UpstreamVersions:  handshakes(r.UpstreamVersion),
		Era:               era(r),
		Credentials:       r.EffectiveCredentials(),
		Headers:           r.HeaderRules(),
		Secrets:           c.keys,
		RequestTimeout:    r.RequestTimeout,
		SessionTimeout:    r.SessionTimeout,
		HandshakeTimeout:  r.HandshakeTimeout,
		ConnectTimeout:    r.ConnectTimeout,

		MaxSessions:             r.MaxSessions,
		MaxSessionsPerPrincipal: r.MaxSessionsPerPrincipal,
		MaxStreams:              r.MaxStreams,
		MaxCalls:                r.MaxCalls,
		MaxBatch:                r.MaxBatch,
		StreamBytes:             int(r.MaxQueuedBytes),
		StreamMessages:          r.MaxQueuedMessages,
		MaxPooled:               r.MaxPooled,
		MaxPooledPerPrincipal:   r.MaxPooledPerPrincipal,
		PoolIdle:                r.PoolIdle,

		Observer: c.observer(),
		Log:      c.log,
	})
	return b, upstream, nil
}

// garbage counts what a server sends that is no message, or too much of one.
func garbage(m *metrics.Metrics) func(reason string) {
	return func(reason string) {
		if m.Failed(mcp.Server, reason); reason == transports.TooLarge {
			m.Limited(mcp.LimitBody)
		}
	}
}

func clientRules(clients []configs.Client) []bridge.ClientRule {
	var rules []bridge.ClientRule
	for _, c := range clients {
		rules = append(rules, bridge.ClientRule{
			Match: c.Match, Options: c.Options, RequestTimeout: c.RequestTimeout, UpstreamVersions: oldestFirst(c.UpstreamVersions),
		})
	}
	return rules
}

// readiness returns how the transport asks whether the upstream is there.
func readiness(b *bridge.Bridge, upstream upstreamClient) func(context.Context) error {
	switch c := upstream.(type) {
	case child:
		return c.Ready
	case *sse.Client:
		return c.Reach
	case sockets:
		return c.Reach
	}
	return b.Ready
}

// upstreamClient is a client of the MCP server by any transport.
type upstreamClient interface {
	Conversation() transports.Upstream
	CloseIdleConnections()
}

// transportName is what metrics call a transport that was chosen.
func transportName(r configs.Route) string {
	switch {
	case r.Command.Given():
		return stdio.Name
	case r.UpstreamSocket():
		return websocket.Name
	case r.UpstreamTransport == configs.TransportSSE:
		return sse.Name
	}
	return streamable.Name
}

func newUpstream(r configs.Route, m *metrics.Metrics, log zerolog.Logger) (upstreamClient, error) {
	if r.Command.Given() {
		return newChild(r, m, log), nil
	}
	site, err := siteOf(r)
	if err != nil {
		return nil, err
	}
	site.Garbage = garbage(m)
	if r.UpstreamSocket() {
		return newSockets(r.Upstream, site)
	}
	older := sse.ClientConfig{SiteConfig: site, EndpointTimeout: r.ConnectTimeout, MessageURL: r.UpstreamMessageURL}
	switch r.UpstreamTransport {
	case configs.TransportStreamable:
		return streamable.NewClient(r.Upstream, site)
	case configs.TransportSSE:
		return sse.NewClient(r.Upstream, older)
	}
	return detect.NewClient(r.Upstream, older)
}

// siteOf says how a server at a URL is reached.
func siteOf(r configs.Route) (web.SiteConfig, error) {
	trust, err := r.UpstreamTLS()
	return web.SiteConfig{Header: r.Headers, TLS: trust, MaxMessage: int(r.MaxBody), DialTimeout: r.ConnectTimeout}, err
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
func era(r configs.Route) negotiate.Era {
	switch {
	case r.UpstreamEra == configs.EraModern, r.UpstreamVersion != "" && isStateless(r.UpstreamVersion):
		return negotiate.Stateless
	case r.UpstreamEra == configs.EraLegacy, r.UpstreamVersion != "":
		return negotiate.Legacy
	}
	return negotiate.Unknown
}
