package admin_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcpbridge/mcpbridge/internal/admin"
)

func pages(ready func(context.Context) error) http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "answer"}, func() float64 { return 42 }))
	return admin.New(admin.Settings{
		Version: "v1.2.3", Metrics: reg, Ready: func(ctx context.Context) []admin.State { return []admin.State{{Err: ready(ctx)}} },
		Endpoint: func() string { return "The MCP endpoint is http://127.0.0.1:8080/mcp" },
		Refuse:   func(r *http.Request) bool { return r.Host == "evil.example" },
	})
}

func get(h http.Handler, method, target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w
}

func TestPages(t *testing.T) {
	up := pages(func(context.Context) error { return nil })
	down := pages(func(context.Context) error {
		return fmt.Errorf("no answer: %w", &url.Error{Op: "Post", URL: "http://a/?token=secret", Err: errors.New("connection refused")})
	})
	for _, tc := range []struct {
		pages          http.Handler
		method, target string
		status         int
		body           string
	}{
		{up, "GET", "/metrics", 200, "answer 42"},
		{up, "GET", "/healthz", 200, "ok\n"},
		{down, "GET", "/healthz", 200, "ok\n"},
		{up, "GET", "/readyz", 200, "ready\n"},
		{up, "HEAD", "/readyz", 200, ""},
		{down, "GET", "/readyz", 503, "not ready: no answer: connection refused\n"},
		{up, "GET", "/", 200, "/metrics"},
		{up, "GET", "/", 200, "mcpbridge v1.2.3"},
		{up, "GET", "/", 200, "http://127.0.0.1:8080/mcp"},
		{up, "GET", "/mcp", 404, "not found"},
		{up, "POST", "/metrics", 405, "only GET and HEAD"},
		{up, "DELETE", "/", 405, "only GET and HEAD"},
		{up, "GET", "http://evil.example/metrics", 403, "refused"},
	} {
		w := get(tc.pages, tc.method, tc.target)
		if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.body) {
			t.Errorf("%s %s: %d %q", tc.method, tc.target, w.Code, w.Body)
		}
		if strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s %s shows a token", tc.method, tc.target)
		}
	}
}

func TestReadinessIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		h := pages(func(context.Context) error { asked++; time.Sleep(100 * time.Millisecond); return nil })
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if w := get(h, "GET", "/readyz"); w.Code != 200 {
					t.Errorf("status %d", w.Code)
				}
			})
		}
		wg.Wait()
		if asked != 1 {
			t.Errorf("the upstream was asked %d times for 20 probes", asked)
		}
		time.Sleep(time.Second)
		get(h, "GET", "/readyz")
		if asked != 2 {
			t.Errorf("a verdict was kept too long: asked %d times", asked)
		}
	})
}

// A bridge that stops is not ready from that moment, whatever is remembered,
// and whichever route is asked for.
func TestReadinessEndsAtOnce(t *testing.T) {
	stopping := false
	h := admin.New(admin.Settings{
		Metrics:  prometheus.NewRegistry(),
		Ready:    func(context.Context) []admin.State { return []admin.State{{Route: "a"}, {Route: "b"}} },
		Stopping: func() bool { return stopping },
	})
	for _, status := range []int{200, 503} {
		for _, target := range []string{"/readyz", "/readyz?route=b"} {
			if w := get(h, "GET", target); w.Code != status {
				t.Errorf("%s: %d %s", target, w.Code, w.Body)
			}
		}
		stopping = true
	}
}

func TestReadinessGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := pages(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
		w := get(h, "GET", "/readyz")
		if w.Code != 503 || !strings.Contains(w.Body.String(), "did not answer within 5s") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func TestAProberThatLeavesSpoilsNothing(t *testing.T) {
	h := pages(func(ctx context.Context) error { return ctx.Err() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/readyz", nil))
	if w := get(h, "GET", "/readyz"); w.Code != 200 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
