package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// BuildInfo says which program is counted.
type BuildInfo struct {
	Version   string // of this program
	Revision  string // of its source
	GoVersion string
}

// Limits on sets of label values that are not fixed by the vocabulary.
const (
	maxChanges    = 200
	maxReasons    = 100
	maxFeatures   = 20
	maxActions    = 20
	maxTransports = 20
)

// Metrics counts. All methods are safe for concurrent use and never wait.
type Metrics struct {
	series
	versions   closed
	methods    closed
	changes    *capped
	reasons    *capped
	features   *capped
	actions    *capped
	transports *capped
	eras       closed
	outcomes   closed
	bases      closed
	heard      closed
	causes     closed
	keys       closed
	choosers   closed
	upstreams  *capped
	reg        prometheus.Registerer
}

// Announce registers in reg which program is counted.
func Announce(reg prometheus.Registerer, build BuildInfo) {
	factory{promauto.With(reg)}.gauge("build_info", "What is running; the value is always 1.", "version", "revision", "go_version").
		WithLabelValues(build.Version, build.Revision, build.GoVersion).Set(1)
}

// New registers the metrics in reg and returns what counts them. Versions
// outside known are counted as "other". It panics when reg already has them,
// as two sets of the same counters are a mistake in the program.
func New(reg prometheus.Registerer, known []mcp.Version) *Metrics {
	s := newSeries(reg)
	return &Metrics{
		series:     s,
		reg:        reg,
		versions:   newClosed(known),
		methods:    newClosed(methods()),
		changes:    newCapped(maxChanges),
		reasons:    newCapped(maxReasons),
		features:   newCapped(maxFeatures),
		actions:    newCapped(maxActions),
		transports: newCapped(maxTransports),
		eras:       newClosed([]string{"legacy", "modern"}),
		outcomes:   newClosed([]string{"resumed", "abandoned", "lost"}),
		bases:      newClosed([]string{"probe", "fallback", "handshake"}),
		heard:      newClosed([]string{"honoured", "empty", "refused"}),
		causes:     newClosed([]string{"unknown_tool", "mismatch"}),
		keys:       newClosed(mcp.LimitNames()),
		choosers:   choosers(),
		upstreams:  newCapped(maxUpstreams),
	}
}

func (m *Metrics) pair(p mcp.Pair) []string {
	return []string{
		m.versions.label(string(p.Client)), m.versions.label(string(p.Server)),
		m.transports.label(p.ClientTransport), m.transports.label(p.ServerTransport),
	}
}

// SessionOpened counts a conversation that has begun.
func (m *Metrics) SessionOpened(p mcp.Pair) {
	labels := m.pair(p)
	m.opened.WithLabelValues(labels...).Inc()
	m.active.WithLabelValues(labels...).Inc()
}

// SessionClosed counts a conversation that is over. The pair must be the one
// it was opened with.
func (m *Metrics) SessionClosed(p mcp.Pair) { m.active.WithLabelValues(m.pair(p)...).Dec() }

// Negotiated counts a handshake; an empty agreed version is one that failed.
func (m *Metrics) Negotiated(side mcp.Side, requested, agreed mcp.Version) {
	m.negotiations.WithLabelValues(side.String(),
		m.versions.label(string(requested)), m.versions.label(string(agreed))).Inc()
}

// Received counts a message that came in on a leg.
func (m *Metrics) Received(from mcp.Side, k mcp.Kind, method string) {
	m.messages.WithLabelValues("from_"+from.String(), k.String(), m.methods.label(method)).Inc()
}

// Sent counts a message that went out on a leg.
func (m *Metrics) Sent(to mcp.Side, k mcp.Kind, method string) {
	m.messages.WithLabelValues("to_"+to.String(), k.String(), m.methods.label(method)).Inc()
}

// Rewritten counts a change that altered a message.
func (m *Metrics) Rewritten(change string) {
	m.rewrites.WithLabelValues(m.changes.label(change)).Inc()
}

// Lost counts something a receiver's version could not say.
func (m *Metrics) Lost(change string, v mcp.Verdict) {
	verdict := string(v)
	if v != mcp.Passed && v != mcp.Refused {
		verdict = other
	}
	m.losses.WithLabelValues(m.changes.label(change), verdict).Inc()
}

// Probed counts a probe of the upstream's era.
func (m *Metrics) Probed(era string) { m.probes.WithLabelValues(m.eras.label(era)).Inc() }

// Judged counts a conclusion about the upstream's era.
func (m *Metrics) Judged(era, by string) {
	m.verdicts.WithLabelValues(m.eras.label(era), m.bases.label(by)).Inc()
}

// Reclassified counts an upstream that is of another era than it was.
func (m *Metrics) Reclassified(from, to string) {
	m.turns.WithLabelValues(m.eras.label(from), m.eras.label(to)).Inc()
}

// Rounds counts the rounds of questions of a call that is over.
func (m *Metrics) Rounds(n int) { m.rounds.Observe(float64(n)) }

// Listened counts what became of a request to listen.
func (m *Metrics) Listened(side mcp.Side, outcome string) {
	m.listens.WithLabelValues(side.String(), m.heard.label(outcome)).Inc()
	if outcome != "refused" {
		m.listening.WithLabelValues(side.String()).Inc()
	}
}

// ListenEnded counts a listen that is over. It must have been counted as
// honoured or empty before.
func (m *Metrics) ListenEnded(side mcp.Side) { m.listening.WithLabelValues(side.String()).Dec() }

// Quirked counts a use of a repair for known misbehaving peers.
func (m *Metrics) Quirked(quirk string) { m.quirks.WithLabelValues(m.changes.label(quirk)).Inc() }

// Relearned counts a listing of the tools by the bridge itself.
func (m *Metrics) Relearned(why string) { m.relearned.WithLabelValues(m.causes.label(why)).Inc() }

// Parked counts a call that waits for its client to come back.
func (m *Metrics) Parked() { m.parked.Inc() }

// Unparked counts how that ended and how long it took.
func (m *Metrics) Unparked(how string, after time.Duration) {
	m.parked.Dec()
	m.parks.WithLabelValues(m.outcomes.label(how)).Inc()
	m.parkTime.Observe(after.Seconds())
}

// FellBack counts an answer given in place of a client that lacks a feature.
func (m *Metrics) FellBack(feature, action string) {
	m.fallbacks.WithLabelValues(m.features.label(feature), m.actions.label(action)).Inc()
}

// Limited counts what a limit refused or cut.
func (m *Metrics) Limited(limit string) { m.limits.WithLabelValues(m.keys.label(limit)).Inc() }

// Batched counts a JSON-RPC batch and its size.
func (m *Metrics) Batched(from mcp.Side, size int, served bool) {
	m.batches.WithLabelValues(from.String(), strconv.FormatBool(served)).Inc()
	m.batchSize.Observe(float64(size))
}

// Answered times a request of a client.
func (m *Metrics) Answered(method string, k mcp.Kind, total time.Duration) {
	m.duration.WithLabelValues(m.methods.label(method), outcomeOf(k)).Observe(total.Seconds())
}

func outcomeOf(k mcp.Kind) string {
	if k == mcp.Failure {
		return "error"
	}
	return "result"
}

// Worked times the bridge's own share of a request.
func (m *Metrics) Worked(method string, own time.Duration) {
	m.overhead.WithLabelValues(m.methods.label(method)).Observe(own.Seconds())
}

// Failed counts a fault on one leg.
func (m *Metrics) Failed(leg mcp.Side, reason string) {
	m.errors.WithLabelValues(leg.String(), m.reasons.label(reason)).Inc()
}
