package streamable

import (
	"net/http"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// Name is what metrics call this transport.
const Name = "streamable-http"

// ServerConfig holds the limits of a Server. Zero values mean the defaults.
type ServerConfig struct {
	MaxBody      int64         // bytes of a request body; default 64 MiB
	BodyTimeout  time.Duration // for every further 64 KiB of a body; default 60 s
	WriteTimeout time.Duration // for one write to the client; default 30 s
	KeepAlive    time.Duration // silence on an event stream before a comment; default 15 s
}

func (c ServerConfig) withDefaults() ServerConfig {
	if c.MaxBody <= 0 {
		c.MaxBody = 64 << 20
	}
	if c.BodyTimeout <= 0 {
		c.BodyTimeout = time.Minute
	}
	if c.WriteTimeout <= 0 {
		c.WriteTimeout = 30 * time.Second
	}
	if c.KeepAlive <= 0 {
		c.KeepAlive = 15 * time.Second
	}
	return c
}

// Server is the MCP endpoint of an HTTP listener. It sets read and write
// deadlines per body and per write, so the http.Server around it must have no
// WriteTimeout and no ReadTimeout, which would end long streams; it should
// have a ReadHeaderTimeout and an IdleTimeout.
type Server struct {
	host    transports.Host
	guard   *transports.Guard
	config  ServerConfig
	buffers sync.Pool // of *[]byte, for messages on their way out
}

// NewServer returns the endpoint that lets host answer what guard admits.
func NewServer(host transports.Host, guard *transports.Guard, config ServerConfig) *Server {
	return &Server{host: host, guard: guard, config: config.withDefaults()}
}

// ServeHTTP checks the request as far as HTTP goes and writes the host's
// answer. The guard comes first: nothing of a foreign page's request is read.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := s.response(w, r)
	defer out.close()
	if err := s.guard.Check(r); err != nil {
		out.problem(http.StatusForbidden, err.Error())
		return
	}
	switch r.Method {
	case http.MethodPost:
		s.post(out, r)
	case http.MethodGet:
		s.get(out, r)
	case http.MethodDelete:
		x := incoming(r)
		out.write(s.host.End(r.Context(), x), x)
	default:
		out.methodNotAllowed("this endpoint takes POST, GET and DELETE")
	}
}

func (s *Server) post(out *response, r *http.Request) {
	x := incoming(r)
	if status, text := acceptable(r, x); status != 0 {
		out.problem(status, text)
		return
	}
	body, status, text := s.readBody(out, r)
	if status != 0 {
		out.problem(status, text)
		return
	}
	frame, fault := mcp.Decode(body)
	if fault != nil {
		out.write(s.host.Malformed(r.Context(), x, fault), x)
		return
	}
	x.Frame = frame
	out.write(s.host.Post(r.Context(), x), x)
}

// get opens the standalone stream. A probe that takes anything, as load
// balancers send, must not open one, so the stream has to be asked for.
func (s *Server) get(out *response, r *http.Request) {
	x := incoming(r)
	if a := acceptsEvents(r.Header.Values("Accept")); !a.ok || !a.specific {
		out.methodNotAllowed("GET opens an event stream here: send Accept: text/event-stream, or use POST")
		return
	}
	out.write(s.host.Listen(r.Context(), x), x)
}

func incoming(r *http.Request) *transports.Exchange {
	accept := r.Header.Values("Accept")
	return &transports.Exchange{
		Header:    r.Header,
		Session:   r.Header.Get(mcp.HeaderSession),
		Version:   r.Header.Get(mcp.HeaderVersion),
		Remote:    r.RemoteAddr,
		Transport: Name,
		JSON:      acceptsJSON(accept),
		Events:    acceptsEvents(accept).ok,
	}
}
