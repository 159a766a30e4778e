package main

import (
	"context"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/metrics"
	"github.com/mcpbridge/mcpbridge/transports"
)

// engine is the bridge as the listeners see it.
type engine struct {
	endpoint http.Handler
	// further holds handlers by their path: those of HTTP+SSE and WebSocket.
	further map[string]http.Handler
	pipes   transports.PipeHost         // serves clients on one pipe
	leave   func()                      // ends streams that wait for nothing; may be nil
	wait    func(context.Context) error // for the end of connections that are no HTTP any more; may be nil
	ready   func(context.Context) error // nil error when the upstream answered
	close   func(context.Context) error // ends all sessions
}

// engineBuilder makes the engine of a service.
type engineBuilder func(configs.Config, *transports.Guard, *metrics.Metrics, zerolog.Logger) (engine, error)

// newMetrics returns a registry and what counts into it.
func newMetrics() (*prometheus.Registry, *metrics.Metrics) {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg, metrics.New(reg, buildInfo(), knownVersions())
}
