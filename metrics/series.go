package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

const namespace = "mcpbridge"

// series are the metrics as the registry holds them.
type series struct {
	active                                  *prometheus.GaugeVec
	opened, messages, negotiations, batches *prometheus.CounterVec
	rewrites, losses, fallbacks, errors     *prometheus.CounterVec
	probes, verdicts, turns, parks          *prometheus.CounterVec
	listens, relearned, limits, quirks      *prometheus.CounterVec
	listening                               *prometheus.GaugeVec
	parked                                  prometheus.Gauge
	parkTime, rounds, batchSize             prometheus.Histogram
	duration, overhead                      *prometheus.HistogramVec
	shares
}

func newSeries(reg prometheus.Registerer) series {
	f := factory{promauto.With(reg)}
	pair := []string{"client_version", "server_version", "client_transport", "server_transport"}
	return series{
		shares: newShares(f),
		active: f.gauge("sessions_active", "Conversations that are open now.", pair...),
		opened: f.counter("sessions_opened_total", "Conversations opened.", pair...),
		messages: f.counter("messages_total", "JSON-RPC messages on the wire of a leg; answers carry the method they answer.",
			"direction", "kind", "method"),
		negotiations: f.counter("negotiations_total", "Handshakes by what a peer asked for and what was agreed; none is a failed one.",
			"side", "requested", "negotiated"),
		rewrites: f.counter("rewrites_total", "Messages altered, by the change that altered them.", "change"),
		quirks:   f.counter("quirks_total", "Uses of a repair for known misbehaving peers, by its name.", "quirk"),
		losses: f.counter("losses_total", "Things a receiver's version could not say, and whether the rest was passed or refused.",
			"change", "verdict"),
		probes:    f.counter("probes_total", "Probes of the upstream's era by what they found.", "era"),
		verdicts:  f.counter("verdicts_total", "Conclusions about the upstream's era, and what they rest on.", "era", "by"),
		turns:     f.counter("era_reclassifications_total", "Upstreams found to be of another era than before, per credential.", "from", "to"),
		rounds:    f.histogram("call_rounds", "Rounds of questions that a call took, for calls that took any.", []float64{1, 2, 3, 4, 5, 6, 8, 12, 16}),
		listens:   f.counter("listens_total", "Requests to listen by who sent them, a client or, to a server, the bridge, and what became of them.", "side", "outcome"),
		listening: f.gauge("listens_open", "Listens that are open now.", "side"),
		relearned: f.counter("header_refreshes_total", "Listings of the tools by which the bridge learnt which arguments headers repeat.", "reason"),
		limits:    f.counter("limit_hits_total", "What a limit refused or cut, by the limit's key in a configuration.", "limit"),
		parks:     f.counter("parks_total", "Calls that waited for their client to come back with answers, by how that ended.", "outcome"),
		parked:    f.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: "parked_calls", Help: "Calls that wait for their client to come back with answers."}),
		parkTime:  f.histogram("park_duration_seconds", "How long such calls waited.", []float64{.1, .5, 1, 5, 10, 30, 60, 120, 300, 600, 1200}),
		fallbacks: f.counter("fallbacks_total", "Answers given in place of a client that lacks a feature.", "feature", "action"),
		batches:   f.counter("batches_total", "JSON-RPC batches received; one that was refused whole is not served.", "side", "served"),
		batchSize: f.histogram("batch_size_messages", "Messages in a batch.", prometheus.ExponentialBuckets(1, 2, 9)),
		duration: f.histograms("request_duration_seconds", "Time from a client's request to its answer.",
			[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}, "method", "outcome"),
		overhead: f.histograms("request_overhead_seconds", "The bridge's own share of the time of a request.",
			[]float64{.00001, .000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .05, .25, 1}, "method"),
		errors: f.counter("errors_total", "Faults by the leg they occurred on.", "leg", "reason"),
	}
}

// factory makes registered metrics of our namespace.
type factory struct{ promauto.Factory }

func (f factory) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return f.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func (f factory) counter(name, help string, labels ...string) *prometheus.CounterVec {
	return f.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func (f factory) histogram(name, help string, buckets []float64) prometheus.Histogram {
	return f.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets})
}

func (f factory) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return f.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}
