package admin

import (
	"context"
	"errors"
	"net/http"
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

// readiness asks the upstream for one prober at a time and remembers the
// verdict for the others.
type readiness struct {
	ask  func(context.Context) error
	turn chan struct{} // holds one token; its holder owns the fields below
	err  error
	at   time.Time
}

func newReadiness(ask func(context.Context) error) *readiness {
	r := &readiness{ask: ask, turn: make(chan struct{}, 1)}
	r.turn <- struct{}{}
	return r
}

func (r *readiness) serve(w http.ResponseWriter, req *http.Request) {
	err := r.check(req.Context())
	if err != nil {
		text(w, http.StatusServiceUnavailable, "not ready: "+reason(err))
		return
	}
	text(w, http.StatusOK, "ready")
}

func (r *readiness) check(ctx context.Context) error {
	select {
	case <-r.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { r.turn <- struct{}{} }()
	if !r.at.IsZero() && time.Since(r.at) < freshness {
		return r.err
	}
	// A prober that leaves early must not spoil the verdict for the others.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	r.err, r.at = r.ask(ctx), time.Now()
	return r.err
}

func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "the upstream did not answer within " + patience.String()
	}
	return configs.Cause(err)
}
