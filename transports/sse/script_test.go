package sse

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// script is a server whose stream says what a test wants.
type script struct {
	*httptest.Server
	first  string // what each stream begins with
	stream chan string
	// post answers a POST; nil accepts it. What it returns goes to the stream.
	post func(w http.ResponseWriter, r *http.Request, body string) string

	mu    sync.Mutex
	gets  []*http.Request
	posts []*http.Request
	gone  chan struct{} // has a token for each stream that the client left
}

const named = "event: endpoint\ndata: /messages?session_id=abc\n\n"

func newScript(t *testing.T) *script {
	t.Helper()
	transporttest.Goroutines(t)
	s := &script{first: named, stream: make(chan string, 64), gone: make(chan struct{}, 64)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	if r.Method == http.MethodPost {
		s.posts = append(s.posts, r)
	} else {
		s.gets = append(s.gets, r)
	}
	post := s.post
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodGet:
		s.serve(w, r)
	case post != nil:
		if text := post(w, r, string(body)); text != "" {
			s.stream <- text
		}
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// serve writes the stream until the client leaves or the script says "".
func (s *script) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	_, _ = io.WriteString(w, s.first)
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case text := <-s.stream:
			if text == "" {
				return
			}
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			s.gone <- struct{}{}
			return
		}
	}
}

// answer returns a script's post that answers every request on the stream.
func answer(text func(r *http.Request, body string) string) func(http.ResponseWriter, *http.Request, string) string {
	return func(w http.ResponseWriter, r *http.Request, body string) string {
		w.WriteHeader(http.StatusAccepted)
		return text(r, body)
	}
}

func says(status int, contentType, body string) func(http.ResponseWriter, *http.Request, string) string {
	return func(w http.ResponseWriter, _ *http.Request, _ string) string {
		w.Header()["Content-Type"] = nil // or Go guesses one
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return ""
	}
}

func (s *script) paths() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.posts {
		out = append(out, r.URL.String())
	}
	return out
}

// conversation returns a conversation with the script, and what is received
// outside of exchanges.
func (s *script) conversation(t *testing.T, config ClientConfig) (transports.Upstream, <-chan string) {
	t.Helper()
	return listening(t, dial(t, s.URL+"/sse", config).Conversation())
}

func listening(t *testing.T, u transports.Upstream) (transports.Upstream, <-chan string) {
	t.Helper()
	heard := make(chan string, 64)
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		_ = u.Listen(ctx, transports.Outgoing{Receive: func(m *mcp.Message) { heard <- string(m.Bytes()) }})
	})
	t.Cleanup(func() {
		cancel()
		done.Wait()
		_ = u.Close(context.Background()) // a server may be gone already
	})
	return u, heard
}

// send sends a message and returns what came back for it.
func send(t *testing.T, u transports.Upstream, text string) (got []string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err = u.Send(ctx, message(t, text), transports.Outgoing{Receive: func(m *mcp.Message) { got = append(got, string(m.Bytes())) }})
	return got, err
}

func within[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("%s did not happen", what)
	}
	return v
}
