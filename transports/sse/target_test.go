package sse

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

func TestWithPrefix(t *testing.T) {
	for _, c := range []struct{ stream, said, want string }{
		{"/api/v1/sse", "/v1/messages/?session_id=abc", "/api/v1/messages/?session_id=abc"},
		{"/abcd/sse", "/abcd/abcd/messages/?session_id=abc", "/abcd/messages/?session_id=abc"},
		{"/api/sse", "/messages?x=1", "/api/messages?x=1"},
		{"/a/b/c/sse", "/c/m", "/a/b/c/m"},
		{"/a%2Fb/sse", "/m/c%2Fd", "/a%2Fb/m/c%2Fd"},
		{"/api/sse/", "/messages", "/api/sse/messages"},
		{"/sse", "/messages", ""},
		{"", "/messages", ""},
		{"/", "/messages", ""},
		{"/api/sse", "/api/messages", ""},
		{"/api/sse", "/api", ""},
		{"/api/v1/sse", "/api/v1/x/messages", ""},
	} {
		stream, _ := url.Parse("http://h" + c.stream)
		said, _ := url.Parse("http://h" + c.said)
		got := ""
		if u := withPrefix(stream, said); u != nil {
			got = strings.TrimPrefix(u.String(), "http://h")
		}
		if got != c.want {
			t.Errorf("%s and %s: %q, want %q", c.stream, c.said, got, c.want)
		}
	}
}

// TestPrefix has a proxy that serves under a prefix what the server behind it
// calls by its own path (field report 35).
func TestPrefix(t *testing.T) {
	for _, miss := range []int{404, 405} {
		s := newScript(t)
		s.first = "event: endpoint\ndata: /v1/messages/?session_id=abc\n\n"
		s.post = func(w http.ResponseWriter, r *http.Request, body string) string {
			if !strings.HasPrefix(r.URL.Path, "/api/") {
				return says(miss, "text/html", "nothing here")(w, r, body)
			}
			w.WriteHeader(202)
			return event(pong)
		}
		c := dial(t, s.URL+"/api/v1/sse", ClientConfig{})
		first, _ := listening(t, c.Conversation())
		for range 2 {
			if _, err := send(t, first, ping); err != nil {
				t.Fatal(err)
			}
		}
		_ = first.Close(t.Context())
		within(t, "the stream's end", s.gone)
		second, _ := listening(t, c.Conversation())
		if _, err := send(t, second, ping); err != nil {
			t.Fatal(err)
		}
		const said, prefixed = "/v1/messages/?session_id=abc", "/api/v1/messages/?session_id=abc"
		if got := s.paths(); !slices.Equal(got, []string{said, prefixed, prefixed, prefixed}) {
			t.Errorf("%d: %q", miss, got)
		}
	}
}

// TestPrefixIsForgotten has a server that has learned its prefix meanwhile.
func TestPrefixIsForgotten(t *testing.T) {
	s := newScript(t)
	s.first = "event: endpoint\ndata: /messages\n\n"
	right := "/api/messages"
	s.post = func(w http.ResponseWriter, r *http.Request, body string) string {
		if r.URL.Path != right {
			return says(404, "", "")(w, r, body)
		}
		w.WriteHeader(202)
		return event(pong)
	}
	c := dial(t, s.URL+"/api/sse", ClientConfig{})
	for _, path := range []string{"/api/messages", "/messages", "/messages"} {
		right = path
		u, _ := listening(t, c.Conversation())
		if _, err := send(t, u, ping); err != nil {
			t.Fatal(err)
		}
		_ = u.Close(t.Context())
		within(t, "the stream's end", s.gone)
	}
	want := []string{"/messages", "/api/messages", "/api/messages", "/messages", "/messages"}
	if got := s.paths(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestNoPrefixHelps has a server that knows neither form: what it said to the
// first reaches the client. Other refusals are no reason to try another.
func TestNoPrefixHelps(t *testing.T) {
	for status, tries := range map[int]int{404: 2, 405: 2, 400: 1, 401: 1, 403: 1, 500: 1} {
		s := newScript(t)
		s.first = "event: endpoint\ndata: /messages\n\n"
		s.post = func(w http.ResponseWriter, r *http.Request, body string) string {
			return says(status, "", r.URL.Path)(w, r, body)
		}
		u, _ := listening(t, dial(t, s.URL+"/api/sse", ClientConfig{}).Conversation())
		_, err := send(t, u, initialize)
		r, refused := errors.AsType[*mcp.Refusal](err)
		if !refused || r.Status != status || string(r.Body) != "/messages" || len(s.paths()) != tries {
			t.Errorf("%d: %v %q", status, err, s.paths())
		}
	}
}

// FuzzResolve holds that no endpoint event leads to another origin.
func FuzzResolve(f *testing.F) {
	for _, seed := range [][2]string{
		{"http://a/api/v1/sse", "/v1/messages/?session_id=abc"}, {"http://a:80/sse", "http://a/m"}, {"https://a/x/", "//b/m"},
		{"http://[::1]/a/sse", "http://[::1]:80/m"}, {"http://a", "?x"}, {"http://a/%2F/sse", "..//b"}, {"http://a/b/c", "http:m"}, {"http://a//b/sse", "/m"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, at, reference string) {
		c, err := NewClient(at, ClientConfig{})
		if err != nil {
			return
		}
		found, err := c.resolve(c.site.Endpoint, reference)
		for _, u := range []*url.URL{found.said, found.prefixed} {
			if u == nil {
				continue
			}
			again, parsed := url.Parse(u.String())
			if err != nil || parsed != nil || web.Origin(again) != web.Origin(c.site.Endpoint) || again.User != nil {
				t.Errorf("%q and %q lead to %q: %v, %v", at, reference, u, err, parsed)
			}
		}
	})
}
