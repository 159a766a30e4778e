package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// configured is a bridge that serves what a file says.
type configured struct {
	*surroundings
	t           *testing.T
	file        string
	site, admin string
	code        chan int
}

// serveFileOf writes a file and serves it on free ports.
func serveFileOf(t *testing.T, text string, args ...string) *configured {
	t.Helper()
	c := &configured{surroundings: newSurroundings(nil), t: t, file: filepath.Join(t.TempDir(), "bridge.yaml"), code: make(chan int, 1)}
	c.write(text)
	go func() {
		c.code <- run(append([]string{"serve", "--config", c.file, "--port", "0", "--admin", "127.0.0.1:0"}, args...), c.process())
	}()
	var line struct{ Endpoint, Admin string }
	if err := json.Unmarshal([]byte(c.err.await(t, `"serving"`)), &line); err != nil {
		t.Fatal(err)
	}
	scheme, rest, _ := strings.Cut(line.Endpoint, "://")
	host, _, _ := strings.Cut(rest, "/")
	c.site, c.admin = scheme+"://"+host, strings.TrimSuffix(line.Admin, "/")
	return c
}

func (c *configured) write(text string) {
	c.t.Helper()
	if err := os.WriteFile(c.file+".new", []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Rename(c.file+".new", c.file); err != nil { // as editors and Kubernetes do
		c.t.Fatal(err)
	}
}

func (c *configured) at(path string) *client { return &client{t: c.t, endpoint: c.site + path} }

func (c *configured) end() {
	c.t.Helper()
	c.stop <- syscall.SIGTERM
	if got := <-c.code; got != 0 {
		c.t.Errorf("exit code %d:\n%s", got, c.err)
	}
}

const callTool = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`

// Several routes stand behind one listener, each with its own path, policies
// and numbers, and one that is dead costs the others nothing.
func TestServeRoutes(t *testing.T) {
	up := upstream(t).URL + "/mcp"
	c := serveFileOf(t, `
routes:
- {name: plain, upstream: "`+up+`", headers: {X-Key: a}}
- {name: bare, path: /deep/bare/mcp, upstream: "`+up+`", headers: {X-Key: b}, inject_text: never}
- {name: dead, upstream: "http://127.0.0.1:1/mcp"}
`)
	for path, want := range map[string]string{
		"/plain":         `"text":"{\"n\":9007199254740993,\"key\":\"a\"}"`,
		"/plain/":        `"key":"a"`,
		"/plain/mcp":     `"key":"a"`,
		"/deep/bare/mcp": `"content":[]`,
	} {
		one := c.at(path)
		if status, answer := one.initialize("2024-11-05"); status != 200 {
			t.Errorf("%s: initialize: %d %s", path, status, answer)
		}
		if _, answer := one.post(callTool); !strings.Contains(answer, want) {
			t.Errorf("%s: %s, want %s", path, answer, want)
		}
	}
	for _, path := range []string{"/", "/mcp", "/bare", "/deep/bare"} {
		if status, answer := c.at(path).initialize("2024-11-05"); status != 404 || !strings.Contains(answer, "no MCP server is served at this path") {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	if status, answer := c.at("/dead").initialize("2024-11-05"); status == 200 && !strings.Contains(answer, "127.0.0.1:1") {
		t.Errorf("the dead one: %d %s", status, answer)
	}
	if status, text := fetch(t, c.admin+"/readyz"); status != 200 || !strings.Contains(text, "plain: ready\nbare: ready\ndead: not ready: ") {
		t.Errorf("readiness: %d %s", status, text)
	}
	for route, want := range map[string]int{"plain": 200, "dead": 503, "none": 404} {
		if status, text := fetch(t, c.admin+"/readyz?route="+route); status != want {
			t.Errorf("readiness of %s: %d %s", route, status, text)
		}
	}
	_, numbers := fetch(t, c.admin+"/metrics")
	for _, want := range []string{
		`mcpbridge_rewrites_total{change="inject-text",route="plain"} 3`,
		`mcpbridge_upstream_ready{route="plain"} 1`, `mcpbridge_upstream_ready{route="dead"} 0`,
		`mcpbridge_negotiations_total{negotiated="none",requested="2024-11-05",route="dead",side="server"} 1`,
	} {
		if !strings.Contains(numbers, want) {
			t.Errorf("the metrics have no line %s:\n%s", want, numbers)
		}
	}
	if strings.Contains(numbers, `change="inject-text",route="bare"`) {
		t.Error("text was added on the route that wants none")
	}
	c.end()
	for _, line := range []string{`"route":"plain"`, `"/deep/bare/ws"`} {
		if text := c.err.String(); !strings.Contains(strings.ReplaceAll(text, c.site, ""), strings.Trim(line, `"`)) && !strings.Contains(text, line) {
			t.Errorf("the log does not say %s:\n%s", line, text)
		}
	}
}

// What is wrong with a file is told with its place, and nothing starts.
func TestWrongFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.yaml")
	if err := os.WriteFile(file, []byte("routes:\n- {name: a, upstream: http://a/, los: pass}\nlisten: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"serve":    {[]string{"serve", "--config", file}, file + ":2:34: routes[0].los: there is no such key; did you mean loss?\n"},
		"validate": {[]string{"validate", file}, "mcpbridge: " + file + ":2:34: "},
		"explain":  {[]string{"explain", file}, file + ":2:34: "},
		"no file":  {[]string{"validate", file + "x"}, file + "x: no such file"},
		"upstream": {[]string{"serve", "http://a/", "--config", file}, "the upstreams stand in the file"},
		"flag":     {[]string{"serve", "--config", file, "--strict"}, "--strict: with a configuration file this stands in the file"},
	} {
		s := newSurroundings(nil)
		if code := run(tc.args, s.process()); code != 2 || !strings.Contains(s.err.String(), tc.want) {
			t.Errorf("%s: exit code %d: %s", name, code, s.err)
		}
		if file := !strings.Contains(s.err.String(), "stand"); file && strings.Contains(s.err.String(), "for usage") {
			t.Errorf("%s: usage does not help with a file: %s", name, s.err)
		}
	}
}

func TestValidateAndItsKin(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"right":   {[]string{"validate", "../../configs/gateway.yaml"}, "right, with 3 routes"},
		"foreign": {[]string{"validate", "../../configs/mcpservers.json"}, "right, with 2 routes"},
		"explain": {[]string{"explain", "../../configs/gateway.yaml"}, "files\n  Clients find it at /files (Streamable HTTP), /files/sse (HTTP+SSE), /files/ws (WebSocket).\n  The server is the command npx;"},
		"schema":  {[]string{"config", "schema"}, `"$schema": "https://json-schema.org/draft/2020-12/schema"`},
		"sample":  {[]string{"config", "sample"}, "request_timeout: 10m\n"},
	} {
		s := newSurroundings(map[string]string{"MCPBRIDGE_SECRET": strings.Repeat("k", 32), "SEARCH_TOKEN": "t0p-secret"})
		if code := run(tc.args, s.process()); code != 0 || !strings.Contains(s.out.String(), tc.want) {
			t.Errorf("%s: exit code %d: %s%s", name, code, s.out, s.err)
		}
		if strings.Contains(s.out.String(), "t0p-secret") {
			t.Errorf("%s shows a secret", name)
		}
	}
}
