package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/mcp"
)

const (
	// drainTime is how long calls under way may take when told to stop.
	drainTime = 10 * time.Second
	// closeTime is how long sessions may take to say good-bye after that.
	closeTime = 3 * time.Second
)

var errForced = errors.New("stopped by a second signal before all calls had ended")

// run serves until a signal comes or a listener fails.
func (s *service) run(signals <-chan os.Signal) error {
	s.announce()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer s.closeSites()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	failed := make(chan error, 2)
	for _, one := range []*site{s.endpoint, s.admin} {
		if one != nil {
			wg.Go(func() { failed <- one.serve() })
		}
	}
	wg.Go(func() { s.greet(ctx) })
	select {
	case err := <-failed:
		s.leave()
		ending, cancel := context.WithTimeout(ctx, closeTime)
		defer cancel()
		return failure{errors.Join(err, s.engine.close(ending))}
	case sig := <-signals:
		s.log.Info().Str("signal", sig.String()).Msg("stopping; calls under way have " + drainTime.String() + " to end")
	}
	return s.stop(signals)
}

// stop ends the service in order. A second signal ends it at once.
func (s *service) stop(signals <-chan os.Signal) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.drain(ctx)
	}()
	select {
	case <-done:
		s.log.Info().Msg("stopped")
		return nil
	case <-signals:
		cancel()
		s.closeSites()
		<-done // the upstream's children are killed by then
		return failure{errForced}
	}
}

// drain lets calls end, then ends the sessions, which fails the calls that
// are left, and gives their answers a moment to be written.
func (s *service) drain(ctx context.Context) {
	s.leaving.Store(true)
	s.leave()
	calls, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	drained := s.quiet(calls)
	ending, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	if err := s.engine.close(ending); err != nil {
		s.log.Warn().Str("cause", configs.Cause(err)).Msg("not every session ended well")
	}
	if drained != nil {
		s.log.Warn().Msg("not every call ended in time")
		s.quiet(ending) //nolint:errcheck // what is left is closed next
	}
}

// quiet waits until nothing is under way at the endpoint.
func (s *service) quiet(ctx context.Context) error {
	err := s.endpoint.server.Shutdown(ctx)
	if s.engine.wait != nil {
		err = errors.Join(err, s.engine.wait(ctx))
	}
	return err
}

// announce tells where the bridge is and what an operator should know.
func (s *service) announce() {
	line := s.log.Info().Str("version", buildInfo().Version).
		Str("endpoint", s.where()).
		Str("upstream", s.cfg.UpstreamName())
	s.elsewhere(line)
	if s.admin != nil {
		line = line.Str("admin", s.admin.url("/"))
	}
	line.Msg("serving")
	if s.endpoint == nil || !isOpen(s.endpoint.listener.Addr()) {
		return
	}
	msg := "other machines reach this endpoint, and through it the upstream"
	if s.cfg.EffectiveCredentials() == mcp.CredentialsStatic {
		msg += " with the bridge's own credentials"
	}
	s.log.Warn().Str("listen", s.endpoint.listener.Addr().String()).Msg(msg)
}

// greet tells early that the upstream is down; it is asked again by every
// session.
func (s *service) greet(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.ConnectTimeout)
	defer cancel()
	err := s.engine.ready(ctx)
	switch {
	case err == nil && s.cfg.StdioMode == configs.Shared:
		s.log.Info().Msg("the command exists; all sessions share one")
	case err == nil && s.cfg.Command.Given():
		s.log.Info().Msg("the command exists; each session starts one of its own")
	case err == nil:
		s.log.Info().Msg("the upstream answers")
	case !errors.Is(err, context.Canceled):
		s.log.Warn().Str("upstream", s.cfg.UpstreamName()).Str("cause", configs.Cause(err)).
			Msg("the upstream does not answer; serving anyway, sessions will try again")
	}
}
