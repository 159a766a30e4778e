package configs

import (
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Config is everything that serving one route needs. The flags of
// `mcpbridge serve` are its shorthand.
type Config struct {
	Listen string // address of the endpoint
	Stdio  bool   // the only client is on the standard streams; there is no endpoint
	Admin  string // address of metrics and health; "" or "off" is none

	Path string // where clients of Streamable HTTP find the endpoint
	// SSEPath and MessagePath are where clients of the HTTP+SSE transport find
	// the event stream and post; "" or "off" serves none. BasePath is the prefix
	// that a proxy in front takes away, or "forwarded" if the proxy tells it.
	SSEPath, MessagePath, BasePath string
	WSPath                         string   // where clients open WebSockets; "" or "off" is nowhere
	HealthPaths                    []string // where the endpoint's listener answers ok, for who sees no other

	Upstream    string      // URL of the MCP server; "" when Command starts it
	Command     Command     // starts the MCP server
	StdioMode   StdioMode   // how many processes Command starts
	Headers     http.Header // sent to the upstream with every request
	Credentials mcp.Credentials
	// UpstreamTransport is how the server is spoken to, and UpstreamMessageURL
	// where messages go over HTTP+SSE instead of where the server says.
	UpstreamTransport  UpstreamTransport
	UpstreamMessageURL string

	ClientVersions  []mcp.Version // accepted downstream; empty means all
	UpstreamVersion mcp.Version   // the only one offered upstream; "" means what the client asked for
	UpstreamEra     Era           // how the server is spoken to
	Options         mcp.Options

	ConnectTimeout time.Duration // to reach the upstream
	RequestTimeout time.Duration // silence of the upstream within a request
	SessionTimeout time.Duration // silence of a session
	KeepAlive      time.Duration // between comments on a silent event stream
	MaxBody        int64         // of one message, in bytes

	AllowedHosts   []string // more names by which clients may address the endpoint
	AllowedOrigins []string // web origins whose pages may call the endpoint

	LogLevel  string
	LogFormat LogFormat
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

// Default returns what applies where an operator chose nothing. The upstream
// has no default.
func Default() Config {
	return Config{
		Listen:         "127.0.0.1:8080",
		Admin:          "127.0.0.1:9090",
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
		LogLevel:       "info",

		StdioMode:         PerSession,
		UpstreamTransport: TransportAuto,
		UpstreamEra:       EraAuto,
	}
}

// AdminAddress returns the address of the admin listener; ok is false when
// there is none.
func (c Config) AdminAddress() (addr string, ok bool) {
	return c.Admin, c.Admin != "" && c.Admin != AdminOff
}

// EffectiveCredentials returns whose credentials the upstream gets: a static
// Authorization header replaces the client's, so then nothing is forwarded.
func (c Config) EffectiveCredentials() mcp.Credentials {
	switch {
	case c.Credentials != "":
		return c.Credentials
	case c.Headers.Get("Authorization") != "":
		return mcp.CredentialsStatic
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
