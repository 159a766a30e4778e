package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// demoServerVersion is the only version that the demo's server speaks: it
// answers with it whatever it is asked for, as servers of one version do.
const demoServerVersion = "2025-11-25"

// demoServer is an MCP server over Streamable HTTP whose tools answer and ask
// what older clients cannot take. It keeps strictly to its own version.
type demoServer struct {
	site
	guard *transports.Guard
	tools []demoTool

	mu       sync.Mutex
	sessions map[string]*demoSession
}

// startDemoServer serves on a free loopback port until it is closed.
func startDemoServer() (*demoServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("demo: starting its server: %w", err)
	}
	s := &demoServer{tools: demoTools(), sessions: map[string]*demoSession{}}
	if s.guard, err = transports.NewGuard(l.Addr().String(), nil, nil); err != nil {
		return nil, fmt.Errorf("demo: starting its server: %w", err)
	}
	s.site = site{listener: l, server: &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, ErrorLog: stdlog.New(io.Discard, "", 0),
	}}
	go s.serve() //nolint:errcheck // it ends when it is closed
	return s, nil
}

func (s *demoServer) close() {
	s.server.Close() //nolint:errcheck // nobody is left who could mind
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.sessions {
		session.end()
	}
}

// ServeHTTP implements http.Handler. There is no standalone stream: all that
// the server has to say belongs to a call.
func (s *demoServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.guard.Check(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	switch r.Method {
	case http.MethodPost:
		s.post(w, r)
	case http.MethodDelete:
		s.remove(w, r)
	default:
		w.Header().Set("Allow", "POST, DELETE")
		http.Error(w, "only POST and DELETE are served here", http.StatusMethodNotAllowed)
	}
}

// maxDemoBody bounds what the demo reads of one body or event.
const maxDemoBody = 1 << 20

func (s *demoServer) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxDemoBody))
	if err != nil {
		http.Error(w, "the body cannot be read", http.StatusBadRequest)
		return
	}
	frame, fault := mcp.Decode(body)
	switch {
	case fault != nil:
		writeDemo(w, http.StatusBadRequest, fault.Failure(fault.ID))
	case frame.Batch: // removed in 2025-06-18
		writeDemo(w, http.StatusBadRequest, mcp.Errorf(mcp.CodeInvalidRequest, "batches are not supported").Failure(mcp.ID{}))
	case frame.Items[0].Fault != nil:
		f := frame.Items[0].Fault
		writeDemo(w, http.StatusBadRequest, f.Failure(f.ID))
	default:
		s.message(w, r, frame.Items[0].Message)
	}
}

func (s *demoServer) message(w http.ResponseWriter, r *http.Request, m *mcp.Message) {
	if m.Kind == mcp.Request && m.Method == mcp.Initialize {
		w.Header().Set(mcp.HeaderSession, s.add())
		writeDemo(w, http.StatusOK, m.Answer(demoHello()))
		return
	}
	session, problem := s.session(r)
	switch {
	case session == nil:
		writeDemo(w, problem, mcp.Errorf(mcp.CodeInvalidRequest, "no such session").Failure(mcp.ID{}))
	case m.Kind != mcp.Request:
		session.take(m)
		w.WriteHeader(http.StatusAccepted)
	case m.Method == mcp.ToolsCall:
		s.call(w, r, session, m)
	case m.Method == mcp.ToolsList:
		writeDemo(w, http.StatusOK, m.Answer(demoList(s.tools)))
	case m.Method == mcp.Ping:
		writeDemo(w, http.StatusOK, m.Answer(mcp.NewObject()))
	default:
		writeDemo(w, http.StatusOK, m.Refuse(mcp.Errorf(mcp.CodeMethodNotFound, "Method not found")))
	}
}

// session returns the session of a request, or the status that refuses it. A
// request without a version is taken: older clients have no such header.
func (s *demoServer) session(r *http.Request) (*demoSession, int) {
	id := r.Header.Get(mcp.HeaderSession)
	version := r.Header.Get(mcp.HeaderVersion)
	if id == "" || version != "" && version != demoServerVersion {
		return nil, http.StatusBadRequest
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id], http.StatusNotFound
}

func (s *demoServer) add() string {
	id := rand.Text()
	session := &demoSession{asked: map[string]chan *mcp.Message{}}
	session.over, session.end = context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[id] = session
	return id
}

func (s *demoServer) remove(w http.ResponseWriter, r *http.Request) {
	session, problem := s.session(r)
	if session == nil {
		w.WriteHeader(problem)
		return
	}
	session.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, r.Header.Get(mcp.HeaderSession))
	w.WriteHeader(http.StatusNoContent)
}

// writeDemo answers with one JSON message.
func writeDemo(w http.ResponseWriter, status int, m *mcp.Message) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(m.Bytes()) //nolint:errcheck // the client left
}
