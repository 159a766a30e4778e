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

func valid() configs.Config {
	c := configs.Default()
	c.Upstream = "http://127.0.0.1:3000/mcp"
	return c
}

func TestDefaultIsValidButForTheUpstream(t *testing.T) {
	if err := valid().Validate(known); err != nil {
		t.Errorf("default: %v", err)
	}
	var p configs.Problems
	if err := configs.Default().Validate(known); !errors.As(err, &p) || len(p) != 1 || p[0].Field != "upstream" {
		t.Errorf("default without an upstream: %v", err)
	}
}

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		set   func(*configs.Config)
		field string // "" is valid
		text  string
	}{
		"listen on any":          {func(c *configs.Config) { c.Listen = ":0" }, "", ""},
		"listen on IPv6":         {func(c *configs.Config) { c.Listen = "[::1]:8080" }, "", ""},
		"listen port only":       {func(c *configs.Config) { c.Listen = "8080" }, "listen", `"8080" is not an address`},
		"listen port name":       {func(c *configs.Config) { c.Listen = "a:http" }, "listen", "not a number"},
		"listen port big":        {func(c *configs.Config) { c.Listen = "a:65536" }, "listen", "not a number"},
		"admin empty":            {func(c *configs.Config) { c.Admin = "" }, "", ""},
		"admin off":              {func(c *configs.Config) { c.Admin = "off" }, "", ""},
		"admin bad":              {func(c *configs.Config) { c.Admin = "of" }, "admin", "is not an address"},
		"admin twice":            {func(c *configs.Config) { c.Admin = c.Listen }, "admin", "is the address of the endpoint too"},
		"any port twice":         {func(c *configs.Config) { c.Admin, c.Listen = "a:0", "a:0" }, "", ""},
		"https":                  {func(c *configs.Config) { c.Upstream = "https://a.example/mcp?k=v" }, "", ""},
		"no URL":                 {func(c *configs.Config) { c.Upstream = "127.0.0.1:3000/mcp" }, "upstream", "not a URL"},
		"no scheme":              {func(c *configs.Config) { c.Upstream = "localhost:3000/mcp" }, "upstream", "not an http"},
		"only a path":            {func(c *configs.Config) { c.Upstream = "/mcp" }, "upstream", "not an http"},
		"websocket":              {func(c *configs.Config) { c.Upstream = "ws://a/mcp" }, "", ""},
		"secure websocket":       {func(c *configs.Config) { c.Upstream = "wss://a:8443/mcp?k=v" }, "", ""},
		"socket, no host":        {func(c *configs.Config) { c.Upstream = "ws:///mcp" }, "upstream", "no host"},
		"socket over SSE":        {func(c *configs.Config) { c.Upstream, c.UpstreamTransport = "ws://a/", configs.TransportSSE }, "upstream_transport", "contradicts the URL"},
		"socket path":            {func(c *configs.Config) { c.WSPath = "ws" }, "ws_path", "one slash"},
		"socket path of another": {func(c *configs.Config) { c.WSPath = "/messages/" }, "ws_path", "HTTP+SSE transport too"},
		"socket path of none":    {func(c *configs.Config) { c.WSPath, c.SSEPath = "/messages", "off" }, "", ""},
		"endpoint path":          {func(c *configs.Config) { c.Path = "/a/b/" }, "", ""},
		"endpoint path, root":    {func(c *configs.Config) { c.Path = "/" }, "", ""},
		"endpoint path, none":    {func(c *configs.Config) { c.Path = "" }, "path", "one slash"},
		"endpoint path, quoted":  {func(c *configs.Config) { c.Path = "/a\"b" }, "path", "more than a path"},
		"endpoint path moved":    {func(c *configs.Config) { c.Path, c.SSEPath = "/sse", "/mcp" }, "", ""},
		"no endpoint, no path":   {func(c *configs.Config) { c.Path, c.Stdio = "", true }, "", ""},
		"health":                 {func(c *configs.Config) { c.HealthPaths = []string{"/a", "/b", "/a/"} }, "", ""},
		"health of another":      {func(c *configs.Config) { c.HealthPaths = []string{"/mcp"} }, "health_path", "Streamable HTTP endpoint too"},
		"health, no path":        {func(c *configs.Config) { c.HealthPaths = []string{"ok"} }, "health_path", "one slash"},
		"no log":                 {func(c *configs.Config) { c.LogLevel = "none" }, "", ""},
		"era":                    {func(c *configs.Config) { c.UpstreamEra = configs.EraModern }, "", ""},
		"unknown era":            {func(c *configs.Config) { c.UpstreamEra = "old" }, "upstream_era", "auto, legacy, modern"},
		"no sockets":             {func(c *configs.Config) { c.WSPath = "" }, "", ""},
		"scheme":                 {func(c *configs.Config) { c.Upstream = "unix:///a" }, "upstream", "unix:// is not supported"},
		"no host":                {func(c *configs.Config) { c.Upstream = "http:///mcp" }, "upstream", "no host"},
		"port":                   {func(c *configs.Config) { c.Upstream = "http://a:70000/mcp" }, "upstream", "the port"},
		"password":               {func(c *configs.Config) { c.Upstream = "http://u:secret@a/mcp" }, "upstream", "user name or password"},
		"bad password":           {func(c *configs.Config) { c.Upstream = "http://u:se/cret@a/mcp" }, "upstream", "not a URL"},
		"fragment":               {func(c *configs.Config) { c.Upstream = "http://a/mcp#x" }, "upstream", "fragment"},
		"known version":          {func(c *configs.Config) { c.UpstreamVersion = "2025-03-26" }, "", ""},
		"unknown version":        {func(c *configs.Config) { c.UpstreamVersion = "2025-03-27" }, "upstream_version", "2024-11-05, 2025-03-26"},
		"unknown client":         {func(c *configs.Config) { c.ClientVersions = []mcp.Version{"x"} }, "client_versions", `"x" is not known`},
		"inject text":            {func(c *configs.Config) { c.Options.InjectText = "always" }, "inject_text", "missing, unless-equivalent, never"},
		"fallback":               {func(c *configs.Config) { c.Options.Fallback.Action = "accept" }, "elicitation_fallback", "explain, cancel"},
		"loss":                   {func(c *configs.Config) { c.Options.Loss = "" }, "loss", "pass, refuse"},
		"log level":              {func(c *configs.Config) { c.LogLevel = "loud" }, "log_level", "info, debug"},
		"log format":             {func(c *configs.Config) { c.LogFormat = "xml" }, "log_format", "json, console"},
		"credentials":            {func(c *configs.Config) { c.Credentials = "mine" }, "credentials", "forward, static, none"},
		"static header":          {func(c *configs.Config) { c.Headers.Set("Authorization", "secret") }, "", ""},
		"contradiction":          {func(c *configs.Config) { c.Headers.Set("Authorization", "secret"); c.Credentials = "none" }, "credentials", "contradicts"},
		"reserved header":        {func(c *configs.Config) { c.Headers.Set("mcp-session-id", "secret") }, "header", "Mcp-Session-Id is written by the bridge"},
		"header name":            {func(c *configs.Config) { c.Headers = http.Header{"a secret": {"x"}} }, "header", "a name holds"},
		"header value":           {func(c *configs.Config) { c.Headers = http.Header{"A": {"x", "secret\n"}} }, "header", "the value of A"},
		"timeout":                {func(c *configs.Config) { c.RequestTimeout = 0 }, "request_timeout", "no time to wait"},
		"negative timeout":       {func(c *configs.Config) { c.SessionTimeout = -1 }, "session_timeout", "no time to wait"},
		"elicitation":            {func(c *configs.Config) { c.Options.ElicitationTimeout = 0 }, "elicitation_timeout", "no time to wait"},
		"max body":               {func(c *configs.Config) { c.MaxBody = 0 }, "max_body", "no size"},
		"transport":              {func(c *configs.Config) { c.UpstreamTransport = "" }, "upstream_transport", "auto, streamable-http, sse"},
		"stream path":            {func(c *configs.Config) { c.SSEPath = "sse" }, "sse_path", "one slash"},
		"other origin":           {func(c *configs.Config) { c.SSEPath = "//evil.example" }, "sse_path", "one slash"},
		"query in a path":        {func(c *configs.Config) { c.MessagePath = "/m?x=1" }, "message_path", "more than a path"},
		"event in a path":        {func(c *configs.Config) { c.MessagePath = "/m\ndata: x" }, "message_path", "more than a path"},
		"dots in a path":         {func(c *configs.Config) { c.SSEPath = "/a/../b" }, "sse_path", "write \"/b\""},
		"path of another":        {func(c *configs.Config) { c.SSEPath = "/mcp/" }, "sse_path", "Streamable HTTP endpoint"},
		"one path for two":       {func(c *configs.Config) { c.MessagePath = "/sse/" }, "message_path", "the event stream too"},
		"root":                   {func(c *configs.Config) { c.SSEPath = "/" }, "", ""},
		"no streams":             {func(c *configs.Config) { c.SSEPath, c.MessagePath = "off", "x" }, "", ""},
		"no messages":            {func(c *configs.Config) { c.SSEPath, c.MessagePath = "x", "" }, "", ""},
		"base path":              {func(c *configs.Config) { c.BasePath = "/api/" }, "", ""},
		"forwarded base":         {func(c *configs.Config) { c.BasePath = "forwarded" }, "", ""},
		"base as URL":            {func(c *configs.Config) { c.BasePath = "https://a" }, "base_path", "no path"},
		"message URL":            {func(c *configs.Config) { c.UpstreamMessageURL = "https://a:1/m?x" }, "", ""},
		"bad message URL":        {func(c *configs.Config) { c.UpstreamMessageURL = "secret" }, "upstream_message_url", "not an http://"},
		"message password":       {func(c *configs.Config) { c.UpstreamMessageURL = "http://u:secret@a/m" }, "upstream_message_url", "user name or password"},
		"no messages there": {func(c *configs.Config) {
			c.UpstreamMessageURL, c.UpstreamTransport = "http://a/m", configs.TransportStreamable
		}, "upstream_message_url", "only the HTTP+SSE transport"},
		"host":               {func(c *configs.Config) { c.AllowedHosts = []string{"bridge.example.com"} }, "", ""},
		"host with a scheme": {func(c *configs.Config) { c.AllowedHosts = []string{"http://a"} }, "allow_host", "not a host name"},
		"origin":             {func(c *configs.Config) { c.AllowedOrigins = []string{"https://a.example:8443"} }, "", ""},
		"any origin":         {func(c *configs.Config) { c.AllowedOrigins = []string{"*"} }, "", ""},
		"origin as host":     {func(c *configs.Config) { c.AllowedOrigins = []string{"a.example"} }, "allow_origin", "not a web origin"},
		"origin with a path": {func(c *configs.Config) { c.AllowedOrigins = []string{"https://a.example/x"} }, "allow_origin", "not a web origin"},
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
			if p[0].Field != tc.field || !strings.Contains(p[0].Text, tc.text) {
				t.Errorf("got %s: %s", p[0].Field, p[0].Text)
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "cret@") {
				t.Errorf("a secret is shown: %v", err)
			}
		})
	}
}

func TestValidateReportsEverything(t *testing.T) {
	var p configs.Problems
	if err := (configs.Config{}).Validate(known); !errors.As(err, &p) || len(p) < 8 {
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
