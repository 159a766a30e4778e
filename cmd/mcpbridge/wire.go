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
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
)

// knownVersions lists the protocol versions that the bridge speaks, oldest
// first.
func knownVersions() []mcp.Version { return rewrite.Standard().Versions() }

// newEngine joins the client side, the bridge and the server side.
func newEngine(cfg configs.Config, guard *transports.Guard, m *metrics.Metrics, log zerolog.Logger) (engine, error) {
	upstream, err := streamable.NewClient(cfg.Upstream, streamable.ClientConfig{
		Header:      cfg.Headers,
		MaxMessage:  int(cfg.MaxBody),
		DialTimeout: cfg.ConnectTimeout,
		Garbage:     func(reason string) { m.Failed(mcp.Server, reason) },
	})
	if err != nil {
		return engine{}, err
	}
	b := bridge.New(bridge.Settings{
		Ladder:           rewrite.Standard(),
		Dial:             upstream.Conversation,
		Upstream:         configs.Redacted(cfg.Upstream),
		Deps:             rewrite.Deps{Validate: schema.Validate},
		Options:          cfg.Options,
		ClientVersions:   oldestFirst(cfg.ClientVersions),
		UpstreamVersions: only(cfg.UpstreamVersion),
		Credentials:      cfg.EffectiveCredentials(),
		RequestTimeout:   cfg.RequestTimeout,
		SessionTimeout:   cfg.SessionTimeout,
		Observer:         m,
		Log:              log,
	})
	return engine{
		endpoint: streamable.NewServer(b, guard, streamable.ServerConfig{MaxBody: cfg.MaxBody, KeepAlive: cfg.KeepAlive}),
		ready:    b.Ready,
		close: func(ctx context.Context) error {
			defer upstream.CloseIdleConnections()
			return b.Close(ctx)
		},
	}, nil
}

func oldestFirst(versions []mcp.Version) []mcp.Version {
	return slices.Compact(slices.Sorted(slices.Values(versions)))
}

// only returns a list of that version; none is an empty one.
func only(v mcp.Version) []mcp.Version {
	if v == "" {
		return nil
	}
	return []mcp.Version{v}
}
