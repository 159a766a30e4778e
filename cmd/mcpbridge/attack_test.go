package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/klauspost/compress/zstd"
)

// A page of a foreign site reaches nothing, by whatever name it made its
// browser come, and wherever it goes (field report 166). Nothing of its request
// is read.
func TestRebinding(t *testing.T) {
	up := newLedger(t)
	c := serveFileOf(t, "routes:\n- {name: a, path: /mcp, upstream: \""+up.URL+"\"}\n")
	host, port := strings.TrimPrefix(c.site, "http://"), c.site[strings.LastIndexByte(c.site, ':'):]
	admin := strings.TrimPrefix(c.admin, "http://")
	places := []struct {
		method, url, own string
		more             []string
	}{
		{"GET", c.site + "/mcp", host, []string{"Accept: text/event-stream"}},
		{"POST", c.site + "/mcp", host, []string{"Accept: application/json", "Content-Type: application/json"}},
		{"DELETE", c.site + "/mcp", host, []string{"Mcp-Session-Id: x"}},
		{"GET", c.site + "/sse", host, []string{"Accept: text/event-stream"}},
		{"POST", c.site + "/messages?session=x", host, []string{"Content-Type: application/json"}},
		{"GET", c.site + "/ws", host, []string{"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}},
		{"GET", c.admin + "/metrics", admin, nil}, {"GET", c.admin + "/readyz", admin, nil}, {"GET", c.admin + "/", admin, nil}, {"GET", c.admin + "/healthz", admin, nil},
	}
	for _, p := range places {
		for _, attack := range [][]string{
			{"Host: evil.example" + port}, {"Host: evil.example"}, {"Host: localhost:9999"}, {"Host: localhost.evil.example" + port}, {"Host: 127.0.0.1.nip.example"},
			{"Host: 127.0.0.2" + port}, {"Host: [::2]" + port}, {"Host: localhost." + port},
			{"Origin: null"}, {"Origin: http://localhost.evil.example"}, {"Origin: http://127.0.0.1:3000"}, {"Origin: https://" + p.own}, {"Origin: file://"},
			{"Origin: http://" + p.own + "@evil.example"}, {"Host: evil.example" + port, "Origin: http://evil.example" + port},
			{"Host: evil.example" + port, "X-Forwarded-Host: localhost" + port}, {"Origin: http://evil.example", "X-Forwarded-Host: localhost"},
		} {
			status, header, text := told(t, p.method, p.url, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}}`, append(attack, p.more...)...)
			if status != http.StatusForbidden || strings.Contains(text, `"id"`) || header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s with %q: %d %s", p.method, p.url, attack, status, text)
			}
			if strings.HasPrefix(p.url, c.site) && !strings.HasPrefix(text, `{"jsonrpc":"2.0","error":{`) {
				t.Errorf("%s %s with %q: %s", p.method, p.url, attack, text)
			}
		}
		for _, name := range []string{"localhost", "LOCALHOST", "127.0.0.1", "[::1]"} {
			at := p.own[strings.LastIndexByte(p.own, ':'):]
			status, _, _ := told(t, "PUT", p.url, "", "Host: "+name+at, "Origin: http://"+strings.ToLower(name)+at)
			if status == http.StatusForbidden {
				t.Errorf("%s as %s is refused", p.url, name)
			}
		}
	}
	if bodies, _ := up.taken(); len(bodies) > 0 {
		t.Errorf("the server was sent %q", bodies)
	}
	c.end()
}

// canary is a server at another origin that must never hear anything.
type canary struct {
	*httptest.Server
	mu   sync.Mutex
	came []string
}

func newCanary(t *testing.T) *canary {
	t.Helper()
	c := &canary{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.came = append(c.came, fmt.Sprint(r.Method, " ", r.URL, " ", r.Header))
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(c.Close)
	return c
}

// A server that leads elsewhere, by redirects, endpoint events, the URL of its
// metadata or URLs in messages, is not followed there: neither tokens nor
// session ids, nor any request at all, reach another origin.
func TestCanary(t *testing.T) {
	bird := newCanary(t)
	plain := upstream(t).Config.Handler
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var status int
		mode, to, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		target := map[string]string{"": bird.URL + "/mcp", "rel": strings.TrimPrefix(bird.URL, "http:") + "/mcp",
			"user": "http://" + r.Host + "@" + strings.TrimPrefix(bird.URL, "http://") + "/mcp", "slash": `http:\\` + strings.TrimPrefix(bird.URL, "http://")}[to]
		_, _ = fmt.Sscan(mode, &status)
		switch {
		case mode == "late": // only when there is a session to tell of
			if strings.Contains(string(body), "initialize") {
				w.Header().Set("Mcp-Session-Id", "upstream-session")
				plain.ServeHTTP(w, r)
				return
			}
			status = http.StatusTemporaryRedirect
			fallthrough
		case status != 0:
			w.Header().Set("Location", target)
			w.WriteHeader(status)
		case mode == "sse":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "event: endpoint\ndata: "+target+"\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		case mode == "auth":
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+bird.URL+`/.well-known/oauth-protected-resource"`)
			w.WriteHeader(http.StatusUnauthorized)
		case mode == "links" && strings.Contains(string(body), "tools/call"):
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+idOf(string(body))+`,"result":{"content":[{"type":"resource_link","name":"x","uri":"`+bird.URL+`/r"}],"structuredContent":{"$ref":"`+bird.URL+`/s"}}}`)
		default:
			plain.ServeHTTP(w, r)
		}
	}))
	defer evil.Close()
	var text strings.Builder
	text.WriteString("defaults: {connect_timeout: 300ms}\nroutes:\n")
	paths := []string{"auth", "links", "sse", "sse/rel", "late", "late/rel"}
	for _, status := range []string{"301", "302", "303", "307", "308"} {
		paths = append(paths, status, status+"/rel", status+"/user", status+"/slash")
	}
	for i, path := range paths {
		scheme, more := "http", ""
		if strings.HasPrefix(path, "sse") {
			more = ", upstream_transport: sse"
		}
		fmt.Fprintf(&text, "- {name: r%d, upstream: \"%s%s/%s\"%s}\n", i, scheme, strings.TrimPrefix(evil.URL, "http"), path, more)
		fmt.Fprintf(&text, "- {name: w%d, upstream: \"ws%s/%s\"}\n", i, strings.TrimPrefix(evil.URL, "http"), path)
	}
	c := serveFileOf(t, text.String())
	for i := range paths {
		for _, kind := range []string{"/r", "/w"} {
			at := c.site + kind + fmt.Sprint(i)
			lines := []string{"Authorization: Bearer canary-token", "X-Api-Key: canary-key", "Content-Type: application/json", "Accept: application/json"}
			_, header, _ := told(t, "POST", at, initialize, lines...)
			if id := header.Get("Mcp-Session-Id"); id != "" {
				lines = append(lines, "Mcp-Session-Id: "+id)
				told(t, "POST", at, callTool, lines...)
				told(t, "DELETE", at, "", lines...)
			}
		}
	}
	c.end()
	bird.mu.Lock()
	defer bird.mu.Unlock()
	if len(bird.came) > 0 {
		t.Errorf("another origin was asked %d times:\n%s", len(bird.came), strings.Join(bird.came, "\n"))
	}
}

// idOf returns the id of a request, as it stands there.
func idOf(body string) string {
	_, rest, _ := strings.Cut(body, `"id":`)
	return rest[:strings.IndexAny(rest, ",}")]
}

// A small answer that becomes a large one is given up at max_body, whatever it
// was compressed by, as a body and as an event stream; others are served.
func TestCompressedBombs(t *testing.T) {
	const size = 96 << 20
	bombs := map[string][]byte{}
	zeros := io.LimitReader(endless{}, size)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, `data: {"jsonrpc":"2.0","id":1,"result":"`)
	_, _ = io.Copy(z, zeros)
	_ = z.Close()
	bombs["gzip"] = bytes.Clone(packed.Bytes())
	packed.Reset()
	s, err := zstd.NewWriter(&packed, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(s, io.LimitReader(endless{}, size))
	_ = s.Close()
	bombs["zstd"] = packed.Bytes()
	plain := upstream(t).Config.Handler
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		encoding, kind, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if bombs[encoding] == nil || !strings.Contains(string(body), "tools/call") {
			plain.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Encoding", encoding)
		w.Header().Set("Content-Type", map[string]string{"json": "application/json", "events": "text/event-stream"}[kind])
		_, _ = w.Write(bombs[encoding])
	}))
	defer up.Close()
	text := "defaults: {max_body: 1MiB}\nroutes:\n"
	for name, path := range map[string]string{"a": "gzip/json", "b": "gzip/events", "c": "zstd/json", "d": "zstd/events", "fine": "mcp"} {
		text += "- {name: " + name + ", upstream: \"" + up.URL + "/" + path + "\"}\n"
	}
	c := serveFileOf(t, text)
	fine := c.at("/fine")
	fine.initialize("2025-11-25")
	before := peak()
	for _, path := range []string{"/a", "/b", "/c", "/d"} {
		one := c.at(path)
		one.initialize("2025-11-25")
		begun := time.Now()
		if status, answer := one.post(callTool); status != 200 || !strings.Contains(answer, `"error"`) || !strings.Contains(answer, "max_body") || !strings.Contains(answer, "server") {
			t.Errorf("%s: %d %.300s", path, status, answer)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("%s took %s", path, took)
		}
		if _, answer := fine.post(callTool); !strings.Contains(answer, `"result"`) {
			t.Errorf("another client: %s", answer)
		}
	}
	if now := peak(); now > before+48<<20 {
		t.Errorf("%d MiB were taken", (now-before)>>20)
	}
	c.end()
}

// peak is how much memory the process has taken from the system.
func peak() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapSys
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// Bodies that clients compressed are refused before they are read, and
// WebSockets compress nothing.
func TestCompressedRequests(t *testing.T) {
	up := newLedger(t)
	c := serveFileOf(t, "routes:\n- {name: a, path: /mcp, upstream: \""+up.URL+"\"}\n")
	for _, at := range []string{"/mcp", "/messages?session=x"} {
		for _, encoding := range []string{"gzip", "zstd", "br", "identity, gzip", "GZIP"} {
			status, _, text := told(t, "POST", c.site+at, "\x1f\x8b", "Content-Encoding: "+encoding, "Content-Type: application/json", "Accept: application/json")
			if want := map[bool]int{true: 415, false: 404}[at == "/mcp"]; status != want && status != 415 || status == 415 && !strings.Contains(text, "without Content-Encoding") {
				t.Errorf("%s with %s: %d %s", at, encoding, status, text)
			}
		}
	}
	dialer := websocket.Dialer{EnableCompression: true}
	conn, resp, err := dialer.Dial("ws"+strings.TrimPrefix(c.site, "http")+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Header.Get("Sec-WebSocket-Extensions"); got != "" {
		t.Errorf("a socket compresses by %s", got)
	}
	conn.Close()
	c.end()
}
