package transports

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func note(ballast int) *mcp.Message {
	o := mcp.NewObject()
	o.Set("x", mcp.Quote(strings.Repeat("x", ballast)))
	return mcp.NewNotification(mcp.LogMessage, o)
}

func TestStreamOrderAndEnd(t *testing.T) {
	s := NewStream(100)
	first, last := note(1), note(2)
	if !s.Push(first) || !s.Finish(last) || s.Push(first) || s.Open() {
		t.Fatal("the stream takes what it should not, or does not take what it should")
	}
	if d, ok := s.Next(); !ok || d.Message != first || d.Last {
		t.Errorf("first %+v", d)
	}
	if d, ok := s.Next(); !ok || d.Message != last || !d.Last {
		t.Errorf("last %+v", d)
	}
	if d, ok := s.Next(); !ok || d.Message != nil || !d.Last {
		t.Errorf("after the end %+v", d)
	}
}

func TestStreamRefusal(t *testing.T) {
	s := NewStream(100)
	if !s.Refuse(Reply{Status: 404}) || s.Refuse(Reply{}) || s.Begin() {
		t.Error("a refusal is not the only thing that happens")
	}
	if d, ok := s.Next(); !ok || d.Refusal == nil || d.Refusal.Status != 404 || !d.Last {
		t.Errorf("%+v", d)
	}
	s = NewStream(100)
	if !s.Begin() || s.Refuse(Reply{}) {
		t.Error("a stream that has begun is refused")
	}
}

func TestStreamWait(t *testing.T) {
	for name, free := range map[string]func(*Stream, context.CancelFunc){
		"taken":     func(s *Stream, _ context.CancelFunc) { s.Next() },
		"abandoned": func(s *Stream, _ context.CancelFunc) { s.Abandon() },
		"cancelled": func(_ *Stream, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewStream(100)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				s.Wait(ctx) // an empty stream does not wait
				s.Push(note(1000))
				waited := false
				go func() { s.Wait(ctx); waited = true }()
				if synctest.Wait(); waited || !s.Full() {
					t.Error("a full stream does not wait")
				}
				free(s, cancel)
				if synctest.Wait(); !waited {
					t.Error("Wait does not return")
				}
			})
		})
	}
}
