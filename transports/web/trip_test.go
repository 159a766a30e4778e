package web_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

func TestOrigin(t *testing.T) {
	for raw, want := range map[string]string{
		"http://A.example/x":       "http://a.example:80",
		"https://a.example":        "https://a.example:443",
		"https://a.example:443/?x": "https://a.example:443",
		"http://a.example:443":     "http://a.example:443",
		"http://[::1]/":            "http://::1:80",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := web.Origin(u); got != want {
			t.Errorf("%s: %s", raw, got)
		}
	}
}

func TestRequestHeader(t *testing.T) {
	s, err := web.NewSite("http://user:secret@a/x#f", web.SiteConfig{Header: http.Header{"x-static": {"s"}}})
	if err != nil {
		t.Fatal(err)
	}
	h := s.RequestHeader(http.Header{
		"X-Static": {"c"}, "X-Own": {"1"}, "User-Agent": {"client"}, "Host": {"evil"}, "Accept-Encoding": {"gzip"},
		mcp.HeaderSession: {"x"}, mcp.HeaderVersion: {"x"}, mcp.HeaderLastID: {"x"},
	})
	want := http.Header{
		"X-Static": {"s"}, "X-Own": {"1"}, "User-Agent": {"client"}, "Accept-Encoding": {"identity"},
		"Authorization": {"Basic dXNlcjpzZWNyZXQ="},
	}
	for name := range want {
		if h.Get(name) != want.Get(name) {
			t.Errorf("%s: %q", name, h.Get(name))
		}
	}
	if len(h) != len(want) || s.Endpoint.String() != "http://a/x" {
		t.Errorf("%v %s", h, s.Endpoint)
	}
}

func TestNewSite(t *testing.T) {
	for _, bad := range []string{"", "/x", "ftp://a", "http:///x", "http://a:secret/", ":secret"} {
		if _, err := web.NewSite(bad, web.SiteConfig{}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestRedirects holds which redirects are followed: those that keep method
// and body, others where asked for, none to another origin, not for ever.
func TestRedirects(t *testing.T) {
	transporttest.Goroutines(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := map[string]int{"301": 301, "302": 302, "303": 303, "307": 307, "308": 308}[r.URL.Query().Get("with")]
		switch {
		case status != 0:
			w.Header().Set("Location", r.URL.Query().Get("to"))
			w.WriteHeader(status)
		default:
			_, _ = io.Copy(w, r.Body)
		}
	}))
	defer server.Close()
	s, err := web.NewSite(server.URL, web.SiteConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.CloseIdleConnections()
	for _, c := range []struct {
		with, to string
		any      bool
		status   int
		at       string
	}{
		{"307", "/y", false, 200, "/y"}, {"308", "y#f", false, 200, "/y"}, {"308", "//evil.example/", true, 308, "/"},
		{"301", "/y", false, 301, "/"}, {"302", "/y", true, 200, "/y"}, {"303", "/y", true, 200, "/y"},
		{"307", "", false, 307, "/"}, {"307", "/?with=307&to=/", false, 200, "/"}, {"308", "?", false, 308, "/"},
	} {
		trip := s.Trip(t.Context(), context.Background(), nil)
		trip.AnyRedirect = c.any
		from, _ := url.Parse(server.URL + "/?with=" + c.with + "&to=" + url.QueryEscape(c.to))
		if c.to == "?" { // to itself
			from, _ = url.Parse(server.URL + "/?with=308&to=")
			from.RawQuery += url.QueryEscape("?" + from.RawQuery)
		}
		resp, at, err := trip.Do(http.MethodPost, from, []byte("body"), http.Header{})
		if err != nil || resp.StatusCode != c.status || at.Path != c.at {
			t.Errorf("%s to %q: %v %v %v", c.with, c.to, err, resp, at)
		}
		trip.Close()
	}
}

// TestEndless follows a server that redirects to itself only so far.
func TestEndless(t *testing.T) {
	transporttest.Goroutines(t)
	hops := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hops++
		w.Header().Set("Location", "/again")
		w.WriteHeader(http.StatusPermanentRedirect)
	}))
	defer server.Close()
	s, _ := web.NewSite(server.URL+"/first", web.SiteConfig{})
	defer s.CloseIdleConnections()
	trip := s.Trip(t.Context(), context.Background(), nil)
	defer trip.Close()
	resp, at, err := trip.Do(http.MethodGet, s.Endpoint, nil, http.Header{})
	if err != nil || resp.StatusCode != 308 || at.Path != "/first" || hops != 6 {
		t.Errorf("%v %v after %d hops", err, at, hops)
	}
}

// TestTripEnds holds what its end says: whether anything left.
func TestTripEnds(t *testing.T) {
	transporttest.Goroutines(t)
	arrived := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	}))
	defer server.Close()
	s, _ := web.NewSite(server.URL, web.SiteConfig{})
	defer s.CloseIdleConnections()
	closed, end := context.WithCancel(context.Background())
	go func() {
		<-arrived
		end()
	}()
	out := 0
	trip := s.Trip(t.Context(), closed, func() { out++ })
	_, _, err := trip.Do(http.MethodGet, s.Endpoint, nil, http.Header{})
	if trip.Close(); !errors.Is(err, web.ErrClosed) || !trip.Begun() || out != 1 {
		t.Errorf("%v, begun %v, out %d", err, trip.Begun(), out)
	}
	trip = s.Trip(t.Context(), closed, nil)
	_, _, err = trip.Do(http.MethodGet, s.Endpoint, nil, http.Header{})
	if trip.Close(); !errors.Is(err, web.ErrClosed) || trip.Begun() {
		t.Errorf("%v, begun %v", err, trip.Begun())
	}
	nowhere, _ := web.NewSite("http://127.0.0.1:1", web.SiteConfig{})
	trip = nowhere.Trip(t.Context(), context.Background(), nil)
	_, _, err = trip.Do(http.MethodGet, nowhere.Endpoint, nil, http.Header{})
	var unreachable *transports.Unreachable
	if trip.Close(); !errors.As(err, &unreachable) || trip.Begun() {
		t.Errorf("%v, begun %v", err, trip.Begun())
	}
}
