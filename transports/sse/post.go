package sse

import (
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

const noSession = "no such session: open an event stream and post to the endpoint that it names"

// post takes a message of a client. A session that is dead, unknown or
// another's does not exist.
func (s *Server) post(out *web.Response, r *http.Request) {
	if status, text := web.Unreadable(r.Header); status != 0 {
		out.Problem(status, text)
		return
	}
	id := r.URL.Query().Get(sessionParameter)
	if id == "" {
		out.Problem(http.StatusBadRequest, "the session is missing: post to the endpoint that the event stream names, with its query")
		return
	}
	c := s.find(id)
	if c == nil || !s.now.Load().Owns(r.Context(), c.host, c.pipe.Header, r.Header) {
		out.Problem(http.StatusNotFound, noSession)
		return
	}
	c.pipe.Speaker.Prolong(r.Context())
	body, status, text := out.ReadBody()
	if status != 0 {
		out.Problem(status, text)
		return
	}
	j := &job{reply: make(chan transports.Reply, 1)}
	j.frame, j.fault = out.Decode(body)
	s.hand(out, r, c, j)
}

// hand waits until the host has taken the message, but not for ever.
func (s *Server) hand(out *web.Response, r *http.Request, c *session, j *job) {
	select {
	case c.jobs <- j:
	case <-c.ctx.Done():
		out.Problem(http.StatusNotFound, noSession)
		return
	case <-r.Context().Done():
		return
	}
	timer := time.NewTimer(s.now.Load().Patience)
	defer timer.Stop()
	select {
	case reply := <-j.reply:
		respond(out, reply)
		return
	case <-timer.C:
	case <-r.Context().Done():
	case <-c.ctx.Done():
	}
	if j.settled.CompareAndSwap(false, true) {
		respond(out, transports.Reply{Status: http.StatusAccepted})
		return
	}
	respond(out, <-j.reply)
}

// respond writes what a POST is answered with. Servers of this transport say
// "Accepted", and whoever reads a body at all has only ever seen that one.
func respond(out *web.Response, reply transports.Reply) {
	if reply.Status != http.StatusAccepted {
		out.Plain(reply)
		return
	}
	out.Header().Set("Content-Type", "text/plain; charset=utf-8")
	out.Send(http.StatusAccepted, []byte("Accepted"))
}
