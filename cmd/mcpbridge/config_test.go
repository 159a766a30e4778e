package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// read parses a command line of serve as the command does.
func read(t *testing.T, env map[string]string, args ...string) (single, error) {
	t.Helper()
	s := newSurroundings(env)
	flags := newServeFlags()
	cmd := newServeCommand(s.process())
	cmd.ResetFlags()
	flags.define(cmd.Flags())
	if err := cmd.ParseFlags(args); err != nil {
		return single{}, err
	}
	g, err := readVariables(cmd.Flags(), s.process().lookup)
	if err != nil {
		return single{}, err
	}
	return flags.config(g, cmd.Flags().Args())
}

const up = "http://127.0.0.1:3000/mcp"

func TestConfig(t *testing.T) {
	type env = map[string]string
	for name, tc := range map[string]struct {
		env  env
		args []string
		got  func(single) any
		want any
	}{
		"argument":            {nil, []string{up}, func(c single) any { return c.Upstream }, up},
		"other name":          {nil, []string{"--streamableHttp", up}, func(c single) any { return c.Upstream }, up},
		"variable":            {env{"MCPBRIDGE_UPSTREAM": up}, nil, func(c single) any { return c.Upstream }, up},
		"argument wins":       {env{"MCPBRIDGE_UPSTREAM": "x"}, []string{up}, func(c single) any { return c.Upstream }, up},
		"flag wins":           {env{"MCPBRIDGE_UPSTREAM": "x"}, []string{"--upstream", up}, func(c single) any { return c.Upstream }, up},
		"default listen":      {nil, []string{up}, func(c single) any { return c.Listen }, "127.0.0.1:8080"},
		"port":                {nil, []string{up, "--port", "9000"}, func(c single) any { return c.Listen }, "127.0.0.1:9000"},
		"port 0":              {nil, []string{up, "--port", "0"}, func(c single) any { return c.Listen }, "127.0.0.1:0"},
		"host":                {nil, []string{up, "--host", "0.0.0.0"}, func(c single) any { return c.Listen }, "0.0.0.0:8080"},
		"IPv6 host":           {nil, []string{up, "--host", "[::1]", "--port", "1"}, func(c single) any { return c.Listen }, "[::1]:1"},
		"port over variable":  {env{"MCPBRIDGE_LISTEN": "a:1"}, []string{up, "--port", "2"}, func(c single) any { return c.Listen }, "127.0.0.1:2"},
		"listen over port":    {env{"MCPBRIDGE_PORT": "1"}, []string{up, "--listen", "a:2"}, func(c single) any { return c.Listen }, "a:2"},
		"port by variable":    {env{"MCPBRIDGE_PORT": "9"}, []string{up}, func(c single) any { return c.Listen }, "127.0.0.1:9"},
		"service link":        {env{"MCPBRIDGE_PORT": "tcp://10.0.0.1:80"}, []string{up}, func(c single) any { return c.Listen }, "127.0.0.1:8080"},
		"empty variable":      {env{"MCPBRIDGE_ADMIN": ""}, []string{up}, func(c single) any { return c.Admin }, "127.0.0.1:9090"},
		"fallback":            {nil, []string{up, "--elicitation-fallback", "decline"}, func(c single) any { return c.Options.Fallback }, mcp.Fallback{Action: "decline"}},
		"declare":             {nil, []string{up, "--elicitation-fallback", "declare"}, func(c single) any { return c.Options.Fallback }, mcp.Fallback{Action: "explain", Declare: true}},
		"declare and cancel":  {nil, []string{up, "--elicitation-fallback", "declare:cancel"}, func(c single) any { return c.Options.Fallback }, mcp.Fallback{Action: "cancel", Declare: true}},
		"switch by variable":  {env{"MCPBRIDGE_STRICT": "true"}, []string{up}, func(c single) any { return c.Options.Strict }, true},
		"switch off again":    {env{"MCPBRIDGE_STRICT": "true"}, []string{up, "--strict=false"}, func(c single) any { return c.Options.Strict }, false},
		"timeout by variable": {env{"MCPBRIDGE_REQUEST_TIMEOUT": "5s"}, []string{up}, func(c single) any { return c.RequestTimeout }, 5 * time.Second},
		"size":                {nil, []string{up, "--max-body", "2MiB"}, func(c single) any { return c.MaxBody }, configs.Size(2 << 20)},
		"versions":            {nil, []string{up, "--client-versions", "2024-11-05, 2025-03-26"}, func(c single) any { return c.ClientVersions }, []mcp.Version{"2024-11-05", "2025-03-26"}},
		"era":                 {nil, []string{up, "--upstream-era", "modern"}, func(c single) any { return c.UpstreamEra }, configs.EraModern},
		"era by variable":     {env{"MCPBRIDGE_UPSTREAM_ERA": "legacy"}, []string{up}, func(c single) any { return era(c.Route) }, negotiate.Legacy},
		"era, other name":     {env{"MCPBRIDGE_UPSTREAM_ERA": "legacy"}, []string{up, "--upstreamProtocol", "modern"}, func(c single) any { return era(c.Route) }, negotiate.Stateless},
		"era by default":      {nil, []string{up}, func(c single) any { return []any{c.UpstreamEra, era(c.Route)} }, []any{configs.EraAuto, negotiate.Unknown}},
		"era by a version":    {nil, []string{up, "--upstream-version", "2026-07-28"}, func(c single) any { return era(c.Route) }, negotiate.Stateless},
		"era and its version": {nil, []string{up, "--upstream-era", "legacy", "--upstream-version", "2025-03-26"}, func(c single) any { return era(c.Route) }, negotiate.Legacy},
		"stateless clients":   {nil, []string{up, "--client-versions", "2026-07-28"}, func(c single) any { return c.ClientVersions }, []mcp.Version{"2026-07-28"}},
		"processes":           {nil, []string{"--", "x"}, func(c single) any { return c.StdioMode }, configs.PerSession},
		"one process":         {nil, []string{"--stdio-mode", "shared", "--", "x"}, func(c single) any { return c.StdioMode }, configs.Shared},
		"one by variable":     {env{"MCPBRIDGE_STDIO_MODE": "shared"}, []string{"--stdio", "x"}, func(c single) any { return c.StdioMode }, configs.Shared},
		"endpoint path":       {nil, []string{up, "--path", "/"}, func(c single) any { return c.Path }, "/"},
		"health":              {nil, []string{up, "--health-path", "/a", "--health-path", "/b"}, func(c single) any { return c.HealthPaths }, []string{"/a", "/b"}},
		"no log":              {nil, []string{up, "--log-level", "none"}, func(c single) any { return c.LogLevel }, "none"},
		"upstream version":    {nil, []string{up, "--upstream-version", "2025-06-18"}, func(c single) any { return c.UpstreamVersion }, mcp.Version("2025-06-18")},
		"headers":             {nil, []string{up, "--header", "A: 1, 2", "--header", "a: 3"}, func(c single) any { return c.Headers["A"] }, []string{"1, 2", "3"}},
		"headers by variable": {env{"MCPBRIDGE_HEADER": "A: 1\n\nB: 2\n"}, []string{up}, func(c single) any { return c.Headers.Get("A") + c.Headers.Get("B") }, "12"},
		"command":             {nil, []string{"--", "npx", "-y", "x"}, func(c single) any { return c.Command.Args }, []string{"npx", "-y", "x"}},
		"command has flags":   {nil, []string{"--strict", "--", "x", "--strict=false"}, func(c single) any { return c.Options.Strict }, true},
		"command wins":        {env{"MCPBRIDGE_UPSTREAM": up}, []string{"--", "x"}, func(c single) any { return c.Upstream }, ""},
		"other name of it":    {nil, []string{"--stdio", "npx 'a b'"}, func(c single) any { return c.Command.Args }, []string{"npx", "a b"}},
		"command by variable": {env{"MCPBRIDGE_STDIO": "npx x"}, nil, func(c single) any { return c.Command.Args }, []string{"npx", "x"}},
		"URL over command":    {env{"MCPBRIDGE_STDIO": "npx x"}, []string{up}, func(c single) any { return c.Command.Args }, []string(nil)},
		"its environment":     {nil, []string{"--env", "A=b,c", "--env", "D=", "--", "x"}, func(c single) any { return c.Command.Env }, []string{"A=b,c", "D="}},
		"what it inherits":    {nil, []string{"--inherit-env", "A,B", "--inherit-env", "C", "--", "x"}, func(c single) any { return c.Command.InheritEnv }, []string{"A", "B", "C"}},
		"its directory":       {nil, []string{"--cwd", "/tmp", "--", "x"}, func(c single) any { return c.Command.Dir }, "/tmp"},
		"SSE upstream":        {nil, []string{"--sse", up}, func(c single) any { return []any{c.Upstream, c.UpstreamTransport} }, []any{up, configs.TransportSSE}},
		"SSE by variable":     {env{"MCPBRIDGE_SSE": up}, nil, func(c single) any { return []any{c.Upstream, c.UpstreamTransport} }, []any{up, configs.TransportSSE}},
		"SSE, said twice":     {nil, []string{"--sse", up, "--upstream-transport", "sse"}, func(c single) any { return c.UpstreamTransport }, configs.TransportSSE},
		"another wins":        {env{"MCPBRIDGE_SSE": "x"}, []string{up}, func(c single) any { return []any{c.Upstream, c.UpstreamTransport} }, []any{up, configs.TransportAuto}},
		"transport":           {nil, []string{up, "--upstream-transport", "streamable-http"}, func(c single) any { return c.UpstreamTransport }, configs.TransportStreamable},
		"message URL":         {nil, []string{"--sse", up, "--upstream-message-url", "http://a/m"}, func(c single) any { return c.UpstreamMessageURL }, "http://a/m"},
		"paths":               {nil, []string{up, "--sse-path", "/a", "--message-path", "/b", "--base-path", "/c"}, func(c single) any { return []string{c.SSEPath, c.MessagePath, c.BasePath} }, []string{"/a", "/b", "/c"}},
		"hosts":               {nil, []string{up, "--allow-host", "a", "--allow-host", "b,c"}, func(c single) any { return c.AllowedHosts }, []string{"a", "b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := read(t, tc.env, tc.args...)
			if err != nil {
				t.Fatal(err)
			}
			if got := tc.got(c); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestConfigProblemsNameTheirSource(t *testing.T) {
	type env = map[string]string
	for name, tc := range map[string]struct {
		env  env
		args []string
		want string
	}{
		"nothing":            {nil, nil, "--upstream: no upstream was given"},
		"flag":               {nil, []string{up, "--log-level", "loud"}, `--log-level: "loud" is not known; use one of: info`},
		"variable":           {env{"MCPBRIDGE_LOG_LEVEL": "loud"}, []string{up}, `MCPBRIDGE_LOG_LEVEL: "loud" is not known`},
		"argument":           {nil, []string{"secret"}, "URL: this is not an http"},
		"URL variable":       {env{"MCPBRIDGE_UPSTREAM": "ftp://secret"}, nil, "MCPBRIDGE_UPSTREAM: this is not an http"},
		"other name":         {nil, []string{"--streamableHttp", "unix://secret"}, "--streamableHttp: the scheme unix:// is not supported"},
		"two upstreams":      {nil, []string{up, "--upstream", up}, "the argument and --upstream both give the upstream"},
		"URL and command":    {nil, []string{up, "--", "x"}, "the argument and the command after -- both give the upstream"},
		"two commands":       {nil, []string{"--stdio", "y", "--", "x"}, "the command after -- and --stdio both give the upstream"},
		"bad command":        {nil, []string{"--stdio", "x 'secret"}, "--stdio: the quote ' is not closed"},
		"shell":              {env{"MCPBRIDGE_STDIO": "x | secret"}, nil, "MCPBRIDGE_STDIO: | has a meaning only to a shell"},
		"bad variable":       {nil, []string{"--env", "secret", "--", "x"}, "--env: a variable is written as NAME=VALUE"},
		"header, command":    {nil, []string{"--header", "A: secret", "--", "x"}, "--header: a command takes no headers"},
		"variable, no cmd":   {nil, []string{up, "--env", "A=secret"}, "--env: there is no command"},
		"two upstreams, SSE": {nil, []string{up, "--sse", up}, "the argument and --sse both give the upstream"},
		"two variables, SSE": {env{"MCPBRIDGE_SSE": "a", "MCPBRIDGE_UPSTREAM": "b"}, nil, "MCPBRIDGE_UPSTREAM and MCPBRIDGE_SSE both give the upstream"},
		"SSE and another":    {nil, []string{"--sse", up, "--upstream-transport", "auto"}, "--sse and --upstream-transport contradict each other"},
		"bad SSE":            {nil, []string{"--sse", "ftp://secret"}, "--sse: this is not an http"},
		"transport":          {nil, []string{up, "--upstream-transport", "pigeon"}, `--upstream-transport: "pigeon" is not known; use one of: auto, streamable-http, sse`},
		"path":               {nil, []string{up, "--sse-path", "sse"}, `--sse-path: "sse" is no path`},
		"message URL":        {nil, []string{up, "--upstream-message-url", "secret"}, "--upstream-message-url: this is not an http"},
		"two addresses":      {nil, []string{up, "--listen", "a:1", "--port", "2"}, "--listen and --port both say where to listen"},
		"two variables":      {env{"MCPBRIDGE_LISTEN": "a:1", "MCPBRIDGE_HOST": "b"}, []string{up}, "MCPBRIDGE_LISTEN and MCPBRIDGE_HOST both say"},
		"duration":           {env{"MCPBRIDGE_REQUEST_TIMEOUT": "soon"}, []string{up}, `MCPBRIDGE_REQUEST_TIMEOUT: time: invalid duration "soon"`},
		"switch":             {env{"MCPBRIDGE_STRICT": "perhaps"}, []string{up}, `MCPBRIDGE_STRICT: "perhaps" is neither true nor false`},
		"size":               {env{"MCPBRIDGE_MAX_BODY": "big"}, []string{up}, `MCPBRIDGE_MAX_BODY: "big" is not a size`},
		"fallback":           {nil, []string{up, "--elicitation-fallback", "declare:accept"}, `--elicitation-fallback: "accept" is not known`},
		"fallback, declare":  {nil, []string{up, "--elicitation-fallback", "accept"}, `--elicitation-fallback: "accept" is not known; use one of: explain, cancel, decline, error, or declare[:ACTION]`},
		"era":                {nil, []string{up, "--upstream-era", "old"}, `--upstream-era: "old" is not known; use one of: auto, legacy, modern`},
		"era, other name":    {nil, []string{up, "--upstreamProtocol", "old"}, `--upstreamProtocol: "old" is not known`},
		"era and version":    {nil, []string{up, "--upstream-era", "legacy", "--upstream-version", "2026-07-28"}, `--upstream-version: the version 2026-07-28 is not of the era "legacy"`},
		"version and era":    {nil, []string{up, "--upstream-era", "modern", "--upstream-version", "2025-03-26"}, `--upstream-version: the version 2025-03-26 is not of the era "modern"`},
		"client version":     {nil, []string{up, "--client-versions", "2026-07-29"}, `--client-versions: "2026-07-29" is not known`},
		"processes":          {nil, []string{"--stdio-mode", "one", "--", "x"}, `--stdio-mode: "one" is not known; use one of: per-session, shared`},
		"one of nothing":     {nil, []string{up, "--stdio-mode", "shared"}, "--stdio-mode: there is no command"},
		"endpoint path":      {nil, []string{up, "--path", "mcp"}, `--path: "mcp" is no path`},
		"path of another":    {nil, []string{up, "--path", "/sse/"}, `--sse-path: "/sse" is the path of the Streamable HTTP endpoint too`},
		"health of another":  {nil, []string{up, "--health-path", "/ws"}, `--health-path: "/ws" is the path of the WebSocket endpoint too`},
		"version":            {nil, []string{up, "--upstream-version", "1.0"}, `--upstream-version: "1.0" is not known; use one of: 2024-11-05`},
		"header":             {nil, []string{up, "--header", "secret"}, "--header: a header is written as 'Name: value'"},
		"header variable":    {env{"MCPBRIDGE_HEADER": "A: b\nsecret"}, []string{up}, "MCPBRIDGE_HEADER: a header is written as"},
		"reserved":           {nil, []string{up, "--header", "Host: secret"}, "--header: Host is written by the bridge"},
		"no file":            {nil, []string{up, "--header-file", "no-such-file"}, "--header-file: open no-such-file: no such file"},
		"service link":       {env{"MCPBRIDGE_PORT": "x"}, []string{up}, `MCPBRIDGE_PORT: "x" is not a number that fits`},
		"unknown flag":       {nil, []string{up, "--heder=secret"}, "unknown flag: --heder"},
		"flag out of range":  {nil, []string{up, "--port", "70000"}, "--port"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(t, tc.env, tc.args...)
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) && !strings.Contains(err.Error(), tc.want+`"`) {
				t.Fatalf("got %v, want %s", err, tc.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("a secret is shown: %v", err)
			}
		})
	}
}

func TestHeaderFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "headers")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# credentials\r\n\r\nAuthorization: Bearer x\r\n  X-A: 1  \n")
	c, err := read(t, nil, up, "--header-file", path)
	if err != nil || c.Headers.Get("Authorization") != "Bearer x" || c.Headers.Get("X-A") != "1" {
		t.Errorf("headers %v, %v", c.Headers, err)
	}
	if got := c.EffectiveCredentials(); got != mcp.CredentialsStatic {
		t.Errorf("credentials %s", got)
	}
	write("# one\nX-A: 1\nsecret\n")
	_, err = read(t, nil, up, "--header-file", path)
	if err == nil || !strings.Contains(err.Error(), path+", line 3: ") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestEveryFlagHasItsVariableInTheHelp(t *testing.T) {
	s := newSurroundings(nil)
	if code := run([]string{"serve", "--help"}, s.process()); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	for _, flag := range []string{"listen", "header-file", "strict", "allow-host", "elicitation-timeout"} {
		if !strings.Contains(s.out.String(), "--"+flag) || !strings.Contains(s.out.String(), "["+variable(flag)+"]") {
			t.Errorf("the help lacks --%s or its variable", flag)
		}
	}
	for _, name := range []string{"streamableHttp", "ssePath", "cors", "outputTransport", "upstreamProtocol"} {
		if strings.Contains(s.out.String(), "--"+name+" ") {
			t.Errorf("the help lists --%s, which is another bridge's name", name)
		}
	}
	if _, err := read(t, map[string]string{"MCPBRIDGE_CORS": "x/", "MCPBRIDGE_HELP": "x", "MCPBRIDGE_STREAMABLEHTTP": "x"}, up); err != nil {
		t.Errorf("names of other bridges and help have no variable: %v", err)
	}
}
