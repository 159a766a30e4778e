package bridge_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// opens lets the server answer initialize by a script.
func (s *server) opens(script func(*call)) {
	s.set(func() {
		s.first = func(c *call) bool {
			if c.Message == nil || c.Method != mcp.Initialize {
				return false
			}
			script(c)
			return true
		}
	})
}

// unopened checks that a client got an answer to its initialize but no
// session, and that nothing of the attempt is left.
func unopened(t *testing.T, r *rig, got reply, status int, body string) {
	t.Helper()
	if got.status != status || got.body != body {
		t.Errorf("%d %s\nwant %d %s", got.status, got.body, status, body)
	}
	if media := got.header.Get("Content-Type"); media != "application/json" || got.header.Get(mcp.HeaderSession) != "" {
		t.Errorf("the answer has %v", got.header)
	}
	if r.bridge.Sessions() != 0 || r.heard.starting("opened") != 0 || r.heard.starting("failed server") != 1 {
		t.Errorf("%d sessions, heard %v", r.bridge.Sessions(), r.heard.counts)
	}
}

func internalError(id, message, extra string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32603,"message":"` + message + `"` + extra + `}}`
}

// noJSONRPC is what a client is told of an HTTP answer that is no JSON-RPC.
func noJSONRPC(id, status, code string) string {
	return internalError(id, "the upstream server answered with HTTP status "+status+" instead of a JSON-RPC message", `,"data":{"status":`+code+`}`)
}

// A server that answers initialize by something else: its client hears at
// once what happened, and nothing that the server wrote but the status.
func TestOpeningRefused(t *testing.T) {
	for name, c := range map[string]struct {
		script func(*call)
		status int
		body   string
	}{
		"report 54: HTML": {func(c *call) { c.reply(200, "text/html; charset=utf-8", "<html>secret</html>") }, 200, noJSONRPC(`"i"`, "200 OK", "200")},
		"404":             {func(c *call) { c.reply(404, "text/plain", "no such page: secret") }, 200, noJSONRPC(`"i"`, "404 Not Found", "404")},
		"502":             {func(c *call) { c.reply(502, "text/html", "<html>secret</html>") }, 200, noJSONRPC(`"i"`, "502 Bad Gateway", "502")},
		"401": {func(c *call) { c.reply(401, "application/json", `{"error":"secret"}`) }, 401,
			`{"jsonrpc":"2.0","error":{"code":-32603,"message":"the upstream answered HTTP status 401 Unauthorized"}}`},
		"403": {func(c *call) { c.reply(403, "text/plain", "secret") }, 403,
			`{"jsonrpc":"2.0","error":{"code":-32603,"message":"the upstream answered HTTP status 403 Forbidden"}}`},
		"204":     {func(c *call) { c.w.WriteHeader(204) }, 200, internalError(`"i"`, "the upstream server closed the exchange without an answer", "")},
		"nothing": {func(c *call) { c.reply(200, "application/json", "") }, 200, internalError(`"i"`, "the upstream server closed the exchange without an answer", "")},
		"an error of its own": {func(c *call) { c.fail(-32001, "not today") }, 200,
			`{"jsonrpc":"2.0","id":"i","error":{"code":-32001,"message":"not today"}}`},
		"report 5: no version is right": {func(c *call) { c.fail(-32602, "bad version") }, 200,
			`{"jsonrpc":"2.0","id":"i","error":{"code":-32602,"message":"bad version"}}`},
		"a version that is no date": {func(c *call) { c.result(`{"protocolVersion":"draft","capabilities":{}}`) }, 200,
			`{"jsonrpc":"2.0","id":"i","error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05","2025-03-26","2025-06-18","2025-11-25"],"requested":"2025-11-25"}}}`},
		"cut off": {func(c *call) { panic(http.ErrAbortHandler) }, 200,
			internalError(`"i"`, "the connection to the upstream server broke before it answered; whether it acted on the request is not known", "")},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.up.opens(c.script)
			unopened(t, r, r.client().post(initializeWith(`"i"`, v4, `{}`)), c.status, c.body)
			r.up.set(func() { r.up.first = nil })
			r.open(v4, `{}`).works()
		})
	}
}

// What a client needs to authenticate reaches it as the server said it.
func TestOpeningUnauthorized(t *testing.T) {
	const challenge = `Bearer resource_metadata="https://example.com/.well-known/oauth-protected-resource", scope="a"`
	r := newRig(t, nil)
	r.up.opens(func(c *call) {
		c.w.Header().Set("WWW-Authenticate", challenge)
		c.w.Header().Set("Set-Cookie", "a=b")
		c.reply(http.StatusUnauthorized, "text/plain", "who are you?")
	})
	got := r.client().post(initializeWith(`1`, v4, `{}`))
	if got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") != challenge || got.header.Get("Set-Cookie") != "" {
		t.Errorf("%d %v", got.status, got.header)
	}
	r.heard.await(t, "failed server status_4xx", 1)
}

func TestOpeningDeadUpstream(t *testing.T) {
	transporttest.Goroutines(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	l.Close()
	r := newRigBefore(t, nil, address, nil)
	got := r.client().post(initializeWith(`"i"`, v4, `{}`))
	unopened(t, r, got, http.StatusOK, internalError(`"i"`,
		"cannot reach the upstream server "+address+": check that it is running and that the bridge has the right address", ""))
	r.heard.await(t, "failed server unreachable", 1)
}

func TestOpeningSilentUpstream(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.HandshakeTimeout = 50 * time.Millisecond })
	if err := r.bridge.Ready(t.Context()); err != nil { // the connection is open: reaching the server takes none of the time
		t.Fatal(err)
	}
	r.up.opens(func(c *call) { c.wait(nil) })
	unopened(t, r, r.client().post(initializeWith(`"i"`, v4, `{}`)), http.StatusOK,
		internalError(`"i"`, "the upstream server did not answer within 50ms, the limit handshake_timeout", ""))
}

// A session that the server opened and the bridge cannot use is ended there.
func TestOpeningLeavesNoUpstreamSession(t *testing.T) {
	r := newRig(t, nil)
	r.up.version = "draft"
	if got := r.client().post(initializeWith(`1`, v4, `{}`)); !strings.Contains(got.body, "Unsupported protocol version") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := r.up.await(t, "DELETE", 1); got.session != "up-1" {
		t.Errorf("the session %q was ended", got.session)
	}
}

// A client that leaves during its handshake leaves nothing behind.
func TestOpeningClientLeaves(t *testing.T) {
	r := newRig(t, nil)
	gone := make(chan struct{})
	r.up.opens(func(c *call) {
		<-c.r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := r.client().send(ctx, http.MethodPost, initializeWith(`1`, v4, `{}`))
		done <- err
	}()
	r.up.await(t, mcp.Initialize, 1)
	cancel()
	if err := <-done; err == nil {
		t.Error("the client got an answer")
	}
	within(t, "the end of the upstream's handshake", gone)
	r.heard.await(t, "failed server broken", 1)
	if n := r.bridge.Sessions(); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

// What a server sends besides its answer to initialize waits for the client.
func TestOpeningEarlyMessages(t *testing.T) {
	r := newRig(t, nil)
	r.up.opens(func(c *call) {
		_ = c.notify(mcp.LogMessage, `{"level":"info","data":"hello"}`)
		r.up.initialize(c)
	})
	c := r.open(v4, `{}`)
	get := c.stream(http.MethodGet, "")
	get.want(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}`)
}

func TestOpeningMaxSessions(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.MaxSessions = 2 })
	a, b := r.open(v4, `{}`), r.open(v1, `{}`)
	badInput{body: initializeWith(`7`, v4, `{}`), status: http.StatusServiceUnavailable, code: -32603, id: `7`}.check(t, r.client())
	if n := r.up.count(mcp.Initialize); n != 2 {
		t.Errorf("the upstream got %d handshakes", n)
	}
	a.works()
	b.works()
	a.do(http.MethodDelete, "")
	r.open(v4, `{}`).works()
}
