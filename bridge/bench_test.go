package bridge_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// quickServer answers every tool call with the same text, as fast as it can.
func quickServer(b *testing.B, text string) *httptest.Server {
	tail := []byte(`,"result":{"content":[{"type":"text","text":"` + text + `"}]}}`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case bytes.Contains(body, []byte(`"method":"notifications/`)):
			w.WriteHeader(http.StatusAccepted)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, rest, _ := bytes.Cut(body, []byte(`"id":`))
			id, _, _ := bytes.Cut(rest, []byte(`,`))
			answer := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
			if bytes.Contains(body, []byte(`"initialize"`)) {
				w.Header().Set(mcp.HeaderSession, "s")
				answer = append(answer, `,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"quick","version":"1"}}}`...)
			} else {
				answer = append(answer, tail...)
			}
			_, _ = w.Write(answer)
		}
	}))
	b.Cleanup(s.Close)
	return s
}

// caller makes the same call again and again.
type caller struct {
	web     *http.Client
	url     string
	session string
}

func (c *caller) post(b *testing.B, body string) (http.Header, int64) {
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header["Content-Type"] = []string{"application/json"}
	req.Header["Accept"] = []string{"application/json, text/event-stream"}
	if c.session != "" {
		req.Header[mcp.HeaderSession] = []string{c.session}
	}
	resp, err := c.web.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		b.Fatal(resp.Status, err)
	}
	return resp.Header, n
}

func (c *caller) run(b *testing.B, size int) {
	body := toolCall(`1`, "t", `"some small argument"`)
	c.post(b, body)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if _, n := c.post(b, body); n < int64(size) {
			b.Fatalf("%d bytes", n)
		}
	}
}

// bridged returns a caller that reaches the server through a bridge.
func bridged(b *testing.B, server *httptest.Server) *caller {
	r := newRigBefore(b, nil, server.URL, nil)
	c := &caller{web: r.web, url: r.url}
	h, _ := c.post(b, initializeWith(`0`, v4, `{}`))
	c.session = h.Get(mcp.HeaderSession)
	c.post(b, initialized)
	return c
}

// proxied returns a caller that reaches it through a plain reverse proxy.
func proxied(b *testing.B, server *httptest.Server) *caller {
	to, err := url.Parse(server.URL)
	if err != nil {
		b.Fatal(err)
	}
	upstream := &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}
	plain := &httputil.ReverseProxy{Transport: upstream, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Or a large answer that begins while the request's end is still being
		// looked for breaks off.
		_ = http.NewResponseController(w).EnableFullDuplex()
		plain.ServeHTTP(w, r)
	}))
	web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}
	b.Cleanup(func() {
		web.CloseIdleConnections()
		proxy.Close()
		upstream.CloseIdleConnections()
	})
	return &caller{web: web, url: proxy.URL}
}

// The measure of the bridge's speed is BenchmarkCall beside
// BenchmarkReverseProxy, in the same run.
func BenchmarkCall(b *testing.B) { bridged(b, quickServer(b, "small")).run(b, 0) }

func BenchmarkReverseProxy(b *testing.B) { proxied(b, quickServer(b, "small")).run(b, 0) }

func BenchmarkLargeResult(b *testing.B) {
	const size = 1 << 20
	text := strings.Repeat("x", size)
	b.Run("bridge", func(b *testing.B) { bridged(b, quickServer(b, text)).run(b, size) })
	b.Run("proxy", func(b *testing.B) { proxied(b, quickServer(b, text)).run(b, size) })
}
