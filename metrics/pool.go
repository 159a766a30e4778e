package metrics

import "github.com/prometheus/client_golang/prometheus"

// poolStates are what a conversation in the pool can be in.
func poolStates() []string { return []string{"opening", "busy", "parked", "idle"} }

// poolWatch reads the pool when the metrics are read: that its numbers are
// never behind is worth more than what counting costs.
type poolWatch struct {
	desc  *prometheus.Desc
	count func() map[string]int
}

// WatchPool exports how many conversations of stateless clients are in which
// state: opening, busy, parked (what is under way in them all waits for its
// client) or idle. count is called whenever the metrics are read, from any
// goroutine; states that it does not name are 0, others than these are left out.
// WatchPool panics when it is called twice.
func (m *Metrics) WatchPool(count func() map[string]int) {
	m.reg.MustRegister(&poolWatch{count: count, desc: prometheus.NewDesc(
		prometheus.BuildFQName(namespace, "", "pool_sessions"),
		"Conversations with the upstream that are kept for stateless clients, by state.", []string{"state"}, nil)})
}

// Describe implements prometheus.Collector.
func (p *poolWatch) Describe(out chan<- *prometheus.Desc) { out <- p.desc }

// Collect implements prometheus.Collector.
func (p *poolWatch) Collect(out chan<- prometheus.Metric) {
	counts := p.count()
	for _, state := range poolStates() {
		out <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, float64(counts[state]), state)
	}
}
