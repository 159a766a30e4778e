package interop

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// unchecked is a server that asks the user whatever the client has declared, and
// remembers what came of it. It takes the version that is offered to it.
type unchecked struct {
	url      string
	mu       sync.Mutex
	sessions map[string]*uncheckedSession
}

type uncheckedSession struct {
	declared bool // elicitation, in initialize
	calls    int
	answers  chan string // the answers to its questions, as they were sent
}

const question = `{"jsonrpc":"2.0","id":"question-1","method":"elicitation/create","params":{"message":"Which colour?",` +
	`"requestedSchema":{"type":"object","properties":{"colour":{"type":"string"}},"required":["colour"]}}}`

func startUnchecked(t *testing.T) *unchecked {
	s := &unchecked{sessions: map[string]*uncheckedSession{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL + "/mcp"
	return s
}

// saw tells whether the client of that name has declared elicitation, and how
// often it called.
func (s *unchecked) saw(name string) (declared bool, calls int) {
	session := s.session(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	return session.declared, session.calls
}

func (s *unchecked) note(session *uncheckedSession, declared bool, calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session.declared = session.declared || declared
	session.calls += calls
}

// session returns what is kept of the client that named itself so: the name
// serves as the session's id.
func (s *unchecked) session(name string) *uncheckedSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[name] == nil {
		s.sessions[name] = &uncheckedSession{answers: make(chan string, 1)}
	}
	return s.sessions[name]
}

func (s *unchecked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			ProtocolVersion string
			Capabilities    map[string]json.RawMessage
			ClientInfo      struct{ Name string }
		}
	}
	if err != nil || json.Unmarshal(body, &m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	session := s.session(r.Header.Get("Mcp-Session-Id"))
	switch {
	case m.Method == "initialize":
		name := m.Params.ClientInfo.Name
		_, declared := m.Params.Capabilities["elicitation"]
		s.note(s.session(name), declared, 0)
		w.Header().Set("Mcp-Session-Id", name)
		answerJSON(w, m.ID, fmt.Sprintf(`"result":{"protocolVersion":%q,"capabilities":{"tools":{}},`+
			`"serverInfo":{"name":"unchecked","version":"1"}}`, m.Params.ProtocolVersion))
	case m.Method == "tools/call":
		s.note(session, false, 1)
		s.ask(w, r, m.ID, session)
	case m.Method == "" && len(m.ID) > 0:
		select {
		case session.answers <- string(body):
		default:
		}
		w.WriteHeader(http.StatusAccepted)
	case len(m.ID) > 0:
		answerJSON(w, m.ID, `"error":{"code":-32601,"message":"not found"}`)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// ask puts the question into the call's own stream and ends the call with the
// answer, whatever it is.
func (s *unchecked) ask(w http.ResponseWriter, r *http.Request, id json.RawMessage, session *uncheckedSession) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", question)
	_ = http.NewResponseController(w).Flush()
	answer := "none"
	select {
	case answer = <-session.answers:
	case <-r.Context().Done():
	case <-time.After(rawLimit / 2):
	}
	text, _ := json.Marshal(answer)
	_, _ = fmt.Fprintf(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":"+
		"{\"content\":[{\"type\":\"text\",\"text\":%s}]}}\n\n", id, text)
}

func answerJSON(w http.ResponseWriter, id json.RawMessage, member string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, id, member)
}
