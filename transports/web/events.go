package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/eventstream"
)

// Events is a response that is an event stream, or may become one.
type Events struct {
	*Response
	begun  bool // the headers are written
	dirty  bool // something written is not flushed yet
	failed bool // the client left
}

// NewEvents returns an event stream that has not begun.
func NewEvents(o *Response) Events { return Events{Response: o} }

// Begun reports whether the response is an event stream now.
func (e *Events) Begun() bool { return e.begun }

// Failed reports whether the client left.
func (e *Events) Failed() bool { return e.failed }

// Begin commits to an event stream. The headers go out with the next flush,
// which should follow at once: many clients take them for the sign that the
// stream lives.
func (e *Events) Begin(header http.Header) {
	e.begun, e.dirty = true, true
	e.CopyHeader(header)
	h := e.w.Header()
	h.Set("Content-Type", TypeEvents)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no") // or nginx holds small events back
	e.w.WriteHeader(http.StatusOK)
}

// Message writes one message as one event.
func (e *Events) Message(m *mcp.Message) {
	if m != nil {
		e.Put(e.Text(func(b []byte) []byte { return eventstream.Append(b, "", m) }))
	}
}

// Comment tells everybody on the way that the stream is not dead.
func (e *Events) Comment() { e.Put([]byte(eventstream.Comment)) }

// Put writes text that is framed already.
func (e *Events) Put(b []byte) {
	e.dirty = true
	e.failed = e.failed || e.writeAll(b) != nil
}

// Flush sends what is written.
func (e *Events) Flush() {
	if !e.dirty || e.failed {
		return
	}
	e.dirty = false
	e.allowWrite()
	if err := e.rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		e.failed = true
	}
}

// Follow writes a stream until it ends or the client leaves. Drain writes all
// that is there and flushes once; silence says that it is time for a sign of
// life, where the response may have one.
func (e *Events) Follow(s *transports.Stream, drain func() (wrote, done bool), silence func()) {
	defer s.Abandon()
	e.Watch(&Watch{Ready: s.Ready(), Drain: drain, Silence: silence})
}

// Watch is what a response waits for. Drain and Silence may change it.
type Watch struct {
	// Ready and Again have a token when there may be something to write; Over
	// is closed when somebody else writes it. All but Ready may be nil.
	Ready, Again, Over <-chan struct{}
	Drain              func() (wrote, done bool)
	Silence            func()
	First              time.Duration // until the first silence, if sooner than the keep-alive
}

// Watch writes until all is written, the client leaves or another takes over.
func (e *Events) Watch(w *Watch) {
	var timer *time.Timer
	var silent <-chan time.Time
	pause := e.from.limits.KeepAlive
	if w.Silence != nil {
		first := pause
		if w.First > 0 {
			first = min(first, w.First)
		}
		timer = time.NewTimer(first)
		defer timer.Stop()
		silent = timer.C
	}
	for !e.failed {
		wrote, done := w.Drain()
		if done {
			return
		}
		if wrote && timer != nil {
			timer.Reset(pause)
		}
		select {
		case <-w.Ready:
		case <-w.Again:
		case <-w.Over:
			return
		case <-e.r.Context().Done():
			return
		case <-silent:
			w.Silence()
			timer.Reset(pause)
		}
	}
}
