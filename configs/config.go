package configs

import (
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// Config is everything that serving needs: the listeners and the routes behind
// them. The flags of `mcpbridge serve` are the shorthand of one with one route.
type Config struct {
	Server
	Routes []Route
}

// Server is what all routes share.
type Server struct {
	Listen string // address of the endpoint, HOST:PORT or unix:PATH
	Stdio  bool   // the only client is on the standard streams; there is no endpoint
	Admin  string // address of metrics and health, as Listen; "" or "off" is none
	// AdminToken is the bearer token that the admin listener wants; "" wants none,
	// which off loopback has to be allowed by AdminAllowAnonymous.
	AdminToken          string
	AdminAllowAnonymous bool
	// CertFile and KeyFile hold, in PEM, what the endpoint proves itself with
	// over TLS; both empty is plain HTTP.
	CertFile, KeyFile string
	// ClientCAFile holds, in PEM, the authorities of the certificates that
	// clients show; "" asks for none.
	ClientCAFile string
	ClientAuth   ClientAuth

	HealthPaths    []string // where the endpoint's listener answers ok, for who sees no other
	AllowedHosts   []string // more names by which clients may address the endpoint
	AllowedOrigins []string // web origins whose pages may call the endpoint
	TrustedProxies []string // networks whose X-Forwarded-* headers count; nil is loopback
	MaxHeader      Size     // of the header of an HTTP request
	MaxConnections int      // open at once, of each listener

	DrainTimeout time.Duration // for calls under way, when told to stop
	// SecretKeys seal what clients carry for the bridge, the current one first;
	// older ones still open. Empty draws one at start.
	SecretKeys []string

	// AllowAnonymous lets everybody who reaches the endpoint use credentials of
	// the bridge's own.
	AllowAnonymous bool
	PublicURL      string // by which clients see the bridge; "" is as each request says

	LogLevel  string
	LogFormat LogFormat
}

// Route is one MCP server and where clients find it.
type Route struct {
	Name string // for logs, metrics and messages

	Path string // where clients of Streamable HTTP find the endpoint
	// SSEPath and MessagePath are where clients of the HTTP+SSE transport find
	// the event stream and post; "" or "off" serves none. BasePath is the prefix
	// that a proxy in front takes away, or "forwarded" if the proxy tells it.
	SSEPath, MessagePath, BasePath string
	WSPath                         string // where clients open WebSockets; "" or "off" is nowhere

	Upstream    string      // URL of the MCP server; "" when Command starts it
	Command     Command     // starts the MCP server
	Upstreams   []Upstream  // several servers, in place of Upstream and Command
	StdioMode   StdioMode   // how many processes Command starts
	Headers     http.Header // sent to the upstream with every request
	Credentials mcp.Credentials
	Auth        Auth  // who is let in
	OAuth       OAuth // how clients of this route log in
	// ForwardHeaders are patterns for the names of the clients' headers that the
	// upstream gets, DropHeaders for those that it does not get; see
	// [mcp.HeaderRules].
	ForwardHeaders, DropHeaders []string
	// SharedInteractive says whether the one process of Shared may ask clients.
	SharedInteractive SharedInteractive
	// UpstreamTransport is how the server is spoken to, and UpstreamMessageURL
	// where messages go over HTTP+SSE instead of where the server says.
	UpstreamTransport  UpstreamTransport
	UpstreamMessageURL string
	UpstreamCAFile     string // PEM file of authorities that are trusted beside the system's; "" is none
	// UpstreamCertFile and UpstreamKeyFile hold, in PEM, what the bridge proves
	// itself with to the server over TLS; both empty is nothing.
	UpstreamCertFile, UpstreamKeyFile string
	// material is a digest of these files, so that a route whose files have
	// changed is another one.
	material string

	ClientVersions  []mcp.Version // accepted downstream; empty means all
	UpstreamVersion mcp.Version   // the only one offered upstream; "" means what the client asked for
	UpstreamEra     Era           // how the server is spoken to
	Probe           negotiate.Probe
	Options         mcp.Options
	Clients         []Client // exceptions, the first that fits counts
	RecoverSessions bool     // open a new session for a request whose own is gone
	SessionRebind   SessionRebind

	ConnectTimeout time.Duration // to reach the upstream
	RequestTimeout time.Duration // silence of the upstream within a request
	SessionTimeout time.Duration // silence of a session
	KeepAlive      time.Duration // between comments on a silent event stream
	MaxBody        Size          // of one message
	Limits
}

// LogFormat is how the log is written. The zero value lets the terminal
// decide.
type LogFormat string

// The log formats.
const (
	LogJSON    LogFormat = "json"
	LogConsole LogFormat = "console"
)

// AdminOff is the Admin address that means no admin listener.
const AdminOff = "off"

// DefaultServer returns what applies where an operator chose nothing.
func DefaultServer() Server {
	return Server{
		Listen:       "127.0.0.1:8080",
		Admin:        "127.0.0.1:9090",
		ClientAuth:   ClientAuthRequire,
		MaxHeader:    64 << 10,
		DrainTimeout: 10 * time.Second,
		LogLevel:     "info",

		MaxConnections: 10000,
	}
}

// DefaultRoute returns what applies where an operator chose nothing. The
// upstream has no default.
func DefaultRoute() Route {
	return Route{
		Name:           DefaultName,
		Path:           EndpointPath,
		SSEPath:        "/sse",
		MessagePath:    "/messages",
		WSPath:         "/ws",
		Headers:        make(http.Header),
		Options:        mcp.DefaultOptions(),
		ConnectTimeout: 10 * time.Second,
		RequestTimeout: 10 * time.Minute,
		SessionTimeout: time.Hour,
		KeepAlive:      15 * time.Second,
		MaxBody:        64 << 20,
		Limits:         defaultLimits(),

		StdioMode:         PerSession,
		SharedInteractive: InteractiveOff,
		UpstreamTransport: TransportAuto,
		UpstreamEra:       EraAuto,
		Probe:             negotiate.ProbeAuto,
		SessionRebind:     RebindSameSubject,
	}
}

// DefaultName is what the only route is called unless the operator names it.
const DefaultName = "default"

// AdminAddress returns the address of the admin listener; ok is false when
// there is none.
func (s Server) AdminAddress() (addr string, ok bool) {
	return s.Admin, s.Admin != "" && s.Admin != AdminOff
}

// SessionRebind says when a session goes on with another credential.
type SessionRebind string

// The choices.
const (
	RebindSameSubject     SessionRebind = "same-subject"     // of two JSON Web Tokens of one subject
	RebindUpstreamAccepts SessionRebind = "upstream-accepts" // of any that the upstream takes
)

// SessionRebinds returns the choices, the default first.
func SessionRebinds() []string {
	return []string{string(RebindSameSubject), string(RebindUpstreamAccepts)}
}

// EffectiveCredentials returns whose credentials the upstream gets: a static
// Authorization header replaces the client's, so then nothing is forwarded, and
// what a client shows to the bridge is for the bridge.
func (r Route) EffectiveCredentials() mcp.Credentials {
	switch {
	case r.Credentials != "":
		return r.Credentials
	case r.Headers.Get("Authorization") != "":
		return mcp.CredentialsStatic
	case r.Auth.Given():
		return mcp.CredentialsNone
	}
	return mcp.CredentialsForward
}

// The values that a configuration may name, the default first.

// LogNone, as a log level, writes nothing.
const LogNone = "none"

// LogLevels returns the log levels.
func LogLevels() []string { return []string{"info", "debug", "warn", "error", LogNone} }

// LogFormats returns the log formats.
func LogFormats() []string { return []string{string(LogJSON), string(LogConsole)} }
