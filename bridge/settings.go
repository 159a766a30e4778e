package bridge

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
)

// Settings are what a Bridge is made of.
type Settings struct {
	Ladder rewrite.Ladder
	// Dial opens a conversation with the upstream; it does no I/O yet.
	Dial func() transports.Upstream
	// Era is what the upstream speaks, where the operator knows.
	Era negotiate.Era
	// Shared lets all sessions use one conversation with the upstream.
	Shared bool
	// UpstreamTransport is the name of its transport, for metrics.
	UpstreamTransport string
	Upstream          string // the upstream's address without credentials, for messages
	Deps              rewrite.Deps
	Options           mcp.Options
	// ClientVersions are the versions served to clients and UpstreamVersions
	// those offered to the server, oldest first. Empty means the whole ladder.
	ClientVersions, UpstreamVersions []mcp.Version
	Credentials                      mcp.Credentials
	// RequestTimeout is how long the server may stay silent on a request,
	// HandshakeTimeout how long a handshake may take in all, SessionTimeout how
	// long a session may stay unused.
	RequestTimeout, HandshakeTimeout, SessionTimeout time.Duration
	MaxSessions                                      int
	StreamBytes                                      int // queued for one stream before its reader pauses
	MaxBatch                                         int // elements of a batch
	Observer                                         Observer
	Log                                              zerolog.Logger
}

func (s Settings) withDefaults() Settings {
	if len(s.ClientVersions) == 0 {
		s.ClientVersions = s.Ladder.Versions()
	}
	if len(s.UpstreamVersions) == 0 {
		s.UpstreamVersions = s.Ladder.Handshakes().Versions()
	}
	if s.Credentials == "" {
		s.Credentials = mcp.CredentialsForward
	}
	if s.UpstreamTransport == "" {
		s.UpstreamTransport = streamable.Name
	}
	for _, d := range []struct {
		value    *time.Duration
		fallback time.Duration
	}{
		{&s.RequestTimeout, 10 * time.Minute},
		{&s.HandshakeTimeout, time.Minute},
		{&s.SessionTimeout, time.Hour},
	} {
		if *d.value == 0 {
			*d.value = d.fallback
		}
	}
	for _, d := range []struct {
		value    *int
		fallback int
	}{
		{&s.MaxSessions, 10000}, {&s.StreamBytes, 1 << 20}, {&s.MaxBatch, 1000},
	} {
		if *d.value == 0 {
			*d.value = d.fallback
		}
	}
	return s
}
