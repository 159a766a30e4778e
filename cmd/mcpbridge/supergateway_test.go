package main

import (
	"bufio"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func TestSupergatewayFlags(t *testing.T) {
	type env = map[string]string
	places := func(c single) any { return []string{c.Listen, c.Path, c.SSEPath, c.MessagePath, c.WSPath} }
	auth := func(c single) any {
		return []any{c.Headers.Get("Authorization"), c.EffectiveCredentials()}
	}
	for name, tc := range map[string]struct {
		env  env
		args string
		got  func(single) any
		want any
	}{
		"nothing of it":       {nil, "--stdio x", places, []string{"127.0.0.1:8080", "/mcp", "/sse", "/messages", "/ws"}},
		"SSE":                 {nil, "--stdio x --outputTransport sse", places, []string{"127.0.0.1:8000", "/mcp", "/sse", "/message", "/ws"}},
		"Streamable HTTP":     {nil, "--stdio x --outputTransport streamableHttp", places, []string{"127.0.0.1:8000", "/mcp", "/sse", "/message", "/ws"}},
		"WebSocket":           {nil, "--stdio x --outputTransport ws", places, []string{"127.0.0.1:8000", "/mcp", "/sse", "/messages", "/message"}},
		"with hyphens":        {nil, "--stdio x --output-transport sse", places, []string{"127.0.0.1:8000", "/mcp", "/sse", "/message", "/ws"}},
		"port":                {nil, "--stdio x --outputTransport sse --port 1", places, []string{"127.0.0.1:1", "/mcp", "/sse", "/message", "/ws"}},
		"host":                {nil, "--stdio x --outputTransport sse --host 0.0.0.0", places, []string{"0.0.0.0:8000", "/mcp", "/sse", "/message", "/ws"}},
		"port by variable":    {env{"MCPBRIDGE_PORT": "9"}, "--stdio x --outputTransport sse", places, []string{"127.0.0.1:9", "/mcp", "/sse", "/message", "/ws"}},
		"listen by variable":  {env{"MCPBRIDGE_LISTEN": "a:9"}, "--stdio x --outputTransport sse", places, []string{"a:9", "/mcp", "/sse", "/message", "/ws"}},
		"paths":               {nil, "--stdio x --outputTransport sse --ssePath /a --messagePath /b --streamableHttpPath /c", places, []string{"127.0.0.1:8000", "/c", "/a", "/b", "/ws"}},
		"path of sockets":     {nil, "--stdio x --outputTransport ws --messagePath /b", places, []string{"127.0.0.1:8000", "/mcp", "/sse", "/messages", "/b"}},
		"that of messages":    {nil, "--stdio x --outputTransport ws --messagePath /messages", places, []string{"127.0.0.1:8000", "/mcp", "/sse", "/message", "/messages"}},
		"both paths":          {nil, "--stdio x --outputTransport ws --message-path /m --ws-path /w", places, []string{"127.0.0.1:8000", "/mcp", "/sse", "/m", "/w"}},
		"over a variable":     {env{"MCPBRIDGE_SSE_PATH": "x"}, "--stdio x --ssePath /a", places, []string{"127.0.0.1:8080", "/mcp", "/a", "/messages", "/ws"}},
		"standard streams":    {nil, "--sse http://a/ --outputTransport stdio", func(c single) any { return []any{c.Stdio, c.Admin, c.SSEPath, c.WSPath} }, []any{true, "off", "off", "off"}},
		"with metrics":        {nil, "--sse http://a/ --outputTransport stdio --admin localhost:1", func(c single) any { return []any{c.Stdio, c.Admin} }, []any{true, "localhost:1"}},
		"base URL":            {nil, "--stdio x --baseUrl https://b.example/p", func(c single) any { return []any{c.BasePath, c.AllowedHosts} }, []any{"/p", []string{"b.example"}}},
		"base URL, no path":   {env{"MCPBRIDGE_BASE_PATH": "/x"}, "--stdio x --base-url http://b.example:80/ --allow-host c", func(c single) any { return []any{c.BasePath, c.AllowedHosts} }, []any{"", []string{"c", "b.example"}}},
		"base URL, path only": {nil, "--stdio x --baseUrl /p", func(c single) any { return []any{c.BasePath, len(c.AllowedHosts)} }, []any{"/p", 0}},
		"health":              {nil, "--stdio x --healthEndpoint /a --health-endpoint /b", func(c single) any { return c.HealthPaths }, []string{"/a", "/b"}},
		"health, a list":      {nil, "--healthEndpoint /a /b --stdio x", func(c single) any { return c.HealthPaths }, []string{"/a", "/b"}},
		"any origin":          {nil, "--cors --stdio x", func(c single) any { return c.AllowedOrigins }, []string{"*"}},
		"origins":             {env{"MCPBRIDGE_ALLOW_ORIGIN": "*"}, `--stdio x --cors http://a https://b:1 /c\.d,e$/`, func(c single) any { return c.AllowedOrigins }, []string{"http://a", "https://b:1"}},
		"token":               {nil, "--sse http://a/ --oauth2Bearer t", auth, []any{"Bearer t", mcp.CredentialsStatic}},
		"token for a command": {nil, "--stdio x --oauth2Bearer t", auth, []any{"", mcp.CredentialsForward}},
		"header, command":     {nil, "--stdio x --outputTransport sse --header A:b", func(c single) any { return len(c.Headers) }, 0},
		"log level":           {nil, "--stdio x --logLevel none", func(c single) any { return c.LogLevel }, "none"},
		"session timeout":     {env{"MCPBRIDGE_SESSION_TIMEOUT": "2h"}, "--stdio x --stateful --sessionTimeout 90000", func(c single) any { return c.SessionTimeout }, 90 * time.Second},
		"version":             {nil, "--stdio x --protocolVersion 2024-11-05", func(c single) any { return c.UpstreamVersion }, mcp.Version("")},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := read(t, tc.env, spread(strings.Fields(tc.args))...)
			if err != nil {
				t.Fatal(err)
			}
			if got := tc.got(c); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestSupergatewayProblems(t *testing.T) {
	for args, want := range map[string]string{
		"--stdio x --outputTransport http":                                  `--outputTransport: "http" is not known; use one of: stdio, sse, ws, streamableHttp`,
		"--stdio x --ssePath /a --sse-path /a":                              "--sse-path and --ssePath say the same; give one of them",
		"--stdio x --cors --allow-origin *":                                 "--allow-origin and --cors say the same",
		"--stdio x --sessionTimeout 1 --session-timeout 1s":                 "--session-timeout and --sessionTimeout say the same",
		"--stdio x --baseUrl /a --base-path /a":                             "--base-path and --baseUrl say the same",
		"--stdio x --sessionTimeout 0":                                      `"0" is no number of milliseconds above zero`,
		"--stdio x --ssePath sse":                                           `--ssePath: "sse" is no path`,
		"--stdio x --outputTransport ws --messagePath m":                    `--messagePath: "m" is no path`,
		"--stdio x --outputTransport ws --messagePath /m --ws-path /w":      "--messagePath with --outputTransport ws and --ws-path both give",
		"--stdio x --healthEndpoint /sse":                                   `--healthEndpoint: "/sse" is the path of the event stream too`,
		"--stdio x --streamableHttpPath /ws":                                `--ws-path: "/ws" is the path of the Streamable HTTP endpoint too`,
		"--stdio x --logLevel loud":                                         `--logLevel: "loud" is not known; use one of: info, debug, warn, error, none`,
		"--stdio x --cors http://a/b":                                       `--cors: "http://a/b" is not a web origin`,
		"--stdio x --baseUrl b.example":                                     "",
		"--stdio x --baseUrl ftp://b":                                       "--baseUrl: this is not an http",
		"--stdio x --baseUrl http://u:secret@b/":                            "--baseUrl: the URL holds more",
		"--stdio x --baseUrl http://b/a//b":                                 `--baseUrl: "/a//b" is not in its shortest form`,
		"--sse http://a/ --oauth2Bearer=":                                   "--oauth2Bearer: the token is empty",
		"--sse http://a/ --oauth2Bearer secret --header Authorization:b":    "--oauth2Bearer and a header both give Authorization",
		"--sse http://a/ --oauth2Bearer secret\x01":                         "--oauth2Bearer: the value of the header Authorization",
		"--stdio x --header A:secret":                                       "--header: a command takes no headers",
		"--sse http://a/ --streamableHttp http://b/":                        "--streamableHttp and --sse both give the upstream",
		"--sse http://a/ --oauth2Bearer secret --credentials none --strict": "--credentials: ",
	} {
		_, err := read(t, nil, spread(strings.Fields(args))...)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestSpread(t *testing.T) {
	for args, want := range map[string]string{
		"serve --cors a b --port 1": "serve --cors=a --cors=b --port 1",
		"serve --cors":              "serve --cors",
		"serve --cors --cors=a b":   "serve --cors --cors=a b",
		"serve --cors -- a":         "serve --cors -- a",
		"-- x --cors a":             "-- x --cors a",
		"--healthEndpoint /a /b c":  "--healthEndpoint=/a --healthEndpoint=/b c",
		"--healthEndpoint a":        "--healthEndpoint a",
	} {
		if got := strings.Join(spread(strings.Fields(args)), " "); got != want {
			t.Errorf("%s: got %s, want %s", args, got, want)
		}
	}
}

// TestServeAsSupergateway takes over a command line of it, and serves each
// transport where it would.
func TestServeAsSupergateway(t *testing.T) {
	site, s, end := bridgeTo(t, strings.Fields("--stateful --sse "+bridged(t)+"/sse --outputTransport sse --port 0 --ssePath /a --messagePath /b "+
		"--streamableHttpPath /c/ --healthEndpoint /up /healthz --cors https://a.example --protocolVersion 2024-11-05")...)
	site = strings.TrimSuffix(site, "/c/")
	for _, path := range []string{"/up", "/healthz/"} {
		if status, text := fetch(t, site+path); status != 200 || text != "ok" {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	if status, text := fetch(t, site+"/mcp"); status != 404 || !strings.Contains(text, "the MCP endpoint is /c/") {
		t.Errorf("elsewhere: %d %s", status, text)
	}
	for _, path := range []string{"/c", "/c/"} {
		c := &client{t: t, endpoint: site + path}
		if status, answer := c.initialize("2025-06-18"); status != 200 || !strings.Contains(answer, `"protocolVersion":"2025-06-18"`) {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	resp := pageOf(t, "https://a.example", site+"/a")
	if line, _ := bufio.NewReader(resp.Body).ReadString('\n'); resp.Header.Get("Access-Control-Allow-Origin") != "https://a.example" || line != "event: endpoint\n" {
		t.Errorf("a page of an allowed origin gets %d, %v, %q", resp.StatusCode, resp.Header, line)
	}
	if other := pageOf(t, "https://b.example", site+"/a"); other.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another origin gets %d", other.StatusCode)
	}
	if code := end(); code != 0 || !strings.Contains(s.err.String(), "--protocolVersion does nothing") || strings.Count(s.err.String(), "does nothing") != 1 {
		t.Errorf("exit code %d:\n%s", code, s.err)
	}
}

// bridged returns the site of one more bridge, before the usual upstream.
func bridged(t *testing.T) string {
	t.Helper()
	site, _, end := bridgeTo(t, upstream(t).URL+"/mcp")
	t.Cleanup(func() { end() })
	return site
}

// pageOf sends what a page of an origin makes a browser send.
func pageOf(t *testing.T, origin, url string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", origin)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// TestStdioAsSupergateway turns a URL into a server on the standard streams,
// by either command.
func TestStdioAsSupergateway(t *testing.T) {
	for command, idle := range map[string]string{
		"serve --outputTransport stdio --port 8000 --cors --streamableHttp ": `without effect: --port, --cors`,
		"stdio --outputTransport stdio --streamableHttp ":                    "",
	} {
		s := newSurroundings(nil)
		p := s.process()
		p.in = strings.NewReader(opening + calling)
		if code := run(append(strings.Fields(command+upstream(t).URL), "--oauth2Bearer", "s3cret", "--header", "X-Key: k"), p); code != 0 {
			t.Errorf("exit code %d:\n%s", code, s.err)
		}
		if !strings.Contains(s.out.String(), `{\"n\":9007199254740993,\"key\":\"k\"}`) {
			t.Errorf("standard output:\n%s\nstandard error:\n%s", s.out, s.err)
		}
		if log := s.err.String(); !strings.Contains(log, idle) || strings.Contains(log, "s3cret") || idle == "" && strings.Contains(log, "without effect") {
			t.Errorf("the log says:\n%s", log)
		}
	}
}

func TestStdioCommandTakesNoOtherOutput(t *testing.T) {
	s := newSurroundings(nil)
	if code := run([]string{"stdio", up, "--outputTransport", "sse"}, s.process()); code != 2 || !strings.Contains(s.err.String(), "use mcpbridge serve") {
		t.Errorf("exit code %d:\n%s", code, s.err)
	}
}

// TestRemarks: each flag that does less here than in supergateway is told of
// once, and nothing else is.
func TestRemarks(t *testing.T) {
	for args, want := range map[string][]string{
		"--stdio x --port 8000 --stateful --healthEndpoint /a":       nil,
		"--stdio x --outputTransport sse":                            {"--host 0.0.0.0"},
		"--stdio x --outputTransport sse --host 0.0.0.0":             nil,
		"--stdio x --oauth2Bearer t --stateful=false":                {"--stateful=false", "--oauth2Bearer"},
		"--stdio x --cors /a/ /b/":                                   {"--cors"},
		"--stdio x --outputTransport stdio --header A:b --ssePath /": {"--ssePath", "--header"},
	} {
		s := newSurroundings(nil)
		flags := newServeFlags()
		cmd := newServeCommand(s.process())
		cmd.ResetFlags()
		flags.define(cmd.Flags())
		if err := cmd.ParseFlags(spread(strings.Fields(args))); err != nil {
			t.Fatal(err)
		}
		g := given{flags: cmd.Flags()}
		c, err := flags.config(g, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := flags.remarks(c, g)
		if !slices.EqualFunc(got, want, strings.Contains) {
			t.Errorf("%s: %q", args, got)
		}
	}
}

// TestNoLog: --logLevel none is silent to the end.
func TestNoLog(t *testing.T) {
	s := newSurroundings(nil)
	s.stop <- syscall.SIGTERM
	if code := run([]string{"serve", up, "--port", "0", "--admin", "off", "--logLevel", "none"}, s.process()); code != 0 || s.err.String() != "" {
		t.Errorf("exit code %d:\n%s", code, s.err)
	}
}
