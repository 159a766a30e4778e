package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// serveFlags holds what the flags of serve say. Those that map one to one
// write into the configuration; the others are read by config.
type serveFlags struct {
	single
	supergateway
	file           string
	host           string
	port           uint16
	streamableHTTP string
	sse            string
	command        string
	headers        []string
	headerFile     string
	adminTokenFile string
	fallback       string
	clientVersions []string
}

func newServeFlags() *serveFlags {
	return &serveFlags{single: defaults(), supergateway: supergateway{stateful: true}}
}

func oneOf(values []string) string { return strings.Join(values, "|") }

// fallbackNames lists what --elicitation-fallback takes.
func fallbackNames() []string {
	return append(mcp.FallbackNames(), configs.Declare, configs.Declare+":ACTION")
}

func (f *serveFlags) define(fs *pflag.FlagSet) {
	fs.SortFlags = false
	fs.StringVar(&f.file, "config", "", "`FILE` that says everything, in YAML or JSON; it may be one with the mcpServers of a desktop client")
	f.defineAddresses(fs)
	f.defineUpstream(fs)
	f.defineCommand(fs)
	mode := "`MODE` of that command: " + oneOf(configs.StdioModes()) + "; shared starts one for all sessions, which can ask nobody anything"
	fs.StringVar((*string)(&f.StdioMode), "stdio-mode", string(f.StdioMode), mode)
	asks := "`WHETHER` a shared command may ask clients: " + oneOf(configs.SharedInteractives()) + "; serialize runs the calls that may ask one at a time"
	fs.StringVar((*string)(&f.SharedInteractive), "shared-interactive", string(f.SharedInteractive), asks)
	f.defineTranslation(fs)
	f.defineLimits(fs)
	f.defineLog(fs)
	f.defineEndpoint(fs)
	f.defineOthers(fs)
}

// defineOthers defines the names of other bridges and completes the help. It
// comes last: it looks at the flags that are there.
func (f *serveFlags) defineOthers(fs *pflag.FlagSet) {
	fs.Var((*milliseconds)(&f.SessionTimeout), "sessionTimeout", "the same as --session-timeout, in milliseconds")
	hide(fs, "sessionTimeout", "streamableHttp")
	f.defineEverywhere(fs)
	defineAliases(fs)
	showVariables(fs)
}

func (f *serveFlags) defineLog(fs *pflag.FlagSet) {
	fs.StringVar(&f.LogLevel, "log-level", f.LogLevel, "write log lines of this `LEVEL` and above: "+oneOf(configs.LogLevels()))
	fs.StringVar((*string)(&f.LogFormat), "log-format", "", "`FORMAT` of the log: "+oneOf(configs.LogFormats())+" (default console on a terminal, else json)")
}

func (f *serveFlags) defineAddresses(fs *pflag.FlagSet) {
	fs.StringVar(&f.Listen, "listen", f.Listen, "`ADDR` of the endpoint, as HOST:PORT, or unix:PATH for a socket file")
	fs.StringVar(&f.host, "host", "", "`HOST` part of --listen")
	fs.Uint16Var(&f.port, "port", 0, "`PORT` part of --listen")
	f.defineAdmin(fs)
	fs.StringVar(&f.Path, "path", f.Path, "`PATH` of the endpoint for clients of Streamable HTTP")
	fs.StringVar(&f.SSEPath, "sse-path", f.SSEPath, "`PATH` of the event stream for clients of the HTTP+SSE transport, \"off\" for none")
	fs.StringVar(&f.MessagePath, "message-path", f.MessagePath, "`PATH` to which those clients post")
	fs.StringVar(&f.WSPath, "ws-path", f.WSPath, "`PATH` where clients open WebSockets, \"off\" for nowhere")
	fs.StringSliceVar(&f.HealthPaths, "health-path", nil, "one more `PATH` of the endpoint's listener, which answers ok; can be repeated")
	fs.StringVar(&f.BasePath, "base-path", "", "`PREFIX` of the paths that a proxy in front takes away, \"forwarded\" to read X-Forwarded-Prefix")
	fs.StringSliceVar(&f.TrustedProxies, "trusted-proxy", nil, "`NETWORK` of a proxy in front whose X-Forwarded headers count, as 10.0.0.0/8; can be repeated (default loopback)")
	fs.StringSliceVar(&f.AllowedHosts, "allow-host", nil, "one more `HOST` by which clients may address the endpoint, * for any; can be repeated")
	fs.BoolVar(&f.AllowAnonymous, "allow-anonymous", false, "let everybody who reaches the endpoint from other machines use credentials of the bridge's own")
	fs.DurationVar(&f.DrainTimeout, "drain-timeout", f.DrainTimeout, "`TIME` that calls under way get when told to stop")
	fs.StringSliceVar(&f.AllowedOrigins, "allow-origin", nil, "web `ORIGIN` whose pages may call the endpoint, * for any; can be repeated")
}

func (f *serveFlags) defineAdmin(fs *pflag.FlagSet) {
	fs.StringVar(&f.Admin, "admin", f.Admin, "`ADDR` of metrics and health, \"off\" for none")
	fs.StringVar(&f.adminTokenFile, "admin-token-file", "", "`FILE` with the token that it wants as Authorization: Bearer TOKEN; needed where other machines reach it")
	fs.BoolVar(&f.AdminAllowAnonymous, "admin-allow-anonymous", false, "let other machines read metrics and health without a token")
}

func (f *serveFlags) defineUpstream(fs *pflag.FlagSet) {
	fs.StringVar(&f.Upstream, "upstream", "", "`URL` of the MCP server: http(s)://, or ws(s):// for WebSocket")
	fs.StringVar(&f.streamableHTTP, "streamableHttp", "", "the same as --upstream `URL`")
	fs.StringVar(&f.sse, "sse", "", "the same as --upstream `URL` --upstream-transport sse")
	fs.StringVar((*string)(&f.UpstreamTransport), "upstream-transport", string(f.UpstreamTransport), "`TRANSPORT` of the MCP server: "+oneOf(configs.UpstreamTransports()))
	fs.StringVar(&f.UpstreamMessageURL, "upstream-message-url", "", "`URL` to post to over HTTP+SSE, instead of the one that the server names")
	fs.StringVar(&f.UpstreamCAFile, "upstream-ca-file", "", "`FILE` of certificates (PEM) of authorities to trust for the MCP server, beside the system's")
	fs.StringVar(&f.UpstreamCertFile, "upstream-cert-file", "", "`FILE` of the certificate (PEM) that the MCP server is shown (mTLS)")
	fs.StringVar(&f.UpstreamKeyFile, "upstream-key-file", "", "`FILE` of its key (PEM)")
	fs.StringArrayVar(&f.headers, "header", nil, "`'NAME: VALUE'` to send to the upstream; can be repeated (a line each in the variable)")
	fs.StringVar(&f.headerFile, "header-file", "", "`FILE` with such headers, one a line, # for comments; keeps secrets off the command line")
	fs.StringVar((*string)(&f.Credentials), "credentials", "", "`WHOSE` credentials the upstream gets: "+oneOf(mcp.CredentialNames())+" (default static with an Authorization header, else forward)")
}

func (f *serveFlags) defineCommand(fs *pflag.FlagSet) {
	fs.StringVar(&f.command, "stdio", "", "`COMMAND` that starts the MCP server, in place of one after --; quotes group, no shell reads it")
	fs.StringArrayVar(&f.Command.Env, "env", nil, "`NAME=VALUE` of a variable for that command; can be repeated (a line each in the variable)")
	fs.StringSliceVar(&f.Command.InheritEnv, "inherit-env", nil, "one more `NAME` of a variable that it gets from the bridge, \"all\" for all; can be repeated")
	fs.StringVar(&f.Command.Dir, "cwd", "", "`DIR` in which it is started")
}

func (f *serveFlags) defineTranslation(fs *pflag.FlagSet) {
	o := &f.Options
	fs.StringVar((*string)(&f.UpstreamVersion), "upstream-version", "", "the only protocol `VERSION` offered upstream (default the client's own first)")
	era := "`ERA` of the MCP server: " + oneOf(configs.UpstreamEras()) + "; auto asks it"
	fs.StringVar((*string)(&f.UpstreamEra), "upstream-era", string(f.UpstreamEra), era)
	fs.StringSliceVar(&f.clientVersions, "client-versions", nil, "protocol `VERSIONS` accepted from clients, separated by commas (default all)")
	fs.BoolVar(&o.Strict, "strict", false, "remove members that an older peer does not know, instead of leaving them for it to ignore")
	fs.StringVar(&f.fallback, "elicitation-fallback", string(o.Fallback.Action), "`ACTION` when a server asks a client that cannot be asked: "+oneOf(fallbackNames()))
	fs.StringVar((*string)(&o.InjectText), "inject-text", string(o.InjectText), "`WHEN` structured tool results get a text block: "+oneOf(mcp.InjectTextNames()))
	fs.StringVar((*string)(&o.Loss), "loss", string(o.Loss), "`POLICY` for what a peer's version cannot say: "+oneOf(mcp.LossNames()))
	fs.BoolVar(&o.RepairOutputSchema, "repair-output-schema", false, "mend tool results that break the tool's own output schema")
	fs.BoolVar(&o.StripOutputSchema, "strip-output-schema", false, "hide the output schemas of tools, for servers that never fulfil them")
	fs.BoolVar(&o.FlattenLists, "flatten-lists", false, "gather all pages of a list into one answer, for clients that read only the first")
	fs.BoolVar(&o.SafeNames, "safe-names", false, "give tools and prompts names that every client takes, and map them back")
	fs.BoolVar(&f.RecoverSessions, "recover-sessions", false, "open a new session for a request whose own is gone, for clients that never initialize again")
	fs.StringVar((*string)(&f.Probe), "probe", string(f.Probe), "`HOW` a server of unknown era is asked what it is: "+oneOf(negotiate.ProbeNames()))
	fs.StringVar((*string)(&o.NotFoundCode), "not-found-code", string(o.NotFoundCode), "`CODE` by which clients hear that a stateless server has no such resource: "+oneOf(mcp.NotFoundCodeNames()))
}

func (f *serveFlags) defineLimits(fs *pflag.FlagSet) {
	fs.Var(&f.MaxBody, "max-body", "largest message, as 64MiB")
	fs.DurationVar(&f.ConnectTimeout, "connect-timeout", f.ConnectTimeout, "`TIME` to reach the upstream")
	fs.DurationVar(&f.RequestTimeout, "request-timeout", f.RequestTimeout, "`TIME` the upstream may be silent within a request")
	fs.DurationVar(&f.SessionTimeout, "session-timeout", f.SessionTimeout, "`TIME` after which an idle session ends")
	fs.DurationVar(&f.Options.ElicitationTimeout, "elicitation-timeout", f.Options.ElicitationTimeout, "`TIME` a person may take to answer")
}

// offerValues registers shell completions of flags with few values.
func offerValues(cmd *cobra.Command) {
	for flag, values := range map[string][]string{
		"elicitation-fallback": append(mcp.FallbackNames(), configs.Declare),
		"inject-text":          mcp.InjectTextNames(),
		"loss":                 mcp.LossNames(),
		"probe":                negotiate.ProbeNames(),
		"not-found-code":       mcp.NotFoundCodeNames(),
		"credentials":          mcp.CredentialNames(),
		"upstream-transport":   configs.UpstreamTransports(),
		"upstream-era":         configs.UpstreamEras(),
		"log-level":            configs.LogLevels(),
		"log-format":           configs.LogFormats(),
		"upstream-version":     versionNames(),
		"stdio-mode":           configs.StdioModes(),
		"shared-interactive":   configs.SharedInteractives(),
		"outputTransport":      outputs(),
		"client-versions":      versionNames(),
	} {
		if cmd.Flags().Lookup(flag) == nil && (flag == "stdio-mode" || flag == "shared-interactive") {
			continue // a client on the standard streams is the only one
		}
		complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
		if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
			panic(err) // a flag of this list does not exist
		}
	}
}
