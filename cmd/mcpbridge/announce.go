package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/configs"
)

// announce tells where the bridge is and what an operator should know.
func (s *service) announce() {
	cfg := s.gateway.config()
	line := s.log.Info().Str("version", buildInfo().Version)
	if len(cfg.Routes) == 1 {
		s.locate(line, cfg.Routes[0])
	} else {
		line.Str("endpoint", s.endpoint.url("/")).Int("routes", len(cfg.Routes))
	}
	if s.admin != nil {
		line = line.Str("admin", s.admin.url("/"))
	}
	line.Msg("serving")
	for _, r := range cfg.Routes {
		if len(cfg.Routes) > 1 {
			s.announceRoute(r)
		}
	}
	s.warnOpen(cfg)
}

func (s *service) announceRoute(r configs.Route) {
	line := s.log.Info().Str("route", r.Name)
	s.locate(line, r)
	line.Msg("serving a route")
}

// locate adds where clients find a route, and what stands behind it.
func (s *service) locate(line *zerolog.Event, r configs.Route) {
	if s.endpoint == nil {
		line.Str("endpoint", "standard input and output").Str("upstream", r.UpstreamName())
		return
	}
	line.Str("endpoint", s.endpoint.url(r.Path)).Str("upstream", r.UpstreamName())
	if stream, _, ok := r.SSE(); ok {
		line.Str("sse", s.endpoint.url(stream))
	}
	if path, ok := r.Sockets(); ok {
		line.Str("websocket", "ws"+strings.TrimPrefix(s.endpoint.url(path), "http"))
	}
}

// warnOpen warns of an endpoint that the world can reach.
func (s *service) warnOpen(cfg configs.Config) {
	if s.endpoint == nil || !isOpen(s.endpoint.listener.Addr()) || !slices.ContainsFunc(cfg.Routes, func(r configs.Route) bool { return !r.Auth.Given() }) {
		return
	}
	msg := "other machines reach this endpoint, and through it the upstream"
	if slices.ContainsFunc(cfg.Routes, func(r configs.Route) bool { return hasOwnCredentials(r) && !r.Auth.Given() }) {
		msg += " with the bridge's own credentials"
	}
	s.log.Warn().Str("listen", s.endpoint.listener.Addr().String()).Msg(msg)
}

// greet tells early which upstreams are down; they are asked again by every
// session.
func (s *service) greet(ctx context.Context) {
	var wg sync.WaitGroup
	cfg := s.gateway.config()
	for _, r := range cfg.Routes {
		wg.Go(func() { s.greetOne(ctx, r, s.gateway.logOf(r, cfg)) })
	}
	wg.Wait()
}

func (s *service) greetOne(ctx context.Context, r configs.Route, log zerolog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, r.ConnectTimeout)
	defer cancel()
	err := s.gateway.readyOf(ctx, r.Name)
	switch {
	case err == nil && r.StdioMode == configs.Shared:
		log.Info().Msg("the command exists; all sessions share one")
	case err == nil && r.Command.Given():
		log.Info().Msg("the command exists; each session starts one of its own")
	case err == nil && len(r.Upstreams) > 1:
		log.Info().Msg("at least one of the upstreams answers")
	case err == nil:
		log.Info().Msg("the upstream answers")
	case !errors.Is(err, context.Canceled):
		log.Warn().Str("upstream", r.UpstreamName()).Str("cause", configs.Cause(err)).
			Msg("the upstream does not answer; serving anyway, sessions will try again")
	}
}
