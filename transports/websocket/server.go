package websocket

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	gorilla "github.com/gorilla/websocket"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// ServerConfig holds an operator's choices for a Server. Zero values mean the
// defaults.
type ServerConfig struct {
	Timing
	MaxMessage     int  // bytes of a message; default 64 MiB
	MaxDepth       int  // levels of nesting in it; default mcp.MaxDepth
	StreamBytes    int  // queued for one client before its reader pauses; default 1 MiB
	StreamMessages int  // the same in messages; default 1000
	MaxSockets     int  // open at once; default 10000
	Compress       bool // let clients that ask for it compress messages; costs memory for each connection
	// Refused hears the status of every request that becomes no socket; nil is
	// allowed.
	Refused func(status int)
	// Limited hears the key (mcp.LimitNames) of each limit that cut something
	// before anybody but the transport saw it; nil is allowed.
	Limited func(limit string)
}

func (c ServerConfig) withDefaults() ServerConfig {
	c.Timing = c.Timing.withDefaults()
	if c.MaxMessage <= 0 {
		c.MaxMessage = defaultMaxMessage
	}
	if c.StreamBytes <= 0 {
		c.StreamBytes = 1 << 20
	}
	if c.StreamMessages <= 0 {
		c.StreamMessages = 1000
	}
	if c.MaxSockets <= 0 {
		c.MaxSockets = 10000
	}
	if c.Refused == nil {
		c.Refused = func(int) {}
	}
	if c.Limited == nil {
		c.Limited = func(string) {}
	}
	return c
}

// Server is the WebSocket endpoint of an HTTP listener. The http.Server
// around it forgets a connection that has become a socket: its Shutdown
// neither ends it nor waits for it. Leave and Wait do.
type Server struct {
	host  transports.PipeHost
	guard *transports.Guard
	now   atomic.Pointer[settings]

	mu      sync.Mutex
	peers   map[*peer]struct{}
	leaving bool
	empty   chan struct{} // closed when leaving and no peer is left
}

// NewServer returns the endpoint that lets host serve whom guard admits.
func NewServer(host transports.PipeHost, guard *transports.Guard, config ServerConfig) *Server {
	s := &Server{host: host, guard: guard, peers: map[*peer]struct{}{}, empty: make(chan struct{})}
	s.Adjust(config)
	return s
}

// settings are what a socket is opened with.
type settings struct {
	ServerConfig
	upgrader gorilla.Upgrader
}

// Adjust sets another configuration for the sockets to come.
func (s *Server) Adjust(config ServerConfig) {
	config = config.withDefaults()
	s.now.Store(&settings{config, newUpgrader(config)})
}

// ServeHTTP turns the request into a socket and serves it until either side
// leaves. The guard comes first: a browser lets any page open a socket, and
// tells only by Origin which one it is.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.guard.Check(r); err != nil {
		s.refuse(w, http.StatusForbidden, err.Error())
		return
	}
	if status, text := upgradable(w.Header(), r); status != 0 {
		s.refuse(w, status, text)
		return
	}
	p := newPeer(s.now.Load().ServerConfig)
	if why := s.admit(p); why != "" {
		w.Header().Set("Retry-After", transports.RetryAfter)
		s.refuse(w, http.StatusServiceUnavailable, why)
		return
	}
	defer s.remove(p)
	if socket := s.upgrade(w, r); socket != nil {
		p.serve(socket, s.host, r)
	}
}

func (s *Server) refuse(w http.ResponseWriter, status int, text string) {
	s.now.Load().Refused(status)
	transports.WriteProblem(w, status, text)
}

// admit counts a peer in, or says why it does not.
func (s *Server) admit(p *peer) (why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch limits := s.now.Load(); {
	case s.leaving:
		return "no more connections are taken: the bridge is stopping"
	case len(s.peers) >= limits.MaxSockets:
		limits.Limited(mcp.LimitSessions)
		return fmt.Sprintf("%d connections are open, the limit %s; try again later", limits.MaxSockets, mcp.LimitSessions)
	}
	s.peers[p] = struct{}{}
	return ""
}

func (s *Server) remove(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, p)
	s.part()
}

// part says that nobody is left. It is called under the lock.
func (s *Server) part() {
	if !s.leaving || len(s.peers) > 0 {
		return
	}
	select {
	case <-s.empty:
	default:
		close(s.empty)
	}
}

// Leave closes every connection as soon as no request waits there for its
// answer, and takes no more.
func (s *Server) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = true
	for p := range s.peers {
		p.leave()
	}
	s.part()
}

// Wait returns when no connection is left after Leave, or ctx ended.
func (s *Server) Wait(ctx context.Context) error {
	select {
	case <-s.empty:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close closes every connection at once, whatever is under way there.
func (s *Server) Close() {
	s.Leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.peers {
		p.drop()
	}
}
