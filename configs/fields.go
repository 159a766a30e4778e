package configs

import (
	"slices"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// fields are the keys of a file beside its routes.
func (s *Server) fields() object {
	return object{
		{key: "listen", value: text[string]{of: &s.Listen}, doc: "Address of the endpoint, as HOST:PORT, or unix:PATH for a socket file."},
		{key: "admin", value: text[string]{of: &s.Admin}, doc: "Address of metrics and health, off for none."},
		{key: "admin_token", value: text[string]{of: &s.AdminToken}, doc: "Token of at least 16 bytes, as ${file:PATH} or ${NAME}, that the admin listener wants as Authorization: Bearer TOKEN, but for /healthz, and for /readyz without its reasons. Needed where other machines reach that listener."},
		{key: "admin_allow_anonymous", value: yesNo{&s.AdminAllowAnonymous}, doc: "Let other machines read metrics and health without a token."},
		{key: "tls", doc: "What the endpoint proves itself with; without it, it speaks plain HTTP. The files are read again when they change.", value: object{
			{key: "cert_file", value: location{&s.CertFile}, doc: "The certificate and its chain, in PEM."},
			{key: "key_file", value: location{&s.KeyFile}, doc: "Its key, in PEM."},
			{key: "client_ca_file", value: location{&s.ClientCAFile}, doc: "Certificates (PEM) of the authorities whose clients may connect (mTLS). Without it, clients are asked for no certificate."},
			{key: "client_auth", value: choice[ClientAuth]{&s.ClientAuth, ClientAuths()}, doc: "Whether each client must show one of theirs, or may show none."},
		}},
		{key: "allow_hosts", value: list[string]{of: &s.AllowedHosts}, doc: `More names by which clients may address the endpoint, "*" for any.`},
		{key: "allow_origins", value: list[string]{of: &s.AllowedOrigins}, doc: `Web origins whose pages may call the endpoint, "*" for any.`},
		{key: "health_paths", value: list[string]{of: &s.HealthPaths}, doc: "Paths of the endpoint's listener that answer ok."},
		{key: "trusted_proxies", value: list[string]{of: &s.TrustedProxies}, doc: "Networks, as 10.0.0.0/8, of the proxies in front whose X-Forwarded-For, -Proto, -Host and -Prefix count. Without it, loopback addresses; [] is nobody. Peers on a socket file are always trusted."},
		{key: "max_connections", value: count{&s.MaxConnections}, doc: "Connections of each listener that are open at once; more wait until one ends."},
		{key: "max_header", value: octets{&s.MaxHeader}, doc: "Largest header of a request."},
		{key: "drain_timeout", value: span{&s.DrainTimeout}, doc: "How long calls under way may take when told to stop."},
		{key: "public_url", value: text[string]{of: &s.PublicURL}, doc: "URL by which clients see the bridge, as https://mcp.example.com. Without it, as each request says, and trusted_proxies."},
		{key: "allow_anonymous", value: yesNo{&s.AllowAnonymous}, doc: "Let everybody who reaches the endpoint from other machines use credentials of the bridge's own."},
		{key: "secrets", doc: "What the bridge seals with what clients carry for it.", value: object{
			{key: "keys", value: list[string]{of: &s.SecretKeys}, doc: "Keys of at least 32 bytes, the current one first; older ones still open. Without one, each start draws its own. Replicas behind one address must share them."},
		}},
		{key: "log", doc: "The log goes to standard error.", value: object{
			{key: "level", value: choice[string]{&s.LogLevel, LogLevels()}, doc: "Write lines of this level and above."},
			{key: "format", value: choice[LogFormat]{&s.LogFormat, LogFormats()}, doc: "Without it, console on a terminal, else json."},
		}},
	}
}

// fields are the keys of a route.
func (r *Route) fields(known []mcp.Version) object {
	own := object{
		{key: "name", value: text[string]{of: &r.Name}, doc: "For logs, metrics and messages."},
		{key: "path", value: text[string]{of: &r.Path}, doc: "Where clients of Streamable HTTP find the server. Without it, /NAME. Below a path that does not end in /mcp that works too."},
		{key: "sse_path", value: text[string]{of: &r.SSEPath}, doc: "Where clients of the HTTP+SSE transport open their stream, off for nowhere. Without it, sse below path."},
		{key: "message_path", value: text[string]{of: &r.MessagePath}, doc: "Where those clients post. Without it, messages below path."},
		{key: "ws_path", value: text[string]{of: &r.WSPath}, doc: "Where clients open WebSockets, off for nowhere. Without it, ws below path."},
	}
	own = append(own, r.single()...)
	own = append(own, object{
		{key: "upstreams", late: true, value: upstreams{r, known}, doc: "Several servers in place of one, as {name: new, upstream: URL, weight: 10}. A new conversation goes to the first whose match fits its client, else by weight; with a match nobody else is taken. Keys about the server, as headers, client_versions or strict, may stand here too; what is left out is as the route says."},
		{key: "clients", late: true, value: clientRules{r, versionNames(known)}, doc: "Exceptions for some clients, as {match: {name: \"cursor*\", version: \"<1.5\", protocol: \"2024-*\"}, strict: true}: the keys from strict on, request_timeout and upstream_versions. The first that fits counts; what it does not say is as the route says."},
	}...)
	for i := range own {
		own[i].own = true
	}
	return append(own, r.shared(known)...)
}

// single are the keys that tell one server.
func (r *Route) single() object {
	return object{
		{key: "upstream", value: text[string]{of: &r.Upstream}, doc: "URL of the MCP server: http(s)://, or ws(s):// for WebSocket. Or give a command."},
		{key: "command", value: program{&r.Command}, doc: "The program that is the MCP server, on its standard streams; or a list with its arguments. No shell reads it."},
		{key: "args", value: arguments{&r.Command}, doc: "Its arguments."},
		{key: "env", value: variables{&r.Command.Env}, doc: "Variables for it."},
		{key: "inherit_env", value: list[string]{of: &r.Command.InheritEnv}, doc: "Variables that it gets from the bridge, beside PATH, HOME and the like; all for all."},
		{key: "cwd", value: location{&r.Command.Dir}, doc: "Directory in which it is started."},
		{key: "upstream_message_url", value: text[string]{of: &r.UpstreamMessageURL}, doc: "Where to post over HTTP+SSE, instead of where the server says."},
	}
}

// versionNames lists versions as texts.
func versionNames(known []mcp.Version) []string {
	names := make([]string, len(known))
	for i, v := range known {
		names[i] = string(v)
	}
	return names
}

// shared are the keys of a route that may stand among the defaults too.
func (r *Route) shared(known []mcp.Version) object {
	versions := versionNames(known)
	own := object{
		{key: "base_path", value: text[string]{of: &r.BasePath}, doc: "Prefix of the paths that a proxy in front takes away; forwarded reads X-Forwarded-Prefix of trusted_proxies."},
		{key: "stdio_mode", value: choice[StdioMode]{&r.StdioMode, StdioModes()}, doc: "How many processes a command is: one for each session, or one that all share, which can ask nobody anything."},
		{key: "shared_interactive", value: choice[SharedInteractive]{&r.SharedInteractive, SharedInteractives()}, doc: "Whether that one process may ask clients; serialize lets it, and runs the calls that may ask one at a time."},
		{key: "upstream_transport", value: choice[UpstreamTransport]{&r.UpstreamTransport, UpstreamTransports()}, doc: "How an HTTP server is spoken to; auto finds out."},
		{key: "upstream_era", value: choice[Era]{&r.UpstreamEra, UpstreamEras()}, doc: "Whether conversations with the server begin with a handshake; auto asks it."},
		{key: "upstream_version", value: choice[mcp.Version]{&r.UpstreamVersion, versions}, doc: "The only protocol version offered to the server. Without it, the client's own first."},
		{key: "upstream_ca_file", value: location{&r.UpstreamCAFile}, doc: "Certificates (PEM) of authorities to trust for the server, beside the system's."},
		{key: "upstream_cert_file", value: location{&r.UpstreamCertFile}, doc: "Certificate (PEM) that the server is shown (mTLS)."},
		{key: "upstream_key_file", value: location{&r.UpstreamKeyFile}, doc: "Its key, in PEM."},
		{key: "headers", value: headers{&r.Headers}, doc: "What the server is sent with each request."},
		{key: "credentials", value: choice[mcp.Credentials]{&r.Credentials, mcp.CredentialNames()}, doc: "Whose credentials the server gets. Without it, static with an Authorization header, else forward."},
		{key: "forward_headers", value: list[string]{of: &r.ForwardHeaders}, doc: "Names or patterns (X-Tenant-*) of the clients' headers that the server gets, and no others; Authorization needs credentials: forward. Without it, with forward all that are end to end, else those of tracing. Cookie, Origin, Referer, Sec-*, Forwarded, X-Forwarded-*, Proxy-* and Mcp-* never cross."},
		{key: "drop_headers", value: list[string]{of: &r.DropHeaders}, doc: "Names or patterns of the clients' headers that the server never gets."},
		{key: "auth", value: r.Auth.fields(), doc: "Who is let in, for servers that do not see to that themselves; what a client shows is then not forwarded. Without it, everybody."},
		{key: "oauth", value: r.OAuth.fields(), doc: "How clients log in where the server checks their tokens; docs/authorization.md tells more."},
		{key: "client_versions", value: list[mcp.Version]{&r.ClientVersions, versions}, doc: "Protocol versions accepted from clients. Without it, all."},
		{key: "connect_timeout", value: span{&r.ConnectTimeout}, doc: "How long reaching the server may take."},
		{key: "request_timeout", value: span{&r.RequestTimeout}, doc: "How long the server may be silent within a request."},
		{key: "session_timeout", value: span{&r.SessionTimeout}, doc: "How long a session may be idle before it ends."},
		{key: "keep_alive", value: span{&r.KeepAlive}, doc: "How long an event stream may be silent before a comment keeps it open."},
		{key: "max_body", value: octets{&r.MaxBody}, doc: "Largest message."},
		{key: "probe", value: choice[negotiate.Probe]{&r.Probe, negotiate.ProbeNames()}, doc: "How a server of unknown era is asked what it is: auto over HTTP and in a process of its own, inline as the first thing in each conversation, sibling in one of its own always, never not at all."},
		{key: "session_rebind", value: choice[SessionRebind]{&r.SessionRebind, SessionRebinds()}, doc: "When a session goes on with another credential than its own: with a newer JSON Web Token of the same subject, or with any that the server takes on it, for tokens that cannot be read. Then a session id that leaked is worth something to everybody whom the server lets in."},
		{key: "recover_sessions", value: yesNo{&r.RecoverSessions}, doc: "Open a new session for a request whose own is gone, after a restart for instance, for clients that never initialize again."},
	}
	return slices.Concat(own, r.limits(), policy(&r.Options))
}

// policy are the keys that decide what becomes of a message.
func policy(o *mcp.Options) object {
	return object{
		{key: "strict", value: yesNo{&o.Strict}, doc: "Remove members that an older peer does not know, instead of leaving them for it to ignore."},
		{key: "inject_text", value: choice[mcp.InjectText]{&o.InjectText, mcp.InjectTextNames()}, doc: "When tool results with structured content get a text block."},
		{key: "elicitation_fallback", value: fallback{&o.Fallback}, doc: "What happens when a server asks a client that cannot be asked; declare:ACTION also declares that it can."},
		{key: "elicitation_timeout", value: span{&o.ElicitationTimeout}, doc: "How long a person may take to answer."},
		{key: "loss", value: choice[mcp.LossPolicy]{&o.Loss, mcp.LossNames()}, doc: "What happens to what a peer's version cannot say."},
		{key: "repair_output_schema", value: yesNo{&o.RepairOutputSchema}, doc: "Mend tool results that break the tool's own output schema."},
		{key: "strip_output_schema", value: yesNo{&o.StripOutputSchema}, doc: "Hide the output schemas of tools, for servers that never fulfil them."},
		{key: "flatten_lists", value: yesNo{&o.FlattenLists}, doc: "Gather all pages of a list into one answer, for clients that read only the first."},
		{key: "safe_names", value: yesNo{&o.SafeNames}, doc: "Give tools and prompts names of A-Z, a-z, 0-9, _ and -, 64 at most, for clients that take no others, and map them back."},
		{key: "not_found_code", value: choice[mcp.NotFoundCode]{&o.NotFoundCode, mcp.NotFoundCodeNames()}, doc: "By which error code a client with sessions hears that a stateless server has no such resource; auto says -32002 where the server names the resource."},
		{key: "quirks", value: quirkRules{&o.Quirks}, doc: "Repairs for known misbehaving peers (docs/quirks.md) turned on or off, as {name: split-type-lists, client: {name: \"acme*\", version: \"<2\"}, enabled: true}; the first that fits counts, then the table there. off turns all off."},
		{key: "tools", value: toolRules{&o.FallbackRules}, doc: "Another elicitation_fallback for some tools, as {name: \"delete_*\", elicitation_fallback: decline}; the first that fits counts."},
	}
}
