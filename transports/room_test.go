package transports

import (
	"testing"
	"testing/synctest"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Each limit of a stream lets that much wait, and then makes its reader wait,
// which is told once.
func TestRoom(t *testing.T) {
	const size = 1000
	each := note(size).Size()
	for limit, room := range map[string]Room{
		mcp.LimitQueuedMessages: {Messages: 3},
		mcp.LimitQueuedBytes:    {Bytes: 3 * each, Messages: 100},
	} {
		t.Run(limit, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var hits []string
				room.Waited = func(limit string) { hits = append(hits, limit) }
				s := room.NewStream()
				for range 3 {
					s.Push(note(size))
				}
				s.Wait(t.Context()) // there is room for as many
				if s.Full() || s.Over() != "" || len(hits) > 0 {
					t.Errorf("at the limit: %q, %v", s.Over(), hits)
				}
				s.Push(note(size))
				if !s.Full() || s.Over() != limit {
					t.Errorf("above the limit: %q", s.Over())
				}
				passed := make(chan struct{})
				go func() {
					s.Wait(t.Context())
					close(passed)
				}()
				synctest.Wait()
				select {
				case <-passed:
					t.Error("the reader does not wait")
				default:
				}
				if _, ok := s.Next(); !ok {
					t.Error("nothing is queued")
				}
				<-passed
				if len(hits) != 1 || hits[0] != limit {
					t.Errorf("told of %v", hits)
				}
			})
		})
	}
}

// Without limits nobody waits.
func TestRoomWithoutLimits(t *testing.T) {
	s := Room{}.NewStream()
	for range 10000 {
		s.Push(note(100))
	}
	if s.Wait(t.Context()); s.Full() {
		t.Error("a stream without limits is full")
	}
}
