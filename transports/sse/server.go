package sse

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// Server is the pair of endpoints of an HTTP listener. The http.Server around
// it must have no WriteTimeout and no ReadTimeout: see web.Responder.
type Server struct {
	host  transports.PipeHost
	guard *transports.Guard
	now   atomic.Pointer[settings]

	mu       sync.Mutex
	sessions map[string]*session
	leaving  bool
}

// NewServer returns the endpoints that let host serve whom guard admits.
func NewServer(host transports.PipeHost, guard *transports.Guard, config ServerConfig) *Server {
	s := &Server{host: host, guard: guard, sessions: map[string]*session{}}
	s.Adjust(config)
	return s
}

// settings are what a request is served with.
type settings struct {
	ServerConfig
	responder *web.Responder
}

// Adjust sets another configuration for the requests to come.
func (s *Server) Adjust(config ServerConfig) {
	config = config.withDefaults()
	s.now.Store(&settings{config, web.NewResponder(config.Limits)})
}

// Stream is the endpoint that opens event streams. It answers a POST with
// 405, which sends a client that tried Streamable HTTP first on to GET
// (basic "Transports", Backwards Compatibility).
func (s *Server) Stream() http.Handler {
	return s.only(http.MethodGet, "this endpoint takes GET: it opens the event stream of the HTTP+SSE transport", s.stream)
}

// Messages is the endpoint that takes the messages of clients.
func (s *Server) Messages() http.Handler {
	return s.only(http.MethodPost, "this endpoint takes POST: messages of a session that an event stream opened", s.post)
}

// only admits one method. The guard comes first: nothing of a foreign page's
// request is read.
func (s *Server) only(method, text string, serve func(*web.Response, *http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := s.now.Load().responder.Response(w, r)
		defer out.Close()
		if err := s.guard.Check(r); err != nil {
			out.Problem(http.StatusForbidden, err.Error())
			return
		}
		if r.Method != method {
			out.MethodNotAllowed(method, text)
			return
		}
		serve(out, r)
	})
}

// Holds reports whether a request is posted to a session that is open here.
func (s *Server) Holds(r *http.Request) bool {
	return s.find(r.URL.Query().Get(sessionParameter)) != nil
}

// Leave ends every stream as soon as no request waits there for its answer,
// and opens no more.
func (s *Server) Leave() {
	s.mu.Lock()
	s.leaving = true
	var open []*session
	for _, c := range s.sessions {
		open = append(open, c)
	}
	s.mu.Unlock()
	for _, c := range open {
		c.leave()
	}
}

// room is what may wait for the client of one stream.
func (c *settings) room() transports.Room {
	return transports.Room{Messages: c.StreamMessages, Bytes: c.StreamBytes, Waited: c.Limited}
}

// admit puts a session into the table under an id that nobody can guess, or
// says why it does not.
func (s *Server) admit(c *session) (id, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch limits := s.now.Load(); {
	case s.leaving:
		return "", "no more event streams are opened: the bridge is stopping"
	case len(s.sessions) >= limits.MaxStreams:
		limits.Limited(mcp.LimitSessions)
		return "", fmt.Sprintf("%d event streams are open, the limit %s; try again later", limits.MaxStreams, mcp.LimitSessions)
	}
	id = rand.Text() // 130 bits
	s.sessions[id] = c
	return id, ""
}

func (s *Server) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, id)
}

func (s *Server) find(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}
