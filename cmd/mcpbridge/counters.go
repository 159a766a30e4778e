package main

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/mcpbridge/mcpbridge/metrics"
)

// counters count for each route by itself.
type counters struct {
	reg     *prometheus.Registry
	reloads *prometheus.CounterVec
	loaded  prometheus.Gauge
	ready   *prometheus.GaugeVec

	mu     sync.Mutex
	routes map[string]*metrics.Metrics
	pools  map[string]func() map[string]int
}

func newCounters() *counters {
	c := &counters{
		reg: prometheus.NewRegistry(), routes: map[string]*metrics.Metrics{}, pools: map[string]func() map[string]int{},
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "mcpbridge_config_reloads_total", Help: "Times that the configuration file was read again, by what came of it.",
		}, []string{"outcome"}),
		loaded: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "mcpbridge_config_loaded_timestamp_seconds", Help: "When the configuration that is at work was read, as Unix time.",
		}),
		ready: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "mcpbridge_upstream_ready", Help: "1 where the upstream answered when it was last asked, at the start or for /readyz, else 0.",
		}, []string{"route"}),
	}
	c.reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), c.reloads, c.loaded, c.ready)
	metrics.Announce(c.reg, buildInfo())
	return c
}

// of returns what counts for a route. It goes on when the route changes.
func (c *counters) of(route string) *metrics.Metrics {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.routes[route]
	if m == nil {
		m = metrics.New(prometheus.WrapRegistererWith(prometheus.Labels{"route": route}, c.reg), knownVersions())
		m.WatchPool(func() map[string]int { return c.pool(route) })
		c.routes[route] = m
	}
	return m
}

func (c *counters) pool(route string) map[string]int {
	c.mu.Lock()
	count := c.pools[route]
	c.mu.Unlock()
	if count == nil {
		return nil
	}
	return count()
}

// serving says which engines serve the routes.
func (c *counters) serving(routes map[string]*served) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, one := range routes {
		c.pools[name] = one.engine.pool
	}
}

// found notes whether the upstream of a route answers.
func (c *counters) found(route string, err error) {
	value := 1.0
	if err != nil {
		value = 0
	}
	c.ready.WithLabelValues(route).Set(value)
}

// watchListeners counts the connections of listeners, and how often one was
// full; nil is none.
func (c *counters) watchListeners(sites map[string]*site) {
	full := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mcpbridge_listener_full_total", Help: "Times that a listener took no more connections because max_connections were open.",
	}, []string{"listener"})
	c.reg.MustRegister(full)
	for name, one := range sites {
		if one == nil {
			continue
		}
		one.crowd.full = full.WithLabelValues(name).Inc
		c.reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "mcpbridge_listener_connections", Help: "Connections of a listener that are open.", ConstLabels: prometheus.Labels{"listener": name},
		}, func() float64 { return float64(one.crowd.count()) }))
	}
}

// watchLog counts the lines of a log that could not be written.
func (c *counters) watchLog(l *level) {
	c.reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "mcpbridge_log_lines_lost_total", Help: "Lines of the log that could not be written.",
	}, func() float64 { return float64(l.lost.Load()) }))
}
