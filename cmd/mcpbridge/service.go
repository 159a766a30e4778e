package main

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/internal/admin"
	"github.com/mcpbridge/mcpbridge/transports"
)

// service is a bridge with its listeners.
type service struct {
	cfg      configs.Config
	log      zerolog.Logger
	engine   engine
	endpoint *site // nil for a client on the standard streams
	admin    *site // nil when there is none
	leaving  atomic.Bool
	leave    context.CancelFunc // ends standalone streams
}

// site is one listener and what it serves.
type site struct {
	listener net.Listener
	server   *http.Server
}

func (s *site) url(path string) string { return "http://" + reachable(s.listener.Addr()) + path }

func (s *site) serve() error {
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", s.listener.Addr(), err)
	}
	return nil
}

// open listens and builds what will answer; nothing is answered yet.
func open(cfg configs.Config, log zerolog.Logger, build engineBuilder) (*service, error) {
	s := &service{cfg: cfg, log: log}
	err := s.openSites()
	if err == nil {
		err = s.build(build)
	}
	if err != nil {
		s.closeSites()
		return nil, err
	}
	return s, nil
}

func (s *service) openSites() (err error) {
	if !s.cfg.Stdio {
		if s.endpoint, err = s.openSite(s.cfg.Listen, "--listen"); err != nil {
			return err
		}
	}
	if addr, ok := s.cfg.AdminAddress(); ok {
		s.admin, err = s.openSite(addr, "--admin")
	}
	return err
}

func (s *service) openSite(addr, flag string) (*site, error) {
	l, err := listen(addr, flag)
	if err != nil {
		return nil, err
	}
	return &site{listener: l, server: &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    64 << 10,
		Protocols:         protocols(),
		ErrorLog:          stdlog.New(s.log.With().Str("listener", addr).Logger(), "", 0),
	}}, nil
}

func (s *service) build(build engineBuilder) error {
	reg, counters := newMetrics()
	var guard *transports.Guard // without an endpoint there is nobody to admit
	var err error
	if s.endpoint != nil {
		if guard, err = s.guard(s.endpoint); err != nil {
			return err
		}
	}
	if s.engine, err = build(s.cfg, guard, counters, s.log); err != nil {
		return err
	}
	leave, cancel := context.WithCancel(context.Background())
	s.leave = func() {
		cancel()
		if s.engine.leave != nil {
			s.engine.leave()
		}
	}
	if s.endpoint != nil {
		places := atPaths(s.cfg, letGo(leave, s.engine.endpoint), s.engine.further)
		s.endpoint.server.Handler = answerPages(guard, places)
	}
	if s.admin == nil {
		return nil
	}
	return s.buildAdmin(reg)
}

func (s *service) buildAdmin(reg *prometheus.Registry) error {
	guard, err := s.guard(s.admin)
	if err != nil {
		return err
	}
	s.admin.server.Handler = admin.New(admin.Settings{
		Version: buildInfo().Version, Metrics: reg, Ready: s.ready, Endpoint: s.where(),
		Refuse: func(r *http.Request) bool { return guard.Check(r) != nil },
	})
	return nil
}

// where says where clients find the bridge.
func (s *service) where() string {
	if s.endpoint == nil {
		return "standard input and output"
	}
	return s.endpoint.url(s.cfg.Path)
}

// elsewhere adds where clients of older transports find the bridge.
func (s *service) elsewhere(line *zerolog.Event) {
	if s.endpoint == nil {
		return
	}
	if stream, _, ok := s.cfg.SSE(); ok {
		line.Str("sse", s.endpoint.url(stream))
	}
	if path, ok := s.cfg.Sockets(); ok {
		line.Str("websocket", "ws"+strings.TrimPrefix(s.endpoint.url(path), "http"))
	}
}

func (s *service) guard(at *site) (*transports.Guard, error) {
	addr := at.listener.Addr()
	return transports.NewGuard(addr.String(), slices.Concat(s.cfg.AllowedHosts, ownAddresses(addr)), s.cfg.AllowedOrigins)
}

func (s *service) ready(ctx context.Context) error {
	if s.leaving.Load() {
		return errors.New("the bridge is stopping")
	}
	return s.engine.ready(ctx)
}

func (s *service) closeSites() {
	for _, one := range []*site{s.endpoint, s.admin} {
		if one != nil {
			one.server.Close()
			one.listener.Close()
		}
	}
}
