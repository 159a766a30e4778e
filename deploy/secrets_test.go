package deploy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A secret of each kind. The texts must not occur in anything that is shown.
const (
	headerSecret  = "zq-header-4711"
	querySecret   = "zq-query-4712"
	commandSecret = "zq-command-4713"
	clientSecret  = "zq-client-4714"
	keySecret     = "zq-key-4715"
	stateSecret   = "zq-state-4716"
	adminSecret   = "zq-admin-4717-long-enough"
	sealSecret    = "zq-seal-4718-long-enough-to-seal-with"
	sessionSecret = "zq-upstream-session-4719"
	bodySecret    = "zq-argument-4720"
	tokenPayload  = "eyJpc3MiOiJ6cSIsInN1YiI6InpxLXN1Yi00NzIxIn0" // {"iss":"zq","sub":"zq-sub-4721"}
	subjectSecret = "zq-sub-4721"
)

func secrets() []string {
	return []string{headerSecret, querySecret, commandSecret, clientSecret, keySecret, stateSecret, adminSecret, sealSecret, sessionSecret, bodySecret, tokenPayload, subjectSecret}
}

const leaky = `
listen: 127.0.0.1:0
admin: 127.0.0.1:0
admin_token: ${ADMIN_TOKEN}
secrets: {keys: ["${SEAL_KEY}"]}
log: {level: debug, format: json}
defaults: {headers: {X-Static: "${HEADER}"}, connect_timeout: 2s, request_timeout: 2s}
routes:
- {name: good, upstream: "UPSTREAM/good?token=${QUERY}"}
- {name: refuses, upstream: "UPSTREAM/refuses?token=${QUERY}"}
- {name: breaks, upstream: "UPSTREAM/breaks?token=${QUERY}"}
- {name: garbage, upstream: "UPSTREAM/garbage?token=${QUERY}"}
- {name: elsewhere, upstream: "UPSTREAM/elsewhere?token=${QUERY}"}
- {name: dead, upstream: "http://127.0.0.1:1/dead?token=${QUERY}"}
- {name: deadsocket, upstream: "ws://127.0.0.1:1/dead?token=${QUERY}"}
- {name: deadstream, upstream: "http://127.0.0.1:1/dead?token=${QUERY}", upstream_transport: sse}
- {name: program, command: [/bin/sh, -c, "echo starting with $$KEY >&2; exit 3"], env: {KEY: "${COMMAND}"}, headers: {}}
`

// leakyServer answers in the ways in which errors are made.
func leakyServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &m)
		w.Header().Set("Mcp-Session-Id", sessionSecret)
		switch r.URL.Path {
		case "/refuses":
			w.WriteHeader(http.StatusUnauthorized)
		case "/breaks":
			w.WriteHeader(http.StatusInternalServerError)
		case "/elsewhere":
			w.Header().Set("Location", "http://127.0.0.1:1/?token="+querySecret)
			w.WriteHeader(http.StatusTemporaryRedirect)
		case "/garbage":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"no message": "`+sessionSecret)
		default:
			if m.ID == nil || m.Method == "" {
				w.WriteHeader(http.StatusAccepted)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			if m.Method == "initialize" {
				_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"up","version":"1"}}}`, m.ID)
				return
			}
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"none"}}`, m.ID)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// leak runs the program with a secret of each kind and returns its log and all
// that it answers.
func leak(t *testing.T) (log string, answers map[string]string) {
	t.Helper()
	path := program(t)
	file := filepath.Join(t.TempDir(), "mcpbridge.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(leaky, "UPSTREAM", leakyServer(t).URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "serve", "--config", file)
	cmd.Env = []string{"ADMIN_TOKEN=" + adminSecret, "SEAL_KEY=" + sealSecret, "HEADER=" + headerSecret, "QUERY=" + querySecret, "COMMAND=" + commandSecret, "PATH=/usr/bin:/bin"}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(stderr)
	var head strings.Builder
	p := serving(t, bufio.NewReader(io.TeeReader(in, &head)), cmd.Args)
	rest := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(in)
		rest <- string(text)
	}()
	defer func() {
		if t.Failed() && log == "" { // somebody gave up
			_ = cmd.Process.Kill()
			t.Logf("the log:\n%s%s", head.String(), <-rest)
		}
	}()
	answers = provoke(t, strings.TrimSuffix(p.Endpoint, "/"), strings.TrimSuffix(p.Admin, "/"))
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	log = head.String() + <-rest
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
	return log, answers
}

// provoke makes errors of each kind and returns the bodies of all answers, and
// their headers but for that of the session, which is the client's.
func provoke(t *testing.T, endpoint, admin string) map[string]string {
	t.Helper()
	answers := map[string]string{}
	say := func(name, method, url, body string, lines ...string) http.Header {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range append([]string{"Content-Type: application/json", "Accept: application/json, text/event-stream"}, lines...) {
			key, value, _ := strings.Cut(line, ": ")
			req.Header.Set(key, value)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		header := resp.Header.Clone()
		header.Del("Mcp-Session-Id")
		answers[name] = fmt.Sprint(resp.StatusCode, header, string(text))
		return resp.Header
	}
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","arguments":{"a":"` + bodySecret + `"}}}`
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}`
	for _, who := range []string{"Bearer " + clientSecret, "Bearer e30." + tokenPayload + ".c2ln", "Basic " + clientSecret} {
		lines := []string{"Authorization: " + who, "X-Api-Key: " + keySecret, "Cookie: c=" + keySecret}
		for _, route := range []string{"good", "refuses", "breaks", "garbage", "elsewhere", "dead", "deadsocket", "deadstream", "program"} {
			at, name := endpoint+"/"+route, route+" "+who[:8]
			h := say(name+" initialize", "POST", at, initialize, lines...)
			with := append([]string{"Mcp-Session-Id: " + h.Get("Mcp-Session-Id")}, lines...)
			say(name+" call", "POST", at, call, with...)
			say(name+" foreign", "POST", at, call, with[0], "Authorization: Bearer other")
			say(name+" stateless", "POST", at, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x","arguments":{"a":"`+bodySecret+`"},"requestState":"`+stateSecret+`",`+meta+`}}`,
				append([]string{"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: x"}, lines...)...)
			say(name+" no session", "POST", at, call, append([]string{"Mcp-Session-Id: " + stateSecret}, lines...)...)
			say(name+" no JSON", "POST", at, `{"a":"`+bodySecret+`",`, lines...)
			say(name+" no JSON-RPC", "POST", at, `{"`+bodySecret+`":1}`, lines...)
			say(name+" no stream", "POST", at+"/messages?session="+stateSecret, call, lines...)
			say(name+" DELETE", "DELETE", at, "", with...)
		}
		say("nowhere "+who[:8], "POST", endpoint+"/"+"nowhere?token="+querySecret, call, lines...)
	}
	for _, page := range []string{"/metrics", "/", "/readyz", "/healthz"} {
		say("admin "+page, "GET", admin+page, "", "Authorization: Bearer "+adminSecret)
		say("admin, refused "+page, "GET", admin+page, "", "Authorization: Bearer "+clientSecret)
	}
	return answers
}

// Nothing that the program writes or answers holds a credential: of the
// operator, of clients, of the server, or what they carry for each other (field
// report 171).
func TestSecretsStayInside(t *testing.T) {
	log, answers := leak(t)
	if !strings.Contains(log, `"level":"debug"`) || strings.Count(log, `"level":"warn"`) < 10 {
		t.Errorf("the log says too little for this test:\n%s", log)
	}
	if !strings.Contains(answers["admin /metrics"], "mcpbridge_errors_total") || !strings.Contains(answers["admin /readyz"], "dead: not ready") {
		t.Errorf("the pages say too little for this test: %.500s", answers["admin /readyz"])
	}
	for _, secret := range secrets() {
		for line := range strings.Lines(log) {
			if strings.Contains(line, secret) {
				t.Errorf("the log shows %s: %s", secret, line)
			}
		}
		for name, text := range answers {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows %s: %.600s", name, secret, text)
			}
		}
	}
}
