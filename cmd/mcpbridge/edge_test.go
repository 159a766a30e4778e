package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// told is a request with "Name: value" lines; its answer is read whole.
func told(t *testing.T, method, url, body string, lines ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
		}
		req.Header.Add(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

// The admin listener refuses to be open to other machines without a word of
// the operator, takes a token from the file or by flag, and a new one at once.
func TestAdminToken(t *testing.T) {
	const first, second = "first-token-0123456789", "second-token-0123456789"
	up := upstream(t).URL
	secret := filepath.Join(t.TempDir(), "token")
	replace(t, secret, []byte(first+"\n"))
	c := serveFileOf(t, "admin_token: ${file:"+secret+"}\n"+routeTo(up, ""), "--admin", "0.0.0.0:0")
	pages := func(token string, want map[string]int) {
		t.Helper()
		for page, status := range want {
			if got, _, text := told(t, "GET", c.admin+page, "", "Authorization: Bearer "+token); got != status {
				t.Errorf("%s with %s: %d %s", page, token, got, text)
			}
		}
	}
	pages("nothing", map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 401, "/": 401})
	pages(first, map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/": 200})
	replace(t, secret, []byte(second+"\n"))
	c.stop <- syscall.SIGHUP
	c.err.await(t, "the configuration was reloaded")
	pages(first, map[string]int{"/metrics": 401})
	pages(second, map[string]int{"/metrics": 200})
	replace(t, secret, []byte("short"))
	c.err.await(t, "admin_token: the token has 5 bytes")
	pages(second, map[string]int{"/metrics": 200})
	c.end()
	for _, token := range []string{first, second} {
		if strings.Contains(c.err.String(), token) {
			t.Errorf("the log shows %s:\n%s", token, c.err)
		}
	}
}

func TestAdminTokenByFlag(t *testing.T) {
	up := upstream(t).URL
	secret := filepath.Join(t.TempDir(), "token")
	replace(t, secret, []byte("token-in-a-file-0123\n"))
	c := serveFileOf(t, routeTo(up, ""), "--admin", "0.0.0.0:0", "--admin-token-file", secret)
	if got, _, _ := told(t, "GET", c.admin+"/metrics", ""); got != 401 {
		t.Errorf("without the token: %d", got)
	}
	replace(t, secret, []byte("token-in-a-file-4567\n"))
	c.err.await(t, "the configuration was reloaded") // it is watched
	if got, _, _ := told(t, "GET", c.admin+"/metrics", "", "Authorization: Bearer token-in-a-file-4567"); got != 200 {
		t.Errorf("with the new token: %d", got)
	}
	c.end()
	open := serveFileOf(t, routeTo(up, ""), "--admin", "0.0.0.0:0", "--admin-allow-anonymous")
	if got, _, _ := told(t, "GET", open.admin+"/metrics", ""); got != 200 {
		t.Errorf("anonymous: %d", got)
	}
	open.end()
}

func TestAdminRefusesToBeOpen(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "token")
	replace(t, secret, []byte("\n"))
	file := filepath.Join(t.TempDir(), "bridge.yaml")
	if err := os.WriteFile(file, []byte("admin: 0.0.0.0:0\n"+routeTo("http://127.0.0.1:1/", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"mcpbridge: --admin: other machines can reach":                {up, "--admin", "0.0.0.0:0", "--port", "0"},
		":1:8: admin: other machines can reach":                       {"--config", file, "--port", "0"},
		"is empty; it must hold the token":                            {up, "--admin-token-file", secret},
		"--admin-token-file: open " + secret + "x":                    {up, "--admin-token-file", secret + "x"},
		"--admin-allow-anonymous: this contradicts the admin token; ": {up, "--admin-token-file", file, "--admin-allow-anonymous"},
	} {
		if strings.HasPrefix(want, "--admin-allow") {
			token := filepath.Join(t.TempDir(), "token")
			replace(t, token, []byte("0123456789abcdef"))
			args[2] = token
		}
		s := newSurroundings(nil)
		if code := run(append([]string{"serve"}, args...), s.process()); code != 2 || !strings.Contains(s.err.String(), want) {
			t.Errorf("%q: exit code %d:\n%s", args, code, s.err)
		}
	}
}

// A proxy that is trusted says where clients come from and which prefix it
// took away; a peer that is not says nothing, and a reload changes which it is.
func TestTrustedProxies(t *testing.T) {
	up := upstream(t).URL
	file := func(trusted string) string { return trusted + routeTo(up, ", base_path: forwarded") }
	c := serveFileOf(t, file(""))
	lines := []string{"X-Forwarded-Prefix: /api", "X-Forwarded-For: 198.51.100.7", "Content-Type: application/json", "Accept: application/json"}
	prefix := func() string {
		req, _ := http.NewRequestWithContext(t.Context(), "GET", c.site+"/a/sse", nil)
		req.Header.Set("X-Forwarded-Prefix", "/api")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		in := bufio.NewReader(resp.Body)
		in.ReadString('\n')
		line, _ := in.ReadString('\n')
		path, _, _ := strings.Cut(strings.TrimPrefix(line, "data: "), "?")
		return path
	}
	open := func() { told(t, "POST", c.site+"/a", initialize, lines...) }
	if got := prefix(); got != "/api/a/messages" {
		t.Errorf("by default: %s", got)
	}
	open()
	c.err.await(t, `"remote":"198.51.100.7"`)
	c.write(file("trusted_proxies: [10.0.0.0/8]\n"))
	c.err.await(t, "the configuration was reloaded")
	if got := prefix(); got != "/a/messages" {
		t.Errorf("from a peer that is not listed: %s", got)
	}
	open()
	c.err.await(t, `"remote":"127.0.0.1:`)
	c.write(file("trusted_proxies: [127.0.0.1]\n"))
	awaitCount(t, c.err, "the configuration was reloaded", 2)
	if got := prefix(); got != "/api/a/messages" {
		t.Errorf("from a listed peer: %s", got)
	}
	c.end()
}

// mirror is a server that notes the headers of the last handshake.
func mirror(t *testing.T) (s *httptest.Server, last func() http.Header) {
	t.Helper()
	var mu sync.Mutex
	var seen http.Header
	plain := upstream(t).Config.Handler
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"initialize"`) {
			mu.Lock()
			seen = r.Header.Clone()
			mu.Unlock()
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		plain.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s, func() http.Header {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

// Which headers cross is what the route says, and some never do.
func TestHeaderLists(t *testing.T) {
	up, last := mirror(t)
	c := serveFileOf(t, "routes:\n- {name: plain, upstream: \""+up.URL+"\"}\n"+
		"- {name: some, upstream: \""+up.URL+"\", forward_headers: [\"X-Tenant-*\"]}\n"+
		"- {name: most, upstream: \""+up.URL+"\", drop_headers: [x-tenant-id, \"*key*\"]}\n"+
		"- {name: own, upstream: \""+up.URL+"\", headers: {Authorization: Bearer bridge, X-Tenant-Id: static}, forward_headers: [\"*\"]}\n")
	send := []string{
		"Authorization: Bearer client", "X-Tenant-Id: 7", "X-Tenant-Region: eu", "X-Api-Key: k", "Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"Cookie: c=1", "Referer: https://app.example/", "Sec-Fetch-Site: same-origin", "Forwarded: for=1.2.3.4", "X-Forwarded-For: 1.2.3.4", "X_Forwarded_For: 1.2.3.4",
		"Proxy-Authorization: Basic x", "Proxy: http://evil.example", "Connection: X-Hop, keep-alive", "X-Hop: 1", "Mcp-Session-Id: theirs", "Mcp_Session_Id: theirs", "Last-Event-ID: 9",
		"X-Original-URL: /admin", "X-HTTP-Method-Override: DELETE",
		"Content-Type: application/json", "Accept: application/json",
	}
	all := []string{"Authorization", "X-Tenant-Id", "X-Tenant-Region", "X-Api-Key", "Traceparent"}
	for path, want := range map[string]map[string]string{
		"/plain": {"Authorization": "Bearer client", "X-Tenant-Id": "7", "X-Tenant-Region": "eu", "X-Api-Key": "k", "Traceparent": "00"},
		"/some":  {"X-Tenant-Id": "7", "X-Tenant-Region": "eu"},
		"/most":  {"Authorization": "Bearer client", "X-Tenant-Region": "eu", "Traceparent": "00"},
		"/own":   {"Authorization": "Bearer bridge", "X-Tenant-Id": "static", "X-Tenant-Region": "eu", "X-Api-Key": "k", "Traceparent": "00"},
	} {
		// The first request of a session has no session of its own to name.
		lines := send
		for i, line := range lines {
			if strings.HasPrefix(line, "Mcp-Session-Id") {
				lines = append(append([]string{}, send[:i]...), send[i+1:]...)
			}
		}
		if status, _, text := told(t, "POST", c.site+path, initialize, lines...); status != 200 {
			t.Fatalf("%s: %d %s", path, status, text)
		}
		seen := last()
		for _, name := range all {
			if got := seen.Get(name); !strings.HasPrefix(got, want[name]) || (got == "") != (want[name] == "") {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		for name := range seen {
			switch name {
			case "Authorization", "X-Tenant-Id", "X-Tenant-Region", "X-Api-Key", "Traceparent", "Accept", "Accept-Encoding", "Content-Type", "Content-Length", "User-Agent", "Mcp-Protocol-Version":
			default:
				t.Errorf("%s: %s crosses: %q", path, name, seen[name])
			}
		}
	}
	c.end()
}

// Connections beyond the bound wait until another ends, and a reload moves it.
func TestMaxConnections(t *testing.T) {
	const most = 3
	s := newSurroundings(nil)
	cfg := defaults()
	cfg.Upstream, cfg.Listen, cfg.Admin, cfg.MaxConnections = up, "127.0.0.1:0", "127.0.0.1:0", most
	log, _ := newLog(cfg.Server, s.process())
	service, err := open(cfg.config(), log, newCall().build)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- service.run(s.stop) }()
	var line struct{ Endpoint, Admin string }
	if err := json.Unmarshal([]byte(s.err.await(t, `"serving"`)), &line); err != nil {
		t.Fatal(err)
	}
	at := service.endpoint.listener.Addr().String()
	var held []net.Conn
	knock := func() *bufio.Reader {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		held = append(held, conn)
		if _, err := io.WriteString(conn, "GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		return bufio.NewReader(conn)
	}
	answered := func(r *bufio.Reader) {
		t.Helper()
		if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, "404") {
			t.Fatalf("%q %v", line, err)
		}
	}
	for range most {
		answered(knock())
	}
	waiting := knock()
	s.err.await(t, `as many connections are open as max_connections lets`)
	if n := service.endpoint.crowd.count(); n != most {
		t.Errorf("%d are open", n)
	}
	_, text := fetch(t, line.Admin+"metrics") // the admin listener has room of its own
	for _, want := range []string{`mcpbridge_listener_connections{listener="endpoint"} 3`, `mcpbridge_listener_full_total{listener="endpoint"} 1`} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics have no line %s", want)
		}
	}
	held[0].Close()
	answered(waiting)
	more := knock()
	service.endpoint.crowd.bound(most + 1)
	answered(more)
	waiting = knock() // and is in nobody's way
	for _, conn := range held[:len(held)-1] {
		conn.Close()
	}
	answered(waiting)
	s.stop <- syscall.SIGTERM
	if err := <-done; err != nil {
		t.Error(err)
	}
}
