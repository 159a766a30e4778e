package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// curious is a server whose tool asks the user whose turn it is, and repeats
// the answer.
func curious(t *testing.T) *httptest.Server {
	answers := make(chan string, 2)
	inner := upstream(t).Config.Handler
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
			Params struct{ Name string }
		}
		switch err := json.Unmarshal(body, &m); {
		case err == nil && m.Result != nil:
			answers <- string(m.Result)
			w.WriteHeader(http.StatusAccepted)
		case err == nil && m.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q-%s\",\"method\":\"elicitation/create\",\"params\":{\"message\":%q,\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}}\n\n", m.Params.Name, m.Params.Name)
			http.NewResponseController(w).Flush()
			select {
			case answer := <-answers:
				fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":%q}]}}\n\n", m.ID, answer)
			case <-r.Context().Done():
			}
		default:
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			inner.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// TestSharedProcessAsks: two clients share a process that asks, and each is
// asked what its own call needs.
func TestSharedProcessAsks(t *testing.T) {
	args := append([]string{"--stdio-mode", "shared", "--shared-interactive", "serialize"}, itself("stdio", curious(t).URL+"/mcp")...)
	site, s, end := bridgeTo(t, args...)
	const opening = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`
	a, b := openSocket(t, site), openSocket(t, site)
	say(t, a, opening, `"protocolVersion":"2025-06-18"`)
	say(t, b, opening, `"protocolVersion":"2025-06-18"`)
	say(t, a, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"one"}}`, `"message":"one"`)
	say(t, b, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"two"}}`, "")
	say(t, a, `{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`, `"text":"{\"action\":\"decline\"}"`)
	hear(t, b, `"message":"two"`)
	say(t, b, `{"jsonrpc":"2.0","id":1,"result":{"action":"cancel"}}`, `"text":"{\"action\":\"cancel\"}"`)
	code := make(chan int, 1)
	go func() { code <- end() }()
	gone(t, a, websocket.CloseGoingAway)
	gone(t, b, websocket.CloseGoingAway)
	if got := <-code; got != 0 || len(processesOf(s.err.String())) != 1 {
		t.Errorf("exit code %d:\n%s", got, s.err)
	}
}
