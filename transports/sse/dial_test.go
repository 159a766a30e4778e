package sse

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// TestEndpointEvent has servers that write it in every way that the WHATWG
// standard allows (field reports 32 and 34).
func TestEndpointEvent(t *testing.T) {
	const path = "/messages?session_id=a%2Fb&x=1"
	for name, first := range map[string]string{
		"plain":           "event: endpoint\ndata: " + path + "\n\n",
		"CRLF":            "event: endpoint\r\ndata: " + path + "\r\n\r\n",
		"CR":              "event: endpoint\rdata: " + path + "\r\r",
		"mixed":           "event: endpoint\r\ndata: " + path + "\n\r\n",
		"data first":      "data: " + path + "\r\nevent: endpoint\r\n\r\n",
		"no blank":        "event:endpoint\ndata:" + path + "\n\n",
		"more fields":     "id: 1\nretry: 10\nevent: endpoint\nother: x\ndata: " + path + "\n\n",
		"comment first":   ": welcome\n\nevent: endpoint\ndata: " + path + "\n\n",
		"ping first":      "event: ping\ndata: {}\n\ndata:\n\nevent: endpoint\ndata: " + path + "\n\n",
		"byte order mark": "\xef\xbb\xbfevent: endpoint\ndata: " + path + "\n\n",
		"blanks":          "event: endpoint\ndata:   " + path + " \n\n",
		"relative":        "event: endpoint\ndata: messages?session_id=a%2Fb&x=1\n\n",
		"fragment":        "event: endpoint\ndata: " + path + "#f\n\n",
		"message first":   event(update) + "event: endpoint\ndata: " + path + "\n\n",
		"twice":           "event: endpoint\ndata: " + path + "\n\nevent: endpoint\ndata: /other\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			s.first = first
			s.post = answer(func(*http.Request, string) string { return event(pong) })
			var garbage atomic.Int32
			u, _ := s.conversation(t, ClientConfig{SiteConfig: web.SiteConfig{Garbage: func(string) { garbage.Add(1) }}})
			got, err := send(t, u, ping)
			if err != nil || len(got) != 1 || got[0] != pong || s.paths()[0] != path {
				t.Errorf("%v %q %v", err, got, s.paths())
			}
			if (garbage.Load() == 1) != (name == "message first") {
				t.Errorf("%d pieces of garbage", garbage.Load())
			}
		})
	}
}

// TestAbsoluteEndpoint accepts the stream's own origin and no other.
func TestAbsoluteEndpoint(t *testing.T) {
	s := newScript(t)
	s.post = answer(func(*http.Request, string) string { return event(pong) })
	at, _ := url.Parse(s.URL)
	for endpoint, ok := range map[string]bool{
		s.URL + "/m": true,
		strings.Replace(s.URL, "http", "HTTP", 1): true,
		"//" + at.Host + "/m":                     true,
		"http://user@" + at.Host + "/m":           true,
		"https://" + at.Host + "/m":               false,
		"http://127.0.0.1:1/m":                    false,
		"//evil.example/m":                        false,
		"http://evil.example/m":                   false,
		"ws://" + at.Host + "/m":                  false,
		"javascript:alert(1)":                     false,
		"http://[::1":                             false,
	} {
		s.first = "event: endpoint\ndata: " + endpoint + "\n\n"
		u, _ := s.conversation(t, ClientConfig{})
		_, err := send(t, u, ping)
		_, unreachable := errors.AsType[*transports.Unreachable](err)
		if (err == nil) != ok || err != nil && (!unreachable || strings.Contains(err.Error(), "evil")) {
			t.Errorf("%s: %v", endpoint, err)
		}
		if err := u.Close(t.Context()); err != nil {
			t.Error(err)
		}
		within(t, "the stream's end", s.gone)
	}
}

func TestMessageURL(t *testing.T) {
	s := newScript(t)
	s.first = "event: endpoint\ndata: https://internal.example/m?session_id=a%2Fb\n\n"
	s.post = answer(func(*http.Request, string) string { return event(pong) })
	u, _ := s.conversation(t, ClientConfig{MessageURL: s.URL + "/api/m?key=1"})
	if _, err := send(t, u, ping); err != nil || s.paths()[0] != "/api/m?key=1&session_id=a%2Fb" {
		t.Errorf("%v %v", err, s.paths())
	}
	for _, bad := range []string{"/m", "ftp://a/m", "http:///m", ":secret"} {
		if _, err := NewClient(s.URL, ClientConfig{MessageURL: bad}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := NewClient("ftp://a", ClientConfig{}); err == nil || !strings.HasPrefix(err.Error(), "sse: ") {
		t.Errorf("%v", err)
	}
}

// TestRefusedStream has servers that open no stream: what they say reaches
// the client.
func TestRefusedStream(t *testing.T) {
	for name, c := range map[string]struct {
		status      int
		contentType string
	}{
		"401": {401, "application/json"}, "403": {403, ""}, "404": {404, "text/html"}, "405": {405, ""}, "500": {500, ""},
		"a page": {200, "text/html"}, "JSON": {200, "application/json"}, "elsewhere": {302, ""},
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Goroutines(t)
			site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Www-Authenticate", "Bearer")
				w.Header().Set("Location", "https://evil.example/")
				says(c.status, c.contentType, "no")(w, r, "")
			}))
			t.Cleanup(site.Close)
			_, err := send(t, dial(t, site.URL, ClientConfig{}).Conversation(), initialize)
			r, refused := errors.AsType[*mcp.Refusal](err)
			if !refused || r.Status != c.status || r.Header.Get("Www-Authenticate") != "Bearer" {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestRedirectedStream follows within the origin only, and resolves the
// endpoint against where the stream is (RFC 3986 section 5.1.3).
func TestRedirectedStream(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		s := newScript(t)
		s.first = "event: endpoint\ndata: messages\n\n"
		s.post = answer(func(*http.Request, string) string { return event(pong) })
		inner := s.Config.Handler
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/sse" {
				http.Redirect(w, r, "/v2/sse/", status)
				return
			}
			inner.ServeHTTP(w, r)
		})
		u, _ := s.conversation(t, ClientConfig{})
		if _, err := send(t, u, ping); err != nil || s.paths()[0] != "/v2/sse/messages" {
			t.Errorf("%d: %v %v", status, err, s.paths())
		}
	}
}

// TestSilentStream has streams that never name their endpoint.
func TestSilentStream(t *testing.T) {
	for name, first := range map[string]string{"silent": "", "chatty": event(update) + ":\n\n", "half": "event: endpoint\ndata: /m\n"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				web, end := transporttest.Memory(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, first)
					_ = http.NewResponseController(w).Flush()
					<-r.Context().Done()
				}))
				defer end()
				c, err := NewClient("http://localhost/sse", ClientConfig{})
				if err != nil {
					t.Fatal(err)
				}
				defer c.CloseIdleConnections()
				c.site.Transport.DialContext = web
				start := time.Now()
				err = c.Conversation().Send(t.Context(), message(t, ping), transports.Outgoing{})
				if _, ok := errors.AsType[*transports.Unreachable](err); !ok || time.Since(start) != 10*time.Second || !errors.Is(err, errLate) {
					t.Errorf("after %v: %v", time.Since(start), err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				err = c.Conversation().Send(ctx, message(t, ping), transports.Outgoing{})
				if time.Since(start) != 11*time.Second || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("after %v: %v", time.Since(start), err)
				}
			})
		})
	}
}

func TestEndlessStream(t *testing.T) {
	s := newScript(t)
	s.first = ":\n\n"
	s.stream <- ""
	u, _ := s.conversation(t, ClientConfig{})
	_, err := send(t, u, ping)
	if _, ok := errors.AsType[*transports.Unreachable](err); !ok || !errors.Is(err, errNoEndpoint) {
		t.Errorf("%v", err)
	}
}
