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
	// Several says that the upstream is one of several: what a server without
	// sessions gives its clients to carry is sealed, so that it comes back to it.
	Several bool
	// Shared lets all sessions use one conversation with the upstream.
	Shared bool
	// SharedInteractive lets a shared upstream ask its clients, for which the
	// calls that may ask take turns.
	SharedInteractive bool
	// UpstreamTransport is the name of its transport, for metrics.
	UpstreamTransport string
	Upstream          string // the upstream's address without credentials, for messages
	Deps              rewrite.Deps
	Options           mcp.Options
	// Clients are rules for some clients; the first that fits takes the place of
	// Options and what else it has. They must be valid.
	Clients []ClientRule
	// Probe says how a server of unknown era is asked what it is; empty is
	// [negotiate.ProbeAuto].
	Probe negotiate.Probe
	// RecoverSessions opens a new session for a request that names one which is
	// not known any more, instead of refusing it.
	RecoverSessions bool
	// ClientVersions are the versions served to clients and UpstreamVersions
	// those offered to the server, oldest first. Empty means the whole ladder.
	ClientVersions, UpstreamVersions []mcp.Version
	Credentials                      mcp.Credentials
	// Headers say which of the clients' headers the upstream gets.
	Headers mcp.HeaderRules
	// Rebind gives a session to whoever comes with another credential that the
	// upstream takes on it. Then an id that leaked is worth something to everybody
	// whom the upstream lets in.
	Rebind bool
	// Secrets seal what clients carry for the bridge, the current one first.
	Secrets []string
	// RequestTimeout is how long the server may stay silent on a request,
	// HandshakeTimeout how long a handshake may take in all, SessionTimeout how
	// long a session may stay unused.
	RequestTimeout, HandshakeTimeout, SessionTimeout time.Duration
	// ConnectTimeout is how long Dial gives the server, for messages; 0 is not
	// known.
	ConnectTimeout time.Duration

	MaxSessions             int // in all, and of one principal; clients without credentials are not one
	MaxSessionsPerPrincipal int
	MaxStreams              int // open at once of one session
	MaxCalls                int // under way in one session
	MaxBatch                int // elements of a batch
	StreamBytes             int // queued for one stream before its reader pauses
	StreamMessages          int // the same in messages

	// MaxPooled are conversations of stateless clients in all, of one principal
	// MaxPooledPerPrincipal; one that is not used for PoolIdle ends.
	MaxPooled, MaxPooledPerPrincipal int
	PoolIdle                         time.Duration
	Observer                         Observer
	Log                              zerolog.Logger
}

func (s Settings) withDefaults() Settings {
	if len(s.ClientVersions) == 0 {
		s.ClientVersions = s.Ladder.Versions()
	}
	if len(s.UpstreamVersions) == 0 {
		s.UpstreamVersions = s.Ladder.Handshakes().Versions()
	}
	s.SharedInteractive = s.SharedInteractive && s.Shared
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
		{&s.PoolIdle, 10 * time.Minute},
	} {
		if *d.value == 0 {
			*d.value = d.fallback
		}
	}
	for _, d := range []struct {
		value    *int
		fallback int
	}{
		{&s.MaxSessions, 10000}, {&s.MaxSessionsPerPrincipal, 1000},
		{&s.MaxStreams, 1000}, {&s.MaxCalls, 2000}, {&s.MaxBatch, 1000},
		{&s.StreamBytes, 1 << 20}, {&s.StreamMessages, 1000},
		{&s.MaxPooled, 1000}, {&s.MaxPooledPerPrincipal, 8},
	} {
		if *d.value == 0 {
			*d.value = d.fallback
		}
	}
	return s
}
