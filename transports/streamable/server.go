package streamable

import (
	"net/http"
	"sync/atomic"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// Name is what metrics call this transport.
const Name = "streamable-http"

const allowed = "POST, GET, DELETE"

// ServerConfig holds the limits of a Server. Zero values mean the defaults.
type ServerConfig = web.Limits

// Server is the MCP endpoint of an HTTP listener. The http.Server around it
// must have no WriteTimeout and no ReadTimeout: see web.Responder.
type Server struct {
	host      transports.Host
	guard     *transports.Guard
	responder atomic.Pointer[web.Responder]
	shelf     *shelf
}

// NewServer returns the endpoint that lets host answer what guard admits.
func NewServer(host transports.Host, guard *transports.Guard, config ServerConfig) *Server {
	s := &Server{host: host, guard: guard, shelf: newShelf()}
	s.Adjust(config)
	return s
}

// Adjust sets other limits for the requests to come.
func (s *Server) Adjust(config ServerConfig) { s.responder.Store(web.NewResponder(config)) }

// ServeHTTP checks the request as far as HTTP goes and writes the host's
// answer. The guard comes first: nothing of a foreign page's request is read.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := response{Response: s.responder.Load().Response(w, r)}
	defer out.Close()
	if err := s.guard.Check(r); err != nil {
		out.Problem(http.StatusForbidden, err.Error())
		return
	}
	switch r.Method {
	case http.MethodPost:
		s.post(out, r)
	case http.MethodGet:
		s.get(out, r)
	case http.MethodDelete:
		s.delete(out, r)
	default:
		out.MethodNotAllowed(allowed, "this endpoint takes POST, GET and DELETE")
	}
}

func (s *Server) post(out response, r *http.Request) {
	x := incoming(r)
	if status, text := acceptable(r, x); status != 0 {
		out.Problem(status, text)
		return
	}
	body, status, text := out.ReadBody()
	if status != 0 {
		out.Problem(status, text)
		return
	}
	frame, fault := out.Decode(body)
	if fault != nil {
		out.write(s.host.Malformed(r.Context(), x, fault), x, nil)
		return
	}
	x.Frame = frame
	out.write(s.host.Post(r.Context(), x), x, s.shelf)
}

// get opens the standalone stream. A probe that takes anything, as load
// balancers send, must not open one, so the stream has to be asked for.
func (s *Server) get(out response, r *http.Request) {
	x := incoming(r)
	if a := acceptsEvents(r.Header.Values("Accept")); !a.ok || !a.specific {
		out.MethodNotAllowed(allowed, "GET opens an event stream here: send Accept: text/event-stream, or use POST")
		return
	}
	if s.resume(out, r, x) {
		return
	}
	out.write(s.host.Listen(r.Context(), x), x, s.shelf)
}

// delete ends a session, and nobody comes back to its streams.
func (s *Server) delete(out response, r *http.Request) {
	x := incoming(r)
	reply := s.host.End(r.Context(), x)
	if reply.Status/100 == 2 {
		s.shelf.forget(x.Session)
	}
	out.write(reply, x, nil)
}

func incoming(r *http.Request) *transports.Exchange {
	accept := r.Header.Values("Accept")
	return &transports.Exchange{
		Header:    r.Header,
		Session:   r.Header.Get(mcp.HeaderSession),
		Version:   r.Header.Get(mcp.HeaderVersion),
		Remote:    web.ClientAddress(r),
		Speaker:   transports.SpeakerOf(r.Context()),
		Transport: Name,
		JSON:      acceptsJSON(accept),
		Events:    acceptsEvents(accept).ok,
	}
}
