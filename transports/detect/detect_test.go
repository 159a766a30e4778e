package detect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/sse"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05"}}`
	initNote   = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	pong       = `{"jsonrpc":"2.0","id":1,"result":{}}`
	versions   = `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Unsupported protocol version (supported versions: 2024-11-05)"}}`
	noSession  = `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`
)

// server speaks one transport or the other at /x, and what it is told.
type server struct {
	*httptest.Server

	mu      sync.Mutex
	streams []chan string // one for each session
	older   bool          // speaks HTTP+SSE
	// status, kind and body answer a POST where messages do not go.
	status int
	kind   string
	body   string
	mute   bool // the stream names no endpoint
	seen   []string
}

func newServer(t *testing.T) *server {
	t.Helper()
	transporttest.Goroutines(t)
	s := &server{status: 405}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// took returns the requests that came, and forgets them.
func (s *server) took() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = nil
	return seen
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.seen = append(s.seen, r.Method+" "+r.URL.Path)
	older, mute, status, kind, text := s.older, s.mute, s.status, s.kind, s.body
	s.mu.Unlock()
	asks := strings.Contains(string(body), `"id"`)
	switch {
	case r.URL.Path == "/m":
		if w.WriteHeader(http.StatusAccepted); asks {
			s.say(r.URL.Query().Get("s"), pong)
		}
	case r.Method == http.MethodGet && older:
		s.stream(w, r, mute)
	case r.Method == http.MethodPost && !older:
		w.Header().Set("Content-Type", "application/json")
		if !asks {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		_, _ = io.WriteString(w, pong)
	case r.Method == http.MethodDelete:
	default:
		w.Header().Set("Content-Type", kind)
		w.Header().Set("X-First", "1")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// say writes to the stream of a session.
func (s *server) say(session, text string) {
	n, _ := strconv.Atoi(session)
	s.mu.Lock()
	stream := s.streams[n]
	s.mu.Unlock()
	stream <- text
}

func (s *server) stream(w http.ResponseWriter, r *http.Request, mute bool) {
	answers := make(chan string, 8)
	s.mu.Lock()
	n := len(s.streams)
	s.streams = append(s.streams, answers)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	if !mute {
		_, _ = fmt.Fprintf(w, "event: endpoint\ndata: /m?s=%d\n\n", n)
	}
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case text := <-answers:
			_, _ = io.WriteString(w, "data: "+text+"\n\n")
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

func client(t *testing.T, s *server) *Client {
	t.Helper()
	c, err := NewClient(s.URL+"/x", sse.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func opened(t *testing.T, c *Client) transports.Upstream {
	t.Helper()
	u := c.Conversation()
	t.Cleanup(func() { _ = u.Close(context.Background()) }) // the server may be gone
	return u
}

func send(t *testing.T, u transports.Upstream, text string) (got int, sent int, err error) {
	t.Helper()
	m, err := mcp.DecodeMessage([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err = u.Send(ctx, m, transports.Outgoing{Sent: func() { sent++ }, Receive: func(*mcp.Message) { got++ }})
	return got, sent, err
}

func expect(t *testing.T, s *server, want ...string) {
	t.Helper()
	if got := s.took(); !slices.Equal(got, want) {
		t.Errorf("the server was asked %q, want %q", got, want)
	}
}

// TestDetects has servers of HTTP+SSE that refuse the first attempt in every
// way that sends a client on to GET.
func TestDetects(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		kind, body string
	}{
		"405": {405, "", ""}, "404 page": {404, "text/html", "Cannot POST /x, version 3"}, "400": {400, "text/plain", "no"},
		"400 JSON": {400, "application/json", `{"version":1}`}, "400 JSON-RPC": {400, "application/json", noSession},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.set(func() { s.older, s.status, s.kind, s.body = true, c.status, c.kind, c.body })
			known := client(t, s)
			u := opened(t, known)
			if got, sent, err := send(t, u, initialize); got != 1 || sent != 1 || err != nil {
				t.Fatalf("%d %d %v", got, sent, err)
			}
			expect(t, s, "POST /x", "GET /x", "POST /m")
			u.Agree("v1", mcp.Traits{})
			if _, _, err := send(t, u, initNote); err != nil || transports.NameOf(u, "") != "http+sse" {
				t.Errorf("%v %s", err, transports.NameOf(u, ""))
			}
			expect(t, s, "POST /m")
			if _, _, err := send(t, opened(t, known), initialize); err != nil {
				t.Error(err)
			}
			expect(t, s, "GET /x", "POST /m") // remembered
		})
	}
}

// TestStands has servers whose first answer must stand.
func TestStands(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		kind, body string
		asked      []string
	}{
		"401":             {401, "", "", []string{"POST /x"}},
		"403":             {403, "", "", []string{"POST /x"}},
		"406":             {406, "", "", []string{"POST /x"}},
		"500":             {500, "", "", []string{"POST /x"}},
		"about versions":  {400, "application/json", versions, []string{"POST /x"}},
		"nothing of both": {404, "text/html", "no", []string{"POST /x", "GET /x"}},
		"no method":       {405, "", "", []string{"POST /x", "GET /x"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.set(func() { s.status, s.kind, s.body = c.status, c.kind, c.body })
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				s.set(func() { s.older = r.Method != http.MethodGet }) // neither transport
				s.ServeHTTP(w, r)
			})
			u := opened(t, client(t, s))
			_, sent, err := send(t, u, initialize)
			r, refused := errors.AsType[*mcp.Refusal](err)
			if !refused || r.Status != c.status || r.Header.Get("X-First") != "1" || sent != 1 || transports.NameOf(u, "") != "streamable-http" {
				t.Errorf("%v, Sent was called %d times", err, sent)
			}
			expect(t, s, c.asked...)
		})
	}
}

// TestNewer has a server of Streamable HTTP: nothing is looked for.
func TestNewer(t *testing.T) {
	s := newServer(t)
	u := opened(t, client(t, s))
	if got, sent, err := send(t, u, initialize); got != 1 || sent != 1 || err != nil {
		t.Fatalf("%d %d %v", got, sent, err)
	}
	u.Agree("v1", mcp.Traits{})
	s.set(func() { s.older = true })
	if _, _, err := send(t, u, initialize); err == nil || transports.NameOf(u, "") != "streamable-http" {
		t.Errorf("%v %s", err, transports.NameOf(u, ""))
	}
	expect(t, s, "POST /x", "POST /x") // a session does not change its transport
}

// TestOnlyAHandshakeDetects has requests that an event stream could not serve:
// they probe the server, and its answer tells enough.
func TestOnlyAHandshakeDetects(t *testing.T) {
	s := newServer(t)
	s.set(func() { s.older = true })
	c := client(t, s)
	for range 2 {
		for _, method := range []string{mcp.Ping, mcp.Discover} {
			_, _, err := send(t, opened(t, c), strings.Replace(initialize, mcp.Initialize, method, 1))
			if r, refused := errors.AsType[*mcp.Refusal](err); !refused || r.Status != 405 {
				t.Errorf("%s: %v", method, err)
			}
			expect(t, s, "POST /x")
		}
		if _, _, err := send(t, opened(t, c), initialize); err != nil { // and known from now on
			t.Fatal(err)
		}
		s.took()
	}
}
