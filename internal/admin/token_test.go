package admin_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcpbridge/mcpbridge/internal/admin"
)

// guarded are pages behind a token, of two routes of which one is down.
func guarded(token *string) http.Handler {
	return admin.New(admin.Settings{
		Metrics: prometheus.NewRegistry(), Endpoint: func() string { return "http://127.0.0.1:8080/secret-route" },
		Ready: func(context.Context) []admin.State {
			return []admin.State{{Route: "secret-route"}, {Route: "down", Err: errors.New("no answer from secret-host")}}
		},
		Token: func() string { return *token },
	})
}

func TestToken(t *testing.T) {
	token := "0123456789abcdef"
	h := guarded(&token)
	ask := func(target, authorization string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", target, nil)
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for _, c := range []struct {
		target, authorization string
		status                int
		body                  string
	}{
		{"/healthz", "", 200, "ok\n"},
		{"/readyz", "", 200, "ready\n"},
		{"/readyz?route=down", "", 503, "not ready\n"},
		{"/readyz?route=secret-route", "", 200, "ready\n"},
		{"/readyz?route=none", "", 503, "not ready\n"},
		{"/readyz", "Bearer wrong", 200, "ready\n"},
		{"/readyz", "Bearer 0123456789abcdef", 200, "secret-host"},
		{"/metrics", "Bearer 0123456789abcdef", 200, ""},
		{"/metrics", "bearer  0123456789abcdef", 200, ""},
		{"/", "Bearer 0123456789abcdef", 200, "secret-route"},
	} {
		w := ask(c.target, c.authorization)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) {
			t.Errorf("%s with %q: %d %s", c.target, c.authorization, w.Code, w.Body)
		}
		if c.authorization != "Bearer "+token && !strings.HasSuffix(c.authorization, token) && strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s with %q tells %s", c.target, c.authorization, w.Body)
		}
	}
	for _, target := range []string{"/metrics", "/", "/other", "/healthz/", "/readyz/../metrics", "//metrics"} {
		for _, authorization := range []string{"", "Bearer", "Bearer ", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Basic 0123456789abcdef", "0123456789abcdef"} {
			w := ask(target, authorization)
			challenge := w.Header().Get("WWW-Authenticate")
			if w.Code != 401 || !strings.HasPrefix(challenge, "Bearer ") || strings.Contains(challenge, "invalid_token") != (authorization != "") || strings.Contains(w.Body.String(), "secret") {
				t.Errorf("%s with %q: %d %q %s", target, authorization, w.Code, challenge, w.Body)
			}
		}
	}
	token = "another-token-of-enough-bytes"
	if w := ask("/metrics", "Bearer 0123456789abcdef"); w.Code != 401 {
		t.Errorf("the former token: %d", w.Code)
	}
	if w := ask("/metrics", "Bearer "+token); w.Code != 200 {
		t.Errorf("the new token: %d", w.Code)
	}
	if token = ""; ask("/metrics", "").Code != 200 {
		t.Error("without a token nobody is let in")
	}
}
