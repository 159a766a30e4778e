package configs_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/configs"
)

// environment is what the files of these tests may refer to.
func environment(name string) (string, bool) {
	value, ok := map[string]string{
		"TOKEN": "t0p-secret", "EMPTY": "", "WAIT": "3m", "YES": "true", "MANY": "7",
	}[name]
	return value, ok
}

func load(t *testing.T, name, text string) (*configs.Loaded, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := configs.Load(file, environment, known)
	if err != nil && !strings.Contains(err.Error(), file) {
		t.Errorf("the error does not name the file: %v", err)
	}
	return loaded, err
}

const whole = `
listen: 0.0.0.0:8443
admin: "off"
allow_hosts: bridge.example.com
drain_timeout: 5s
log: {level: debug, format: json}
secrets:
  keys:
    - 0123456789012345678901234567890123456789
defaults: &d
  strict: true
  request_timeout: ${WAIT}
routes:
  - name: files
    command: [npx, -y, some-server]
    args: [/data]
    env: {LEVEL: warn, KEY: "${TOKEN}"}
    strict: ${YES}
  - name: remote
    path: /remote/mcp
    upstream: https://mcp.example.com/mcp
    headers:
      authorization: Bearer ${TOKEN}
      X-Two: [a, b]
    strict: false
    request_timeout: 1h
    elicitation_fallback: declare:decline
    max_body: 1MiB
    sse_path: "off"
`

func TestLoad(t *testing.T) {
	c, err := load(t, "a.yaml", whole)
	if err != nil {
		t.Fatal(err)
	}
	files, remote := c.Routes[0], c.Routes[1]
	for what, ok := range map[string]bool{
		"listen":              c.Listen == "0.0.0.0:8443" && slices.Equal(c.AllowedHosts, []string{"bridge.example.com"}),
		"nested":              c.LogLevel == "debug" && c.LogFormat == configs.LogJSON && len(c.SecretKeys) == 1,
		"drain":               c.DrainTimeout == 5*time.Second,
		"command":             slices.Equal(files.Command.Args, []string{"npx", "-y", "some-server", "/data"}),
		"variables":           slices.Equal(files.Command.Env, []string{"LEVEL=warn", "KEY=t0p-secret"}),
		"paths by name":       files.Path == "/files" && files.SSEPath == "/files/sse" && files.MessagePath == "/files/messages" && files.WSPath == "/files/ws",
		"paths by path":       remote.Path == "/remote/mcp" && remote.WSPath == "/remote/ws" && remote.SSEPath == "off",
		"a default":           files.Options.Strict && files.RequestTimeout == 3*time.Minute,
		"not the default":     !remote.Options.Strict && remote.RequestTimeout == time.Hour,
		"headers":             remote.Headers.Get("Authorization") == "Bearer t0p-secret" && slices.Equal(remote.Headers["X-Two"], []string{"a", "b"}),
		"fallback":            remote.Options.Fallback.Declare && remote.Options.Fallback.Action == "decline",
		"size":                remote.MaxBody == 1<<20 && files.MaxBody == 64<<20,
		"no shared headers":   len(files.Headers) == 0,
		"the file is watched": len(c.Files) == 1 && slices.Contains(slices.Collect(maps.Values(c.Files)), configs.Sum([]byte(whole))),
	} {
		if !ok {
			t.Errorf("%s: %+v", what, c)
		}
	}
}

// A wrong file is answered with one line for each thing that is wrong, each
// with its place, in the order of the file, and never with a secret.
func TestWrongFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string // each starts a line, after the name of the file
	}{
		"empty":         {"# nothing\n", []string{":1:1: the file is empty"}},
		"not YAML":      {"routes: [", []string{":1:9: this is neither YAML nor JSON"}},
		"not JSON":      {`{"routes": [}`, []string{":1:13: this is neither YAML nor JSON"}},
		"a list":        {"- a\n", []string{":1:1: here must stand keys"}},
		"two documents": {"routes: []\n---\nroutes: []\n", []string{":3:7: a second document"}},
		"key twice":     {"listen: a:1\nlisten: a:2\n", []string{":2:1: this is neither YAML nor JSON: mapping key"}},
		"no routes":     {"listen: a:1\n", []string{":1:1: routes: there is none"}},
		"unknown key": {"listen: a:1\nlog: {levle: info}\nroutes: [{name: a, upstream: http://a/, colour: red}]\n", []string{
			":2:7: log.levle: there is no such key; did you mean level?", ":3:41: routes[0].colour: there is no such key; the keys here are: name, "}},
		"our spelling": {"routes: [{name: a, upstream: http://a/, requestTimeout: 3s}]\n", []string{
			":1:41: routes[0].requestTimeout: there is no such key; did you mean request_timeout?"}},
		"wrong kinds": {"routes:\n- name: a\n  upstream: [1, 2]\n  strict: yes\n  request_timeout: 10\n  max_body: big\n  headers: X\n  env: [A]\n", []string{
			":3:13: routes[0].upstream: here must stand one value, not a list", ":4:11: routes[0].strict: \"yes\" is neither true nor false",
			":5:20: routes[0].request_timeout: \"10\" is no duration; write it with its unit", ":6:13: routes[0].max_body: \"big\" is not a size",
			":7:12: routes[0].headers: here must stand keys", ":8:8: routes[0].env: here must stand keys"}},
		"wrong values": {"listen: a\nroutes:\n- name: a\n  upstream: http://a/\n  loss: maybe\n- name: a\n  upstream: ftp://b\n  path: /a\n", []string{
			":1:9: listen: \"a\" is not an address", ":5:9: routes[0].loss: \"maybe\" is not known", ":6:9: routes[1].name: \"a\" is the name of routes[0] too",
			":7:13: routes[1].upstream: this is not an http", ":8:9: routes[1].path: \"/a\" is the path of the Streamable HTTP endpoint"}},
		"in the defaults": {"defaults: {strict: 3, name: x}\nroutes: [{name: a, upstream: http://a/}, {name: b, upstream: http://a/}]\n", []string{
			":1:20: defaults.strict: \"3\" is neither", ":1:23: defaults.name: there is no such key"}},
		"no name":          {"routes: [{upstream: http://a/}]\n", []string{":1:10: routes[0].name: the name is missing"}},
		"no reference":     {"routes: [{name: a, upstream: \"http://a/${NOPE}\"}]\n", []string{":1:30: routes[0].upstream: the variable NOPE is not set"}},
		"open reference":   {"routes: [{name: a, upstream: \"http://a/${TOKEN\"}]\n", []string{":1:30: routes[0].upstream: a reference ${... is not closed"}},
		"no file":          {"routes: [{name: a, upstream: \"${file:none}\"}]\n", []string{":1:30: routes[0].upstream: "}},
		"secret upstream":  {"routes: [{name: a, upstream: \"${TOKEN}\"}]\n", []string{":1:30: routes[0].upstream: this is not an http"}},
		"secret key":       {"secrets: {keys: [\"${TOKEN}\"]}\nroutes: [{name: a, upstream: http://a/}]\n", []string{":1:18: secrets.keys[0]: the key has 10 bytes"}},
		"alias of nothing": {"listen: *x\nroutes: [{name: a, upstream: http://a/}]\n", []string{":1:9: "}},
		"merge":            {"x-a: &a {name: a}\nroutes: [{<<: *a, name: b, upstream: http://a/}]\n", []string{":2:13: routes[0]: merging with <<"}},
		"half of TLS":      {"tls: {cert_file: a.pem}\nroutes: [{name: a, upstream: http://a/}]\n", []string{":1:6: tls.key_file: a certificate needs its key"}},
		"no such type":     {"mcpServers: {a: {type: carrier-pigeon, url: http://a/}}\n", []string{":1:18: mcpServers.a: the type \"carrier-pigeon\" is not known"}},
		"no command":       {"mcpServers: {a: {type: stdio}}\n", []string{":1:18: mcpServers.a: a server of the type \"stdio\" needs a command"}},
		"nothing at all":   {"mcpServers: {a: {}}\n", []string{":1:17: mcpServers.a.upstream: no upstream was given"}},
		"wrong rules": {"routes:\n- name: a\n  upstream: http://a/\n  clients:\n  - match: {version: '>=x'}\n  - strict: true\n  - {match: {name: a}, upstream_versions: [2026-07-28]}\n  tools:\n  - {name: '[', elicitation_fallback: accept}\n", []string{
			":5:22: routes[0].clients[0].match.version: ", ":6:11: routes[0].clients[1].match.name: is empty", ":7:43: routes[0].clients[2].upstream_versions: \"2026-07-28\" is not known",
			":9:12: routes[0].tools[0].name: \"[\" is no pattern"}},
		"asked for": {`{"mcpServers": {"a": {"url": "http://a/", "headers": {"A": "${input:key}"}}}}`, []string{":1:60: mcpServers.a.headers.A: ${input:key} is asked for by an editor"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, "b.yaml", tc.text)
			if err == nil {
				t.Fatal("accepted")
			}
			if strings.Contains(err.Error(), "t0p-secret") {
				t.Errorf("a secret is shown: %v", err)
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(tc.want) {
				t.Fatalf("%d problems, want %d:\n%v", len(lines), len(tc.want), err)
			}
			for i, line := range lines {
				if _, rest, _ := strings.Cut(line, "b.yaml"); !strings.HasPrefix(rest, tc.want[i]) {
					t.Errorf("problem %d: %s\nwant %s", i, line, tc.want[i])
				}
			}
		})
	}
}

func TestReferences(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("from-a-file\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"${TOKEN}": "t0p-secret", "a${TOKEN}b${env:TOKEN}": "at0p-secretbt0p-secret", "${NOPE:-x}": "x", "${EMPTY:-x}": "x",
		"${EMPTY}": "", "${NOPE:-}": "", "$$TOKEN": "$TOKEN", "$${TOKEN}": "${TOKEN}", "a$b": "a$b", "a$": "a$", "${file:key}": "from-a-file",
	} {
		file := filepath.Join(dir, "c.yaml")
		if err := os.WriteFile(file, []byte("routes:\n- {name: a, command: a, env: {A: '"+text+"'}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := configs.Load(file, environment, known)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := c.Routes[0].Command.Env[0]; got != "A="+want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		if strings.Contains(text, "file:") && c.Files[filepath.Join(dir, "key")] != configs.Sum([]byte("from-a-file\r\n")) {
			t.Errorf("the file is not watched: %v", c.Files)
		}
	}
}

// Files of desktop clients are accepted as they are.
func TestForeignFiles(t *testing.T) {
	c, err := load(t, "mcp.json", `{
	"globalShortcut": "Ctrl+Space",
	"mcpServers": {
		"Local Files!": {"command": "npx", "args": ["-y", "server", "/data"], "env": {"KEY": "${TOKEN}", "N": 1}, "autoApprove": ["read"], "timeout": 60},
		"remote": {"type": "streamable-http", "url": "https://a.example/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}},
		"plain": {"url": "https://a.example/mcp"},
		"http": {"type": "http", "url": "https://a.example/mcp"},
		"camel": {"transport": "streamableHttp", "url": "https://a.example/mcp"},
		"gemini": {"httpUrl": "https://a.example/mcp"},
		"windsurf": {"serverUrl": "https://a.example/sse", "transport": "SSE"},
		"socket": {"transportType": "websocket", "url": "wss://a.example/ws"},
		"idle": {"command": "x", "disabled": true},
		"off": {"command": "x", "enabled": false}
	}}`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range c.Routes {
		got = append(got, strings.Join([]string{r.Name, r.Path, r.UpstreamName(), string(r.UpstreamTransport)}, " "))
	}
	want := []string{
		"Local-Files /Local-Files npx auto", "remote /remote https://a.example/mcp streamable-http", "plain /plain https://a.example/mcp auto",
		"http /http https://a.example/mcp auto", "camel /camel https://a.example/mcp streamable-http", "gemini /gemini https://a.example/mcp auto",
		"windsurf /windsurf https://a.example/sse sse", "socket /socket wss://a.example/ws auto",
	}
	if !slices.Equal(got, want) {
		t.Errorf("routes:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want := []string{"globalShortcut: without effect here", "mcpServers.Local Files!: without effect here: autoApprove, timeout",
		"mcpServers.idle: it is disabled, and not served", "mcpServers.off: it is disabled, and not served"}; !slices.Equal(c.Remarks, want) {
		t.Errorf("remarks: %q", c.Remarks)
	}
}

// Exceptions build on what the route says, wherever that stands.
func TestRules(t *testing.T) {
	c, err := load(t, "rules.yaml", `
routes:
- name: a
  upstream: http://a/
  clients:
  - match: {name: "cursor*", version: "<1.5"}
    loss: refuse
  - match: {protocol: 2024-11-05}
    strict: false
    request_timeout: 5s
    upstream_versions: [2025-03-26]
  strict: true
  tools:
  - {name: "delete_*", elicitation_fallback: decline}
  flatten_lists: true
  probe: never
`)
	if err != nil {
		t.Fatal(err)
	}
	r := c.Routes[0]
	first, second := r.Clients[0], r.Clients[1]
	for what, ok := range map[string]bool{
		"the route":        r.Options.Strict && r.Options.FlattenLists && r.Probe == "never" && r.Options.FallbackFor("delete_all").Action == "decline",
		"what it says":     first.Match.Name == "cursor*" && first.Options.Loss == "refuse" && second.RequestTimeout == 5*time.Second,
		"what it does not": first.Options.Strict && first.Options.FlattenLists && first.Options.FallbackFor("delete_all").Action == "decline",
		"the other way":    !second.Options.Strict && second.UpstreamVersions[0] == "2025-03-26",
	} {
		if !ok {
			t.Errorf("%s: %+v", what, r)
		}
	}
}

// Anchors serve a file that repeats itself.
func TestAnchors(t *testing.T) {
	c, err := load(t, "d.yaml", "x-headers: &h {X-Team: a}\nroutes:\n- {name: a, upstream: http://a/, headers: *h}\n- {name: b, upstream: http://a/, headers: *h}\n")
	if err != nil || c.Routes[1].Headers.Get("X-Team") != "a" {
		t.Errorf("%+v, %v", c, err)
	}
}
