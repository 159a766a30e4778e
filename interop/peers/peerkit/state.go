package peerkit

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

// State is what a server peer remembers of one session.
type State struct {
	mu        sync.Mutex
	started   chan struct{}
	cancelled chan struct{}
	count     int
	tools     int
	released  chan struct{}
	once      sync.Once
}

// NewState returns the state of a fresh session.
func NewState() *State {
	return &State{started: make(chan struct{}), cancelled: make(chan struct{}), released: make(chan struct{}, 1)}
}

func (s *State) slow(ctx context.Context) string {
	s.once.Do(func() { close(s.started) })
	select {
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.count++; s.count == 1 {
			close(s.cancelled)
		}
		return "cancelled"
	case <-time.After(10 * time.Second):
		return "never cancelled"
	}
}

func (s *State) waitSlow(ctx context.Context) { await(ctx, s.started) }

func (s *State) cancelledCount(ctx context.Context) int {
	await(ctx, s.cancelled)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// release lets the tool that waits in untilReleased return.
func (s *State) release() {
	select {
	case s.released <- struct{}{}:
	default:
	}
}

// hold forgets a release that came too late for the tool that it was for, as it
// does where calls are served one after the other.
func (s *State) hold() {
	select {
	case <-s.released:
	default:
	}
}

// untilReleased holds a tool's result back until the client has seen the
// notification: some SDKs drop a notification that is still queued when the
// result is written, and a proxy must deliver it while the call runs.
func (s *State) untilReleased(ctx context.Context) { await(ctx, s.released) }

func (s *State) nextToolName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools++
	return fmt.Sprintf("added-%d", s.tools)
}

// patience is how long a tool waits for another call of its client. PEER_PATIENCE
// shortens it, in milliseconds, for calls that are served by different processes.
var patience = sync.OnceValue(func() time.Duration {
	if ms, err := strconv.Atoi(os.Getenv("PEER_PATIENCE")); err == nil {
		return time.Duration(ms) * time.Millisecond
	}
	return 2 * time.Second
})

// await gives up after a while: the tool's answer then says that the event
// did not come, which the client reports.
func await(ctx context.Context, event <-chan struct{}) {
	select {
	case <-event:
	case <-ctx.Done():
	case <-time.After(patience()):
	}
}
