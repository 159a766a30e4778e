package websocket

import (
	"context"
	"net/http"
	"sync"

	gorilla "github.com/gorilla/websocket"

	"github.com/mcpbridge/mcpbridge/transports"
)

// ServerConfig holds an operator's choices for a Server. Zero values mean the
// defaults.
type ServerConfig struct {
	Timing
	MaxMessage  int  // bytes of a message; default 64 MiB
	StreamBytes int  // queued for one client before its reader pauses; default 1 MiB
	MaxSockets  int  // open at once; default 10000
	Compress    bool // let clients that ask for it compress messages; costs memory for each connection
	// Refused hears the status of every request that becomes no socket; nil is
	// allowed.
	Refused func(status int)
}

func (c ServerConfig) withDefaults() ServerConfig {
	c.Timing = c.Timing.withDefaults()
	if c.MaxMessage <= 0 {
		c.MaxMessage = defaultMaxMessage
	}
	if c.StreamBytes <= 0 {
		c.StreamBytes = 1 << 20
	}
	if c.MaxSockets <= 0 {
		c.MaxSockets = 10000
	}
	if c.Refused == nil {
		c.Refused = func(int) {}
	}
	return c
}

// Server is the WebSocket endpoint of an HTTP listener. The http.Server
// around it forgets a connection that has become a socket: its Shutdown
// neither ends it nor waits for it. Leave and Wait do.
type Server struct {
	host     transports.PipeHost
	guard    *transports.Guard
	config   ServerConfig
	upgrader gorilla.Upgrader

	mu      sync.Mutex
	peers   map[*peer]struct{}
	leaving bool
	empty   chan struct{} // closed when leaving and no peer is left
}

// NewServer returns the endpoint that lets host serve whom guard admits.
func NewServer(host transports.PipeHost, guard *transports.Guard, config ServerConfig) *Server {
	config = config.withDefaults()
	return &Server{
		host: host, guard: guard, config: config,
		upgrader: newUpgrader(config),
		peers:    map[*peer]struct{}{}, empty: make(chan struct{}),
	}
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
	p := newPeer(s.config)
	if !s.admit(p) {
		s.refuse(w, http.StatusServiceUnavailable, "no more connections are taken now; try again later")
		return
	}
	defer s.remove(p)
	if socket := s.upgrade(w, r); socket != nil {
		p.serve(socket, s.host, r)
	}
}

func (s *Server) refuse(w http.ResponseWriter, status int, text string) {
	s.config.Refused(status)
	transports.WriteProblem(w, status, text)
}

// admit counts a peer in; false when there is no room.
func (s *Server) admit(p *peer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving || len(s.peers) >= s.config.MaxSockets {
		return false
	}
	s.peers[p] = struct{}{}
	return true
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
