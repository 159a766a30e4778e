package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Settings is what the admin pages show.
type Settings struct {
	Version  string
	Metrics  prometheus.Gatherer
	Ready    func(context.Context) []State // of every route
	Stopping func() bool                   // the bridge ends, whatever the upstreams answer; nil never
	Refuse   func(*http.Request) bool      // Host and Origin check; nil refuses nobody
	Token    func() string                 // what a bearer must show; nil or "" lets everybody in
	Endpoint func() string                 // where clients find the MCP endpoint, or a list of it for routes; for the index
}

// State says whether a route is of use.
type State struct {
	Route string // its name; "" where there is only one
	Err   error  // nil when the upstream answered
}

// New returns the pages.
func New(s Settings) http.Handler {
	ready := newReadiness(s.Ready, s.Stopping)
	ready.brief = func(r *http.Request) bool { return !s.bears(r) }
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { text(w, http.StatusOK, "ok") })
	mux.HandleFunc("/readyz", ready.serve)
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { text(w, http.StatusOK, s.index()) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		text(w, http.StatusNotFound, "not found; / lists what is here")
	})
	return readOnly(s.guarded(s.authorized(mux)))
}

func (s Settings) index() string {
	return fmt.Sprintf(`mcpbridge %s, admin listener
%s

/metrics  Prometheus metrics
/healthz  200 while this process runs
/readyz   200 while the upstream answers, with several while one does, 503 otherwise; ?route=NAME asks one`, s.Version, s.Endpoint())
}

func (s Settings) guarded(next http.Handler) http.Handler {
	if s.Refuse == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Refuse(r) {
			text(w, http.StatusForbidden, "refused: the Host or Origin header names a place that is not allowed here")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			text(w, http.StatusMethodNotAllowed, "only GET and HEAD are served here")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func text(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	io.WriteString(w, body+"\n") //nolint:errcheck // a probe that left needs no answer
}
