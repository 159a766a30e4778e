package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcpbridge/mcpbridge/internal/route"
	"github.com/mcpbridge/mcpbridge/mcp"
)

// maxUpstreams bounds the names of a route's upstreams that have series of
// their own; they come from the configuration, and change with it.
const maxUpstreams = 3 * route.MaxBranches

// shares are the series of routes with several upstreams.
type shares struct {
	choices, sessions, refusals, faults *prometheus.CounterVec
	open                                *prometheus.GaugeVec
	took                                *prometheus.HistogramVec
}

func newShares(f factory) shares {
	return shares{
		choices:  f.counter("upstream_choices_total", "Choices among the upstreams of a route, by what they rest on.", "upstream", "by"),
		refusals: f.counter("upstream_unopened_total", "Conversations that a chosen upstream did not take: it could not be reached, or the handshake failed.", "upstream"),
		sessions: f.counter("upstream_sessions_opened_total", "Conversations opened, by upstream of a route that has several.", "upstream"),
		open:     f.gauge("upstream_sessions_active", "Conversations that are open now, by upstream.", "upstream"),
		faults:   f.counter("upstream_errors_total", "Faults on the leg of one of several upstreams, by reason.", "upstream", "reason"),
		took: f.histograms("upstream_request_duration_seconds", "Time from a client's request to its answer, by upstream.",
			[]float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 60}, "upstream", "outcome"),
	}
}

// Chosen counts a choice of an upstream, Unopened a conversation that it did
// not take.
func (m *Metrics) Chosen(upstream, by string) {
	m.choices.WithLabelValues(m.upstreams.label(upstream), m.choosers.label(by)).Inc()
}

// Unopened counts a conversation that a chosen upstream did not take.
func (m *Metrics) Unopened(upstream string) {
	m.refusals.WithLabelValues(m.upstreams.label(upstream)).Inc()
}

// Share counts for one of several upstreams what tells it from the others, and
// all else with them.
type Share struct {
	*Metrics
	upstream string
}

// Of returns what counts for an upstream.
func (m *Metrics) Of(upstream string) *Share {
	s := &Share{m, m.upstreams.label(upstream)}
	s.refusals.WithLabelValues(s.upstream) // so that there is a nothing to compare with
	s.sessions.WithLabelValues(s.upstream)
	s.open.WithLabelValues(s.upstream)
	return s
}

// SessionOpened counts a conversation that has begun.
func (s *Share) SessionOpened(p mcp.Pair) {
	s.Metrics.SessionOpened(p)
	s.sessions.WithLabelValues(s.upstream).Inc()
	s.open.WithLabelValues(s.upstream).Inc()
}

// SessionClosed counts a conversation that is over.
func (s *Share) SessionClosed(p mcp.Pair) {
	s.Metrics.SessionClosed(p)
	s.open.WithLabelValues(s.upstream).Dec()
}

// Answered times a request of a client.
func (s *Share) Answered(method string, k mcp.Kind, total time.Duration) {
	s.Metrics.Answered(method, k, total)
	s.took.WithLabelValues(s.upstream, outcomeOf(k)).Observe(total.Seconds())
}

// Failed counts a fault on one leg.
func (s *Share) Failed(leg mcp.Side, reason string) {
	s.Metrics.Failed(leg, reason)
	if leg == mcp.Server {
		s.faults.WithLabelValues(s.upstream, s.reasons.label(reason)).Inc()
	}
}

func choosers() closed { return newClosed(route.Reasons()) }
