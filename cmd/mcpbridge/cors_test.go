package main

import (
	"net/http"
	"syscall"
	"testing"
)

// TestPages: a browser lets a page of an allowed origin read the answers, and
// no other.
func TestPages(t *testing.T) {
	s := start(t, newCall(), func(cfg *single) { cfg.AllowedOrigins = []string{"https://a.example"} })
	close(s.end)
	for _, tc := range []struct {
		method, origin, host string
		status               int
		allowed, exposed     bool
	}{
		{"POST", "https://a.example", "", 200, true, true},
		{"POST", "https://b.example", "", 200, false, false}, // this endpoint has no guard
		{"POST", "https://a.example", "evil.example", 200, false, false},
		{"POST", "", "", 200, false, false},
		{"OPTIONS", "https://a.example", "", 204, true, false},
		{"OPTIONS", "https://b.example", "", 200, false, false},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tc.method, s.endpoint, nil)
		if err != nil {
			t.Fatal(err)
		}
		if req.Host = tc.host; tc.origin != "" {
			req.Header.Set("Origin", tc.origin)
		}
		if tc.method == http.MethodOptions {
			req.Header.Set("Access-Control-Request-Method", "POST")
			req.Header.Set("Access-Control-Request-Headers", "content-type,x-key")
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		want := ""
		if tc.allowed {
			want = tc.origin
		}
		if resp.StatusCode != tc.status || resp.Header.Get("Access-Control-Allow-Origin") != want || (resp.Header.Get("Access-Control-Expose-Headers") != "") != tc.exposed {
			t.Errorf("%+v: %d %v", tc, resp.StatusCode, resp.Header)
		}
		if resp.StatusCode == 204 && resp.Header.Get("Access-Control-Allow-Headers") != "content-type,x-key" {
			t.Errorf("the headers of a page: %v", resp.Header)
		}
	}
	s.stop <- syscall.SIGTERM
	<-s.result
}
