package bridge_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// patience bounds every wait of a test. It is long for machines that are busy
// with other things; nothing waits for it where all goes well.
const patience = 20 * time.Second

const (
	v1 = "2024-11-05"
	v2 = "2025-03-26"
	v3 = "2025-06-18"
	v4 = "2025-11-25"
)

const allCapabilities = `{"tools":{},"resources":{"subscribe":true},"prompts":{},"logging":{},"completions":{}}`

// server is a scripted MCP server. It behaves as the specification asks where
// a test does not say otherwise, and fails the test when what the bridge sends
// does not. Its exported-looking settings may change under set.
type server struct {
	*httptest.Server
	t *testing.T

	mu           sync.Mutex
	version      string // answered to initialize; "" echoes
	capabilities string
	instructions string
	stateless    bool             // gives no session id
	first        func(*call) bool // sees each request first; true says it is answered
	on           map[string]func(*call)

	seen    []*received
	grew    chan struct{} // closed and replaced when seen grows
	live    map[string]*upstreamSession
	opened  int
	asked   map[string]chan *mcp.Message
	lastAsk int
}

// upstreamSession is what a server knows of one session.
type upstreamSession struct {
	ready bool // notifications/initialized came
	ids   map[string]bool
}

// received is a request that the bridge made.
type received struct {
	*mcp.Message // of a POST
	verb         string
	header       http.Header
	body         string
	session      string
}

// is reports a message by its method; a GET or DELETE by its verb.
func (r *received) is(what string) bool {
	if r.Message == nil {
		return r.verb == what
	}
	return r.Method == what
}

// newServer starts a server that echoes every tool call.
func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{
		t: t, capabilities: allCapabilities, grew: make(chan struct{}),
		on: map[string]func(*call){}, live: map[string]*upstreamSession{}, asked: map[string]chan *mcp.Message{},
	}
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

// handle sets what answers a method, or a tool: "tools/call NAME".
func (s *server) handle(what string, f func(*call)) {
	s.set(func() { s.on[what] = f })
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the bridge gave up while it was sending
	}
	got := &received{verb: r.Method, header: r.Header, body: string(body), session: r.Header.Get(mcp.HeaderSession)}
	if r.Method == http.MethodPost {
		if got.Message, err = mcp.DecodeMessage(body); err != nil {
			s.t.Errorf("the bridge sent %.200s: %v", body, err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	c := &call{received: got, s: s, w: w, r: r}
	s.checkHeaders(c)
	first := s.note(got)
	if first == nil || !first(c) {
		s.serve(c)
	}
}

// note remembers a request and returns the function that sees it first.
func (s *server) note(got *received) func(*call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, got)
	close(s.grew)
	s.grew = make(chan struct{})
	return s.first
}

// checkHeaders holds what every request of the bridge must look like,
// whoever its client is (field reports 43, 51 and 61).
func (s *server) checkHeaders(c *call) {
	accept := map[string]string{"POST": "application/json, text/event-stream", "GET": "text/event-stream", "DELETE": ""}[c.verb]
	if got := c.header.Get("Accept"); got != accept {
		s.t.Errorf("%s %s has Accept %q", c.verb, c.body, got)
	}
	if got := c.header.Get("Content-Type"); c.verb == "POST" && got != "application/json" {
		s.t.Errorf("%s has Content-Type %q", c.body, got)
	}
	if got := c.header.Get("Accept-Encoding"); got != "identity" {
		s.t.Errorf("%s %s has Accept-Encoding %q", c.verb, c.body, got)
	}
	for _, name := range []string{"Cookie", "Origin", "Referer", mcp.HeaderLastID} {
		if v := c.header.Get(name); v != "" {
			s.t.Errorf("%s %s has %s: %s", c.verb, c.body, name, v)
		}
	}
}

// serve answers a request as the specification asks.
func (s *server) serve(c *call) {
	if c.Message != nil && c.Method == mcp.Initialize {
		s.initialize(c)
		return
	}
	if !s.admit(c) {
		return
	}
	s.mu.Lock()
	f := s.on[c.verb]
	if c.Message != nil {
		f = s.on[c.Method]
		if tool := s.on[c.Method+" "+c.Body.Text("name")]; tool != nil {
			f = tool
		}
	}
	s.mu.Unlock()
	switch {
	case f != nil:
		f(c)
	case c.verb == http.MethodDelete:
		s.set(func() { delete(s.live, c.session) })
	case c.verb == http.MethodGet:
		c.w.WriteHeader(http.StatusMethodNotAllowed)
	case c.Kind == mcp.Request:
		c.standard()
	default:
		s.deliver(c.Message)
		c.w.WriteHeader(http.StatusAccepted)
	}
}

// initialize opens a session.
func (s *server) initialize(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	version := s.version
	if version == "" {
		version = c.Body.Text("protocolVersion")
	}
	if !s.stateless {
		s.opened++
		id := "up-" + strconv.Itoa(s.opened)
		s.live[id] = &upstreamSession{ids: map[string]bool{}}
		c.w.Header().Set(mcp.HeaderSession, id)
	}
	extra := ""
	if s.instructions != "" {
		extra = `,"instructions":` + string(mcp.Quote(s.instructions))
	}
	c.result(`{"protocolVersion":"` + version + `","capabilities":` + s.capabilities +
		`,"serverInfo":{"name":"scripted","version":"1"}` + extra + `}`)
}

// admit checks the session of a request, and what holds for all messages in
// one: its ids are small integers that do not repeat (field report 95), and
// the handshake is complete before anything else comes, once (field report
// 124).
func (s *server) admit(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stateless {
		return true
	}
	session := s.live[c.session]
	if session == nil {
		status := http.StatusNotFound
		if c.session == "" {
			status = http.StatusBadRequest
		}
		c.reply(status, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
		return false
	}
	switch {
	case c.Message == nil:
	case c.Method == mcp.Initialized:
		if session.ready {
			s.t.Errorf("the session %s was initialized twice", c.session)
		}
		session.ready = true
	case !session.ready:
		s.t.Errorf("%s came before initialized", c.body)
	case c.Kind == mcp.Request:
		if _, err := strconv.ParseInt(c.ID.String(), 10, 32); err != nil || session.ids[c.ID.String()] {
			s.t.Errorf("the id %s is used again or is no small integer", c.ID)
		}
		session.ids[c.ID.String()] = true
	}
	return true
}

// forget loses all sessions, as a restart does.
func (s *server) forget() {
	s.set(func() { clear(s.live) })
}

// deliver hands an answer of the client to whoever asked.
func (s *server) deliver(m *mcp.Message) {
	if !m.IsAnswer() {
		return
	}
	s.mu.Lock()
	waiting := s.asked[m.ID.String()]
	delete(s.asked, m.ID.String())
	s.mu.Unlock()
	if waiting == nil {
		s.t.Errorf("an answer to nothing: %s", m.Bytes())
		return
	}
	waiting <- m
}
