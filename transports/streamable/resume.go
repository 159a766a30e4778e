package streamable

import (
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// resume serves a GET that comes back to a stream (MCP basic "Transports",
// Resumability and Redelivery): what was written there after the event that
// the client names, and what still comes. It reports false when no stream of
// the session is meant, and then has asked the host for nothing.
func (s *Server) resume(out response, r *http.Request, x *transports.Exchange) bool {
	id, number, ok := readPosition(r.Header.Get(mcp.HeaderLastID))
	host, able := s.host.(transports.Resumer)
	if !ok || !able || x.Session == "" {
		return false
	}
	t := s.shelf.find(x.Session, id)
	switch {
	case t == nil:
		return false
	case t.standalone:
		return s.resumeStandalone(out, r, x, t, number)
	}
	if refusal := host.Resume(r.Context(), x); refusal != nil {
		out.write(*refusal, x, nil)
		return true
	}
	p := t.resume(number)
	if p == nil {
		return false
	}
	out.replay(transports.Reply{Stream: p.stream()}, p)
	return true
}

// resumeStandalone opens a standalone stream anew, after what the client
// missed of the one before. Listening takes the host's word for whose the
// session is.
func (s *Server) resumeStandalone(out response, r *http.Request, x *transports.Exchange, t *tape, number int64) bool {
	reply := s.host.Listen(r.Context(), x)
	if reply.Stream == nil || !reply.Kept {
		out.write(reply, x, nil)
		return true
	}
	p := t.resume(number)
	if p == nil {
		out.write(reply, x, s.shelf)
		return true
	}
	t.continueOn(reply.Stream)
	if reply.Stream.Begin() {
		out.replay(reply, p)
		return true
	}
	p.leave()
	out.write(reply, x, nil)
	return true
}
