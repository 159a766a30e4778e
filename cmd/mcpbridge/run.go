package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/mcpbridge/mcpbridge/configs"
)

// closeTime is how long sessions may take to say good-bye when calls have had
// their time to end.
const closeTime = 3 * time.Second

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
	if s.source != nil {
		wg.Go(func() { s.tidy(ctx) })
	}
	reloads := s.watch(ctx, &wg)
	for {
		select {
		case err := <-failed:
			s.gateway.leave()
			ending, cancel := context.WithTimeout(ctx, closeTime)
			defer cancel()
			return failure{errors.Join(err, s.gateway.close(ending))}
		case <-reloads:
			s.reload()
		case sig := <-signals:
			if sig == syscall.SIGHUP && s.source != nil {
				s.reload()
				continue
			}
			s.log.Info().Str("signal", sig.String()).Msg("stopping; calls under way have " + s.gateway.config().DrainTimeout.String() + " to end")
			return s.stop(signals)
		}
	}
}

// tidyTime is how often it is looked whether something is left that nobody
// uses since the configuration changed.
const tidyTime = time.Second

func (s *service) tidy(ctx context.Context) {
	ticks := time.NewTicker(tidyTime)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			s.gateway.settle(ctx)
		case <-ctx.Done():
			return
		}
	}
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
	case <-second(signals, done):
		cancel()
		s.closeSites()
		<-done // the upstream's children are killed by then
		return failure{errForced}
	}
}

// second waits for one more signal to stop; the one to reload is none.
func second(signals <-chan os.Signal, done <-chan struct{}) <-chan struct{} {
	came := make(chan struct{})
	go func() {
		for {
			select {
			case sig := <-signals:
				if sig != syscall.SIGHUP {
					close(came)
					return
				}
			case <-done:
				return
			}
		}
	}()
	return came
}

// drain lets calls end, then ends the sessions, which fails the calls that
// are left, and gives their answers a moment to be written.
func (s *service) drain(ctx context.Context) {
	s.leaving.Store(true)
	s.gateway.leave()
	calls, cancel := context.WithTimeout(ctx, s.gateway.config().DrainTimeout)
	defer cancel()
	drained := s.quiet(calls)
	ending, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	if err := s.gateway.close(ending); err != nil {
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
	return errors.Join(err, s.gateway.wait(ctx))
}
