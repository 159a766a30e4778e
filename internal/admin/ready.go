package admin

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcpbridge/mcpbridge/configs"
)

const (
	// freshness is how long a verdict holds, so that probes do not hammer the
	// upstream.
	freshness = time.Second
	// patience is how long the upstream may take to answer a probe.
	patience = 5 * time.Second
)

// readiness asks the upstreams for one prober at a time and remembers the
// verdict for the others.
type readiness struct {
	ask    func(context.Context) []State
	ends   func() bool              // nothing is ready any more, whatever was found
	brief  func(*http.Request) bool // who asks may not know why
	turn   chan struct{}            // holds one token; its holder owns the fields below
	states []State
	at     time.Time
}

func newReadiness(ask func(context.Context) []State, ends func() bool) *readiness {
	if ends == nil {
		ends = func() bool { return false }
	}
	r := &readiness{ask: ask, ends: ends, turn: make(chan struct{}, 1)}
	r.turn <- struct{}{}
	return r
}

func (r *readiness) serve(w http.ResponseWriter, req *http.Request) {
	if r.ends() {
		text(w, http.StatusServiceUnavailable, "not ready: the bridge is stopping")
		return
	}
	states, err := r.check(req.Context())
	if r.brief(req) {
		inBrief(w, states, req.URL.Query().Get("route"))
		return
	}
	if err != nil {
		text(w, http.StatusServiceUnavailable, "not ready: "+reason(err))
		return
	}
	if route := req.URL.Query().Get("route"); route != "" {
		states = slices.DeleteFunc(slices.Clone(states), func(s State) bool { return s.Route != route })
		if len(states) == 0 {
			text(w, http.StatusNotFound, "there is no such route")
			return
		}
	}
	status, lines := http.StatusServiceUnavailable, []string{}
	for _, s := range states {
		if s.Err == nil {
			status = http.StatusOK
		}
		lines = append(lines, s.String())
	}
	if len(states) > 1 {
		word := map[bool]string{true: "ready", false: "not ready"}[status == http.StatusOK]
		lines = append([]string{word}, lines...)
	}
	text(w, status, strings.Join(lines, "\n"))
}

// inBrief tells whether anything is ready, or one route, and names none: one
// that does not exist is not ready.
func inBrief(w http.ResponseWriter, states []State, route string) {
	for _, s := range states {
		if s.Err == nil && (route == "" || s.Route == route) {
			text(w, http.StatusOK, "ready")
			return
		}
	}
	text(w, http.StatusServiceUnavailable, "not ready")
}

func (s State) String() string {
	word := "ready"
	if s.Err != nil {
		word = "not ready: " + reason(s.Err)
	}
	if s.Route == "" {
		return word
	}
	return s.Route + ": " + word
}

func (r *readiness) check(ctx context.Context) ([]State, error) {
	select {
	case <-r.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { r.turn <- struct{}{} }()
	if !r.at.IsZero() && time.Since(r.at) < freshness {
		return r.states, nil
	}
	// A prober that leaves early must not spoil the verdict for the others.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	r.states, r.at = r.ask(ctx), time.Now()
	return r.states, nil
}

func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "the upstream did not answer within " + patience.String()
	}
	return configs.Cause(err)
}
