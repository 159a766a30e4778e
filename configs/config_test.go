package configs_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/mcp"
)

var known = []mcp.Version{"2024-11-05", "2025-03-26"}

// single is a configuration with one route.
type single struct {
	configs.Server
	configs.Route
}

func byDefault() single { return single{configs.DefaultServer(), configs.DefaultRoute()} }

func (s single) Validate(known []mcp.Version) error {
	err := configs.Config{Server: s.Server, Routes: []configs.Route{s.Route}}.Validate(known)
	var p configs.Problems
	if !errors.As(err, &p) {
		return err
	}
	for i := range p {
		p[i].Path = strings.TrimPrefix(p[i].Path, "routes[0].")
	}
	return p
}

func valid() single {
	c := byDefault()
	c.Upstream = "http://127.0.0.1:3000/mcp"
	return c
}

func TestDefaultIsValidButForTheUpstream(t *testing.T) {
	if err := valid().Validate(known); err != nil {
		t.Errorf("default: %v", err)
	}
	var p configs.Problems
	if err := byDefault().Validate(known); !errors.As(err, &p) || len(p) != 1 || p[0].Path != "upstream" {
		t.Errorf("default without an upstream: %v", err)
	}
}

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		set   func(*single)
		field string // "" is valid
		text  string
	}{
		"listen on any":          {func(c *single) { c.Listen = ":0" }, "", ""},
		"listen on IPv6":         {func(c *single) { c.Listen = "[::1]:8080" }, "", ""},
		"listen port only":       {func(c *single) { c.Listen = "8080" }, "listen", `"8080" is not an address`},
		"listen port name":       {func(c *single) { c.Listen = "a:http" }, "listen", "not a number"},
		"listen port big":        {func(c *single) { c.Listen = "a:65536" }, "listen", "not a number"},
		"admin empty":            {func(c *single) { c.Admin = "" }, "", ""},
		"admin off":              {func(c *single) { c.Admin = "off" }, "", ""},
		"admin bad":              {func(c *single) { c.Admin = "of" }, "admin", "is not an address"},
		"admin twice":            {func(c *single) { c.Admin = c.Listen }, "admin", "is the address of the endpoint too"},
		"any port twice":         {func(c *single) { c.Admin, c.Listen = "localhost:0", "localhost:0" }, "", ""},
		"authorities, no file":   {func(c *single) { c.UpstreamCAFile = "nowhere.pem" }, "upstream_ca_file", "nowhere.pem: no such file"},
		"authorities, directory": {func(c *single) { c.UpstreamCAFile = "." }, "upstream_ca_file", "is a directory"},
		"authorities, no PEM":    {func(c *single) { c.UpstreamCAFile = "config_test.go" }, "upstream_ca_file", "holds no certificate; it must be in PEM form"},
		"asking, shared": {func(c *single) {
			c.Upstream, c.Command.Args, c.StdioMode, c.SharedInteractive = "", []string{"x"}, configs.Shared, configs.InteractiveSerialize
		}, "", ""},
		"asking, not shared": {func(c *single) {
			c.Upstream, c.Command.Args, c.SharedInteractive = "", []string{"x"}, configs.InteractiveSerialize
		}, "shared_interactive", `choose the stdio mode "shared"`},
		"asking, unknown":        {func(c *single) { c.SharedInteractive = "all" }, "shared_interactive", "off, serialize"},
		"socket file":            {func(c *single) { c.Listen, c.Admin = "unix:/run/a.sock", "unix:b.sock" }, "", ""},
		"socket file, slashes":   {func(c *single) { c.Listen = "unix:///run/a.sock" }, "", ""},
		"socket file, none":      {func(c *single) { c.Listen = "unix:" }, "listen", "the path of the socket is missing"},
		"socket file, host":      {func(c *single) { c.Listen = "unix://run/a.sock" }, "listen", "has a host"},
		"socket file, abstract":  {func(c *single) { c.Admin = "unix:@a" }, "admin", "abstract"},
		"socket file, directory": {func(c *single) { c.Admin = "unix:/run/" }, "admin", "is a directory"},
		"socket file, long":      {func(c *single) { c.Listen = "unix:/" + strings.Repeat("a", 108) }, "listen", "has 109 bytes"},
		"socket file twice":      {func(c *single) { c.Listen, c.Admin = "unix:/run//a:0", "unix:/run/./a:0" }, "admin", "is the address of the endpoint too"},
		"https":                  {func(c *single) { c.Upstream = "https://a.example/mcp?k=v" }, "", ""},
		"no URL":                 {func(c *single) { c.Upstream = "127.0.0.1:3000/mcp" }, "upstream", "not a URL"},
		"no scheme":              {func(c *single) { c.Upstream = "localhost:3000/mcp" }, "upstream", "not an http"},
		"only a path":            {func(c *single) { c.Upstream = "/mcp" }, "upstream", "not an http"},
		"websocket":              {func(c *single) { c.Upstream = "ws://a/mcp" }, "", ""},
		"secure websocket":       {func(c *single) { c.Upstream = "wss://a:8443/mcp?k=v" }, "", ""},
		"socket, no host":        {func(c *single) { c.Upstream = "ws:///mcp" }, "upstream", "no host"},
		"socket over SSE":        {func(c *single) { c.Upstream, c.UpstreamTransport = "ws://a/", configs.TransportSSE }, "upstream_transport", "contradicts the URL"},
		"socket path":            {func(c *single) { c.WSPath = "ws" }, "ws_path", "one slash"},
		"socket path of another": {func(c *single) { c.WSPath = "/messages/" }, "ws_path", "HTTP+SSE transport too"},
		"socket path of none":    {func(c *single) { c.WSPath, c.SSEPath = "/messages", "off" }, "", ""},
		"endpoint path":          {func(c *single) { c.Path = "/a/b/" }, "", ""},
		"endpoint path, root":    {func(c *single) { c.Path = "/" }, "", ""},
		"endpoint path, none":    {func(c *single) { c.Path = "" }, "path", "one slash"},
		"endpoint path, quoted":  {func(c *single) { c.Path = "/a\"b" }, "path", "more than a path"},
		"endpoint path moved":    {func(c *single) { c.Path, c.SSEPath = "/sse", "/mcp" }, "", ""},
		"no endpoint, no path":   {func(c *single) { c.Path, c.Stdio = "", true }, "", ""},
		"health":                 {func(c *single) { c.HealthPaths = []string{"/a", "/b", "/a/"} }, "", ""},
		"health of another":      {func(c *single) { c.HealthPaths = []string{"/mcp"} }, "health_paths", "Streamable HTTP endpoint too"},
		"health, no path":        {func(c *single) { c.HealthPaths = []string{"ok"} }, "health_paths", "one slash"},
		"no log":                 {func(c *single) { c.LogLevel = "none" }, "", ""},
		"era":                    {func(c *single) { c.UpstreamEra = configs.EraModern }, "", ""},
		"unknown era":            {func(c *single) { c.UpstreamEra = "old" }, "upstream_era", "auto, legacy, modern"},
		"no sockets":             {func(c *single) { c.WSPath = "" }, "", ""},
		"scheme":                 {func(c *single) { c.Upstream = "unix:///a" }, "upstream", "unix:// is not supported"},
		"no host":                {func(c *single) { c.Upstream = "http:///mcp" }, "upstream", "no host"},
		"port":                   {func(c *single) { c.Upstream = "http://a:70000/mcp" }, "upstream", "the port"},
		"password":               {func(c *single) { c.Upstream = "http://u:secret@a/mcp" }, "upstream", "user name or password"},
		"bad password":           {func(c *single) { c.Upstream = "http://u:se/cret@a/mcp" }, "upstream", "not a URL"},
		"fragment":               {func(c *single) { c.Upstream = "http://a/mcp#x" }, "upstream", "fragment"},
		"known version":          {func(c *single) { c.UpstreamVersion = "2025-03-26" }, "", ""},
		"unknown version":        {func(c *single) { c.UpstreamVersion = "2025-03-27" }, "upstream_version", "2024-11-05, 2025-03-26"},
		"unknown client":         {func(c *single) { c.ClientVersions = []mcp.Version{"x"} }, "client_versions", `"x" is not known`},
		"inject text":            {func(c *single) { c.Options.InjectText = "always" }, "inject_text", "missing, unless-equivalent, never"},
		"fallback":               {func(c *single) { c.Options.Fallback.Action = "accept" }, "elicitation_fallback", "explain, cancel"},
		"loss":                   {func(c *single) { c.Options.Loss = "" }, "loss", "pass, refuse"},
		"log level":              {func(c *single) { c.LogLevel = "loud" }, "log.level", "info, debug"},
		"log format":             {func(c *single) { c.LogFormat = "xml" }, "log.format", "json, console"},
		"credentials":            {func(c *single) { c.Credentials = "mine" }, "credentials", "forward, static, none"},
		"static header":          {func(c *single) { c.Headers.Set("Authorization", "secret") }, "", ""},
		"contradiction":          {func(c *single) { c.Headers.Set("Authorization", "secret"); c.Credentials = "none" }, "credentials", "contradicts"},
		"reserved header":        {func(c *single) { c.Headers.Set("mcp-session-id", "secret") }, "headers", "Mcp-Session-Id is written by the bridge"},
		"header name":            {func(c *single) { c.Headers = http.Header{"a secret": {"x"}} }, "headers", "a name holds"},
		"header value":           {func(c *single) { c.Headers = http.Header{"A": {"x", "secret\n"}} }, "headers", "the value of A"},
		"timeout":                {func(c *single) { c.RequestTimeout = 0 }, "request_timeout", "no time to wait"},
		"negative timeout":       {func(c *single) { c.SessionTimeout = -1 }, "session_timeout", "no time to wait"},
		"elicitation":            {func(c *single) { c.Options.ElicitationTimeout = 0 }, "elicitation_timeout", "no time to wait"},
		"max body":               {func(c *single) { c.MaxBody = 0 }, "max_body", "no size"},
		"transport":              {func(c *single) { c.UpstreamTransport = "" }, "upstream_transport", "auto, streamable-http, sse"},
		"stream path":            {func(c *single) { c.SSEPath = "sse" }, "sse_path", "one slash"},
		"other origin":           {func(c *single) { c.SSEPath = "//evil.example" }, "sse_path", "one slash"},
		"query in a path":        {func(c *single) { c.MessagePath = "/m?x=1" }, "message_path", "more than a path"},
		"event in a path":        {func(c *single) { c.MessagePath = "/m\ndata: x" }, "message_path", "more than a path"},
		"dots in a path":         {func(c *single) { c.SSEPath = "/a/../b" }, "sse_path", "write \"/b\""},
		"path of another":        {func(c *single) { c.SSEPath = "/mcp/" }, "sse_path", "Streamable HTTP endpoint"},
		"one path for two":       {func(c *single) { c.MessagePath = "/sse/" }, "message_path", "the event stream too"},
		"root":                   {func(c *single) { c.SSEPath = "/" }, "", ""},
		"no streams":             {func(c *single) { c.SSEPath, c.MessagePath = "off", "x" }, "", ""},
		"no messages":            {func(c *single) { c.SSEPath, c.MessagePath = "x", "" }, "", ""},
		"base path":              {func(c *single) { c.BasePath = "/api/" }, "", ""},
		"forwarded base":         {func(c *single) { c.BasePath = "forwarded" }, "", ""},
		"base as URL":            {func(c *single) { c.BasePath = "https://a" }, "base_path", "no path"},
		"message URL":            {func(c *single) { c.UpstreamMessageURL = "https://a:1/m?x" }, "", ""},
		"bad message URL":        {func(c *single) { c.UpstreamMessageURL = "secret" }, "upstream_message_url", "not an http://"},
		"message password":       {func(c *single) { c.UpstreamMessageURL = "http://u:secret@a/m" }, "upstream_message_url", "user name or password"},
		"no messages there": {func(c *single) {
			c.UpstreamMessageURL, c.UpstreamTransport = "http://a/m", configs.TransportStreamable
		}, "upstream_message_url", "only the HTTP+SSE transport"},
		"host":               {func(c *single) { c.AllowedHosts = []string{"bridge.example.com"} }, "", ""},
		"host with a scheme": {func(c *single) { c.AllowedHosts = []string{"http://a"} }, "allow_hosts", "not a host name"},
		"origin":             {func(c *single) { c.AllowedOrigins = []string{"https://a.example:8443"} }, "", ""},
		"any origin":         {func(c *single) { c.AllowedOrigins = []string{"*"} }, "", ""},
		"origin as host":     {func(c *single) { c.AllowedOrigins = []string{"a.example"} }, "allow_origins", "not a web origin"},
		"origin with a path": {func(c *single) { c.AllowedOrigins = []string{"https://a.example/x"} }, "allow_origins", "not a web origin"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := valid()
			tc.set(&c)
			err := c.Validate(known)
			if tc.field == "" {
				if err != nil {
					t.Fatalf("unexpected: %v", err)
				}
				return
			}
			var p configs.Problems
			if !errors.As(err, &p) || len(p) != 1 {
				t.Fatalf("want one problem, got: %v", err)
			}
			if p[0].Path != tc.field || !strings.Contains(p[0].Text, tc.text) {
				t.Errorf("got %s: %s", p[0].Path, p[0].Text)
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "cret@") {
				t.Errorf("a secret is shown: %v", err)
			}
		})
	}
}

func TestValidateReportsEverything(t *testing.T) {
	var p configs.Problems
	if err := (single{}).Validate(known); !errors.As(err, &p) || len(p) < 8 {
		t.Errorf("an empty configuration: %v", err)
	}
}

func TestEffectiveCredentials(t *testing.T) {
	c := valid()
	if got := c.EffectiveCredentials(); got != mcp.CredentialsForward {
		t.Errorf("default = %s", got)
	}
	c.Headers.Set("Authorization", "x")
	if got := c.EffectiveCredentials(); got != mcp.CredentialsStatic {
		t.Errorf("with a static header = %s", got)
	}
	c.Credentials = mcp.CredentialsNone
	if got := c.EffectiveCredentials(); got != mcp.CredentialsNone {
		t.Errorf("chosen = %s", got)
	}
}

func TestParseHeader(t *testing.T) {
	name, value, err := configs.ParseHeader(" x-api-key:  a: b ")
	if name != "X-Api-Key" || value != "a: b" || err != nil {
		t.Errorf("got %q %q %v", name, value, err)
	}
	for _, bad := range []string{"", "secret", ": secret", "a secret: x", "X-Secret-Free:", "X-A: secret\x00"} {
		if _, _, err := configs.ParseHeader(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestRedacted(t *testing.T) {
	for raw, want := range map[string]string{
		"http://a:1/mcp":               "http://a:1/mcp",
		"http://u:secret@a/mcp?t=x#y":  "http://a/mcp?...",
		"http://u:se/cret@a:b/mcp":     "(not a URL)",
		"https://a.example/?key=token": "https://a.example/?...",
	} {
		if got := configs.Redacted(raw); got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
	}
}
