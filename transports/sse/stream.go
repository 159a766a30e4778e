package sse

import (
	"context"
	"net/http"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// stream opens a session and writes its events until either side leaves. What
// the client accepts is not asked: old clients say nothing about it.
func (s *Server) stream(out *web.Response, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	pipe := &transports.Pipe{
		Header: r.Header, Remote: web.ClientAddress(r), Transport: Name, Speaker: transports.SpeakerOf(r.Context()),
		Stream: s.now.Load().room().NewStream(),
	}
	c := newSession(ctx, pipe)
	id, why := s.admit(c)
	if why != "" {
		out.Header().Set("Retry-After", transports.RetryAfter)
		out.Problem(http.StatusServiceUnavailable, why)
		return
	}
	c.host = s.host.Attach(pipe) // nobody else knows the id yet
	defer func() {
		s.remove(id)
		cancel()
		c.host.Close()
	}()
	go c.work()
	w := writer{Events: web.NewEvents(out), session: c}
	pipe.Stream.Begin()
	w.Begin(nil)
	w.Put([]byte("event: endpoint\ndata: " + s.endpoint(r, id) + "\n\n"))
	w.Follow(pipe.Stream, w.drain, w.silence)
}

// writer writes the events of a session, from the goroutine of its request.
type writer struct {
	web.Events
	session *session
}

// drain writes all that is there and flushes once.
func (w *writer) drain() (wrote, done bool) {
	for !w.Failed() && !done {
		d, ok := w.session.pipe.Stream.Next()
		if !ok {
			break
		}
		w.Message(d.Message)
		w.session.paid(d.Message)
		wrote, done = true, d.Last
	}
	w.Flush()
	return wrote, done
}

func (w *writer) silence() {
	w.Comment()
	w.Flush()
}
