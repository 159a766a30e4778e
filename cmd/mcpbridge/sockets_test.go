package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// openSocket opens a WebSocket at a site.
func openSocket(t *testing.T, site string) *websocket.Conn {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"mcp"}}
	c, _, err := dialer.Dial("ws"+strings.TrimPrefix(site, "http")+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// say writes a message and returns the next one, unless part is "".
func say(t *testing.T, c *websocket.Conn, text, part string) {
	t.Helper()
	if err := c.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		t.Fatal(err)
	}
	if part != "" {
		hear(t, c, part)
	}
}

func hear(t *testing.T, c *websocket.Conn, part string) {
	t.Helper()
	if _, got, err := c.ReadMessage(); err != nil || !strings.Contains(string(got), part) {
		t.Errorf("%q, %v", got, err)
	}
}

// gone reads up to the close, whose code it checks.
func gone(t *testing.T, c *websocket.Conn, code int) {
	t.Helper()
	if _, got, err := c.ReadMessage(); !websocket.IsCloseError(err, code) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestServeSockets serves a client of WebSocket. An idle one does not delay
// the stop, and is told of it.
func TestServeSockets(t *testing.T) {
	site, s, end := bridgeTo(t, upstream(t).URL+"/mcp")
	c, idle := openSocket(t, site), openSocket(t, site)
	say(t, c, initialize, `"protocolVersion":"2024-11-05"`)
	say(t, c, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "")
	say(t, c, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`, `{\"n\":9007199254740993`)
	code := make(chan int, 1)
	go func() { code <- end() }()
	gone(t, c, websocket.CloseGoingAway)
	gone(t, idle, websocket.CloseGoingAway)
	if got := <-code; got != 0 || strings.Contains(s.err.String(), "not every call ended") {
		t.Errorf("exit code %d:\n%s", got, s.err)
	}
}

// TestServeBeforeSockets puts one bridge before another by WebSocket.
func TestServeBeforeSockets(t *testing.T) {
	inner, _, endInner := bridgeTo(t, upstream(t).URL+"/mcp")
	site, s, end := bridgeTo(t, "ws"+strings.TrimPrefix(inner, "http")+"/ws")
	s.err.await(t, "the upstream answers")
	c := &client{t: t, endpoint: site + "/mcp"}
	if status, answer := c.initialize("2025-06-18"); status != 200 || !strings.Contains(answer, `"protocolVersion":"2025-06-18"`) {
		t.Errorf("%d %s", status, answer)
	}
	if _, answer := c.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`); !strings.Contains(answer, `"n":9007199254740993`) {
		t.Errorf("%s", answer)
	}
	if outer, inner := end(), endInner(); outer != 0 || inner != 0 {
		t.Errorf("exit codes %d and %d", outer, inner)
	}
}

// TestSocketsCanBeOff serves no WebSocket, or elsewhere.
func TestSocketsCanBeOff(t *testing.T) {
	for _, c := range []struct {
		args   []string
		path   string
		status int
	}{
		{nil, "/ws", 426}, {nil, "/ws/", 426}, {[]string{"--ws-path", "off"}, "/ws", 404}, {[]string{"--ws-path="}, "/ws", 404},
		{[]string{"--ws-path", "/a/b"}, "/a/b", 426}, {[]string{"--ws-path", "/a/b"}, "/ws", 404},
	} {
		site, _, end := bridgeTo(t, append(c.args, upstream(t).URL+"/mcp")...)
		resp, err := http.Get(site + c.path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%v %s: status %d", c.args, c.path, resp.StatusCode)
		}
		end()
	}
}

// TestStopWaitsForCallsOnSockets lets a call end whose answer goes to a
// socket.
func TestStopWaitsForCallsOnSockets(t *testing.T) {
	arrived, answer := make(chan struct{}), make(chan struct{})
	inner := upstream(t).Config.Handler
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "tools/call") {
			close(arrived)
			<-answer
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		inner.ServeHTTP(w, r)
	}))
	defer slow.Close()
	site, s, end := bridgeTo(t, slow.URL)
	c := openSocket(t, site)
	say(t, c, initialize, `"id":1`)
	say(t, c, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`, "")
	<-arrived
	code := make(chan int, 1)
	go func() { code <- end() }()
	s.err.await(t, "stopping")
	close(answer)
	hear(t, c, `"id":2`)
	gone(t, c, websocket.CloseGoingAway)
	if got := <-code; got != 0 || strings.Contains(s.err.String(), "not every call ended") {
		t.Errorf("exit code %d:\n%s", got, s.err)
	}
}
