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

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/internal/admin"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// service is a bridge with its listeners.
type service struct {
	cfg      configs.Config // at start
	log      zerolog.Logger
	level    *level
	gateway  *gateway
	counts   *counters
	endpoint *site // nil for a client on the standard streams
	admin    *site // nil when there is none
	leaving  atomic.Bool
	proxies  web.Proxies // in front of the endpoint
	token    atomic.Pointer[string]

	source  *source         // nil where flags said everything
	loaded  *configs.Loaded // from the source, at start
	watched watched
}

// site is one listener and what it serves.
type site struct {
	listener    net.Listener
	crowd       *crowd // the listener, where it is bounded
	server      *http.Server
	certificate *certificate // nil speaks plain HTTP
}

func (s *site) url(path string) string {
	scheme := "http://"
	if s.certificate != nil {
		scheme = "https://"
	}
	return scheme + reachable(s.listener.Addr()) + path
}

func (s *site) serve() error {
	serve := s.server.Serve
	if s.certificate != nil {
		serve = func(l net.Listener) error { return s.server.ServeTLS(l, "", "") }
	}
	if err := serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
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
		if s.cfg.Encrypted() {
			s.endpoint.certificate = new(certificate)
			s.endpoint.server.TLSConfig = s.endpoint.certificate.config()
			if err := s.endpoint.certificate.load(s.cfg.Server); err != nil {
				return err
			}
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
	bounded := newCrowd(l, s.cfg.MaxConnections, s.log)
	return &site{listener: bounded, crowd: bounded, server: &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    2 * int(s.cfg.MaxHeader), // the routes refuse sooner, and say why
		Protocols:         protocols(),
		HTTP2:             streams(),
		BaseContext:       func(net.Listener) context.Context { return web.WithProxies(context.Background(), &s.proxies) },
		ErrorLog:          stdlog.New(s.log.With().Str("listener", addr).Logger(), "", 0),
	}}, nil
}

func (s *service) build(build engineBuilder) error {
	s.counts = newCounters()
	s.gateway = newGateway(build, s.counts, s.log)
	s.gateway.admit = s.admit
	s.counts.watchListeners(map[string]*site{"endpoint": s.endpoint, "admin": s.admin})
	if s.endpoint != nil {
		guard, admit, err := s.guard(s.endpoint)
		if err != nil {
			return err
		}
		s.gateway.guard = guard
		s.admitToo(admit)
	}
	if s.admin != nil {
		if err := s.buildAdmin(); err != nil {
			return err
		}
	}
	if s.endpoint != nil {
		if err := exposure(written(s.endpoint.listener.Addr()), s.cfg); err != nil {
			return err
		}
	}
	if err := s.gateway.open(s.cfg); err != nil {
		return err
	}
	if s.endpoint != nil {
		s.endpoint.server.Handler = answerPages(s.gateway.guard, s.gateway)
	}
	return nil
}

func (s *service) buildAdmin() error {
	guard, admit, err := s.guard(s.admin)
	if err != nil {
		return err
	}
	s.admitToo(admit)
	s.admin.server.Handler = admin.New(admin.Settings{
		Version: buildInfo().Version, Metrics: s.counts.reg, Ready: s.gateway.ready, Stopping: s.leaving.Load, Endpoint: s.where,
		Refuse: func(r *http.Request) bool { return guard.Check(r) != nil },
		Token:  func() string { return *s.token.Load() },
	})
	return nil
}

// admit puts to work what a configuration says of all listeners.
func (s *service) admit(c configs.Server) {
	s.proxies.Trust(c.Proxies())
	s.token.Store(&c.AdminToken)
	for _, one := range []*site{s.endpoint, s.admin} {
		if one != nil {
			one.crowd.bound(c.MaxConnections)
		}
	}
}

func (s *service) admitToo(admit func(configs.Server)) {
	before := s.gateway.admit
	s.gateway.admit = func(c configs.Server) {
		before(c)
		admit(c)
	}
}

// where says where clients find the bridge.
func (s *service) where() string {
	cfg := s.gateway.config()
	switch {
	case s.endpoint == nil:
		return "The MCP endpoint is standard input and output"
	case len(cfg.Routes) == 1:
		return "The MCP endpoint is " + s.endpoint.url(cfg.Routes[0].Path)
	}
	lines := []string{"The MCP endpoints are"}
	for _, r := range cfg.Routes {
		lines = append(lines, "  "+r.Name+": "+s.endpoint.url(r.Path))
	}
	return strings.Join(lines, "\n")
}

// guard returns the guard of a listener, and what tells it who may come.
func (s *service) guard(at *site) (*transports.Guard, func(configs.Server), error) {
	addr := at.listener.Addr()
	guard, err := transports.NewGuard(written(addr), nil, nil)
	return guard, func(c configs.Server) {
		guard.Admit(slices.Concat(c.AllowedHosts, ownAddresses(addr)), c.AllowedOrigins)
	}, err
}

func (s *service) closeSites() {
	for _, one := range []*site{s.endpoint, s.admin} {
		if one != nil {
			one.server.Close()
			one.listener.Close()
		}
	}
}
