package sse

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

func TestServerRefuses(t *testing.T) {
	transporttest.Goroutines(t)
	r := newRig(t, newScripted(), ServerConfig{Limits: web.Limits{MaxBody: 1000}})
	defer r.stop()
	s := r.open("Authorization", "Bearer a")
	defer s.leave()
	for name, c := range map[string]struct {
		method, path, body string
		header             []string
		status             int
		allow              string
	}{
		"foreign host":       {"GET", StreamPath, "", []string{"Host", "evil.example"}, 403, ""},
		"foreign origin":     {"GET", StreamPath, "", []string{"Origin", "https://evil.example"}, 403, ""},
		"foreign POST":       {"POST", s.endpoint, ping, []string{"Origin", "null"}, 403, ""},
		"guard first":        {"PUT", StreamPath, "", []string{"Host", "localhost:9999"}, 403, ""},
		"Streamable HTTP":    {"POST", StreamPath, initialize, []string{"Accept", "application/json, text/event-stream"}, 405, "GET"},
		"HEAD":               {"HEAD", StreamPath, "", nil, 405, "GET"},
		"DELETE":             {"DELETE", StreamPath, "", nil, 405, "GET"},
		"GET of messages":    {"GET", s.endpoint, "", nil, 405, "POST"},
		"OPTIONS":            {"OPTIONS", s.endpoint, "", nil, 405, "POST"},
		"no content type":    {"POST", s.endpoint, ping, []string{"Content-Type", ""}, 415, ""},
		"text":               {"POST", s.endpoint, ping, []string{"Content-Type", "text/plain"}, 415, ""},
		"other charset":      {"POST", s.endpoint, ping, []string{"Content-Type", "application/json; charset=latin1"}, 415, ""},
		"compressed":         {"POST", s.endpoint, ping, []string{"Content-Encoding", "gzip"}, 415, ""},
		"no session":         {"POST", MessagePath, ping, nil, 400, ""},
		"empty session":      {"POST", MessagePath + "?session=", ping, nil, 400, ""},
		"unknown session":    {"POST", MessagePath + "?session=x", ping, []string{"Authorization", "Bearer a"}, 404, ""},
		"other credentials":  {"POST", s.endpoint, ping, []string{"Authorization", "Bearer b"}, 404, ""},
		"no credentials":     {"POST", s.endpoint, ping, nil, 404, ""},
		"too large":          {"POST", s.endpoint, `"` + strings.Repeat("x", 1000) + `"`, []string{"Authorization", "Bearer a"}, 413, ""},
		"too large, foreign": {"POST", s.endpoint, strings.Repeat("x", 1001), nil, 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			resp := r.do(t.Context(), c.method, c.path, c.body, c.header...)
			defer resp.Body.Close()
			if resp.StatusCode != c.status || resp.Header.Get("Allow") != c.allow {
				t.Errorf("status %d, Allow %q", resp.StatusCode, resp.Header.Get("Allow"))
			}
			if c.method != "HEAD" {
				checkProblem(t, resp)
			}
		})
	}
}

func checkProblem(t *testing.T, resp *http.Response) {
	t.Helper()
	var body struct {
		ID    json.RawMessage
		Error struct {
			Code    int
			Message string
		}
	}
	text, _ := io.ReadAll(resp.Body)
	if err := json.Unmarshal(text, &body); err != nil || body.ID != nil || body.Error.Message == "" {
		t.Errorf("%v: %s", err, text)
	}
}

// TestStreamOpens holds what keeps events from being held back on the way
// (field report 40).
func TestStreamOpens(t *testing.T) {
	transporttest.Goroutines(t)
	for _, accept := range []string{"text/event-stream", "", "*/*", "application/json"} {
		host := newScripted()
		r := newRig(t, host, ServerConfig{})
		s := r.open("Accept", accept, "X-Own", "1")
		h := s.Header
		if h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-cache, no-transform" ||
			h.Get("X-Accel-Buffering") != "no" || h.Get("Content-Length") != "" {
			t.Errorf("%v", h)
		}
		if p := host.pipe; p.Transport != "http+sse" || p.Header.Get("X-Own") != "1" || p.Remote == "" {
			t.Errorf("%+v", p)
		}
		s.leave()
		<-host.gone
		r.stop()
	}
}

// TestEndpoint holds that the endpoint is relative, and of which parts (field
// report 35, vector T71).
func TestEndpoint(t *testing.T) {
	for name, c := range map[string]struct {
		config ServerConfig
		header []string
		want   string
	}{
		"default":            {ServerConfig{}, nil, "/messages?session="},
		"not asked for":      {ServerConfig{}, []string{"/api"}, "/messages?session="},
		"own path":           {ServerConfig{MessagePath: "/m/post"}, nil, "/m/post?session="},
		"own query":          {ServerConfig{MessagePath: "/m?tenant=a%2F1"}, nil, "/m?tenant=a%2F1&session="},
		"base path":          {ServerConfig{BasePath: "/api"}, []string{"/x"}, "/api/messages?session="},
		"base path, slash":   {ServerConfig{BasePath: "/api/"}, nil, "/api/messages?session="},
		"forwarded":          {ServerConfig{BasePath: Forwarded}, []string{"/api/"}, "/api/messages?session="},
		"forwarded, nothing": {ServerConfig{BasePath: Forwarded}, nil, "/messages?session="},
		"forwarded, root":    {ServerConfig{BasePath: Forwarded}, []string{"/"}, "/messages?session="},
		"two proxies":        {ServerConfig{BasePath: Forwarded}, []string{"/a, /b"}, "/a/b/messages?session="},
		"two headers":        {ServerConfig{BasePath: Forwarded}, []string{"/a", "/b"}, "/a/b/messages?session="},
		"other origin":       {ServerConfig{BasePath: Forwarded}, []string{"//evil.example"}, "/messages?session="},
		"hidden origin":      {ServerConfig{BasePath: Forwarded}, []string{"/,/evil.example"}, "/evil.example/messages?session="},
		"URL":                {ServerConfig{BasePath: Forwarded}, []string{"https://evil.example"}, "/messages?session="},
		"backslash":          {ServerConfig{BasePath: Forwarded}, []string{`/\evil.example`}, "/messages?session="},
		"query":              {ServerConfig{BasePath: Forwarded}, []string{"/a?b"}, "/messages?session="},
		"event":              {ServerConfig{BasePath: Forwarded}, []string{"/a\n\ndata: x"}, "/messages?session="},
		"not ASCII":          {ServerConfig{BasePath: Forwarded}, []string{"/\u0085"}, "/messages?session="},
		"too long":           {ServerConfig{BasePath: Forwarded}, []string{"/" + strings.Repeat("a", 2000)}, "/messages?session="},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewServer(newScripted(), nil, c.config)
			r := &http.Request{RemoteAddr: "127.0.0.1:1", Header: http.Header{"X-Forwarded-Prefix": c.header}}
			if got := s.endpoint(r, "id"); got != c.want+"id" {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestSessionsAreUnguessable(t *testing.T) {
	transporttest.Goroutines(t)
	seen := map[string]bool{}
	for range 20 {
		r := newRig(t, newScripted(), ServerConfig{})
		s := r.open()
		id, ok := strings.CutPrefix(s.endpoint, "/messages?session=")
		if !ok || !regexp.MustCompile(`^[A-Z2-7]{26,}$`).MatchString(id) || seen[id] { // 26 letters of 5 bits
			t.Errorf("endpoint %q", s.endpoint)
		}
		seen[id] = true
		s.leave()
		r.stop()
	}
}

func TestStreamsAreBounded(t *testing.T) {
	transporttest.Goroutines(t)
	host := transporttest.NewHost(1 << 20)
	host.Serve(func(context.Context, *mcp.Message, func(*mcp.Message) error) {})
	hits := make(chan string, 10)
	r := newRig(t, host, ServerConfig{MaxStreams: 2, Limits: web.Limits{Limited: func(limit string) { hits <- limit }}})
	defer r.stop()
	first := r.open()
	defer r.open().leave()
	if len(hits) > 0 {
		t.Errorf("%s is hit below it", <-hits)
	}
	full := r.do(t.Context(), http.MethodGet, StreamPath, "")
	if full.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("status %d", full.StatusCode)
	}
	if full.Header.Get("Retry-After") == "" || len(hits) != 1 || <-hits != mcp.LimitSessions {
		t.Errorf("the client may come back after %q", full.Header.Get("Retry-After"))
	}
	checkProblem(t, full)
	full.Body.Close()
	if status, _ := r.post(first.endpoint, initNote); status != http.StatusAccepted {
		t.Errorf("the first stream answers %d", status)
	}
	first.leave()
}
