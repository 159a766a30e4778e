package websocket

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

func TestSocketClientOfHTTPServer(t *testing.T) {
	transporttest.Goroutines(t)
	up, news := httpUpstream(t)
	b := newBridge(t, up, streamable.Name)
	s := listen(t, b, ServerConfig{}, (*httptest.Server).Start)
	c := newClient(t, dial(t, s.url, ClientConfig{})).open("2024-11-05", nil)
	got, err := c.ask(mcp.ToolsCall, call, nil)
	if err != nil || len(got) != 1 || !strings.Contains(got[0], translated) {
		t.Errorf("%q %v", got, err)
	}
	c.hears(`"progressToken":"p"`)
	news <- changed()
	c.hears(`list_changed`)
	if b.Sessions() != 1 {
		t.Errorf("%d sessions", b.Sessions())
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	s.Leave()
	if err := s.Wait(t.Context()); err != nil || b.Sessions() != 0 {
		t.Errorf("%d sessions are left: %v", b.Sessions(), err)
	}
}

// The bridge's own end closes the sockets of its clients.
func TestBridgeCloses(t *testing.T) {
	transporttest.Goroutines(t)
	up, _ := httpUpstream(t)
	b := newBridge(t, up, streamable.Name)
	s := listen(t, b, ServerConfig{}, (*httptest.Server).Start)
	p := socketTo(t, s)
	p.send(text(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if got, err := p.next(); err != nil || !strings.Contains(got.payload, `"id":1,"error":{"code":-32600`) {
		t.Errorf("before initialize: %s %v", got.payload, err)
	}
	p.send(text(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`))
	if got, err := p.next(); err != nil || !strings.Contains(got.payload, `"serverInfo"`) {
		t.Fatalf("%s %v", got.payload, err)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if got, err := p.next(); err != nil || got.op != opClose || closeCode(got) != 1000 {
		t.Errorf("%x %q %v", got.op, got.payload, err)
	}
	p.send(closing(1000))
	p.expectEnd()
}

func TestHTTPClientOfSocketServer(t *testing.T) {
	transporttest.Goroutines(t)
	host := socketUpstream(t)
	up := listen(t, host, ServerConfig{}, (*httptest.Server).Start)
	ws, err := NewClient(up.url, ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	b := newBridge(t, ws.Conversation, Name)
	c := httpClient(t, overHTTP(t, b)).open("2024-11-05", http.Header{"Authorization": {"Bearer t"}})
	pipe := <-host.pipes
	if pipe.Header.Get("Authorization") != "Bearer t" || pipe.Header.Get(protocolHeader) != Subprotocol {
		t.Errorf("%v", pipe.Header)
	}
	header := http.Header{"Authorization": {"Bearer t"}}
	got, err := c.ask(mcp.ToolsCall, call, header)
	if err != nil || len(got) != 2 || !strings.Contains(got[0], `"progressToken":"p"`) || !strings.Contains(got[1], translated) {
		t.Errorf("%q %v", got, err)
	}
	pipe.Stream.Push(changed())
	c.hears("list_changed")

	pipe.Stream.End() // the server closes; the next call opens a new connection
	got, err = c.ask(mcp.ToolsCall, call, header)
	for err == nil && len(got) == 1 && strings.Contains(got[0], "broke") { // the close came between
		got, err = c.ask(mcp.ToolsCall, call, header)
	}
	if err != nil || len(got) != 2 || !strings.Contains(got[1], translated) {
		t.Errorf("after the server closed: %q %v", got, err)
	}
	if again := <-host.pipes; again.Header.Get("Authorization") != "Bearer t" {
		t.Errorf("%v", again.Header)
	}
}

// A changed token keeps its session only where the upstream is asked, which
// it is when a connection opens: the client has to initialize again.
func TestRenewedToken(t *testing.T) {
	transporttest.Goroutines(t)
	up := listen(t, socketUpstream(t), ServerConfig{}, (*httptest.Server).Start)
	ws, err := NewClient(up.url, ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	token := func(signature string) http.Header { // {"iss":"i","sub":"s"}
		return http.Header{"Authorization": {"Bearer e30.eyJpc3MiOiJpIiwic3ViIjoicyJ9." + signature}}
	}
	c := httpClient(t, overHTTP(t, newBridge(t, ws.Conversation, Name))).open("2025-06-18", token("one"))
	if _, err := c.ask(mcp.Ping, `{}`, token("two")); !errors.Is(err, transports.ErrSessionGone) {
		t.Errorf("%v", err)
	}
	if got, err := c.ask(mcp.Ping, `{}`, token("one")); err != nil || len(got) != 1 {
		t.Errorf("%q %v", got, err)
	}
}

// A server that wants credentials says so in its handshake: over HTTP the
// client is told as it was said, on a pipe as an error.
func TestUnauthorized(t *testing.T) {
	transporttest.Goroutines(t)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", "Bearer realm=x")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(up.Close)
	ws, err := NewClient("ws"+strings.TrimPrefix(up.URL, "http"), ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	b := newBridge(t, ws.Conversation, Name)
	initialize := `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`
	_, err = httpClient(t, overHTTP(t, b)).ask(mcp.Initialize, initialize, nil)
	if r, ok := errors.AsType[*mcp.Refusal](err); !ok || r.Status != http.StatusUnauthorized || r.Header.Get("WWW-Authenticate") != "Bearer realm=x" {
		t.Errorf("over HTTP: %v", err)
	}
	s := listen(t, b, ServerConfig{}, (*httptest.Server).Start)
	got, err := newClient(t, dial(t, s.url, ClientConfig{})).ask(mcp.Initialize, initialize, nil)
	if err != nil || len(got) != 1 || !strings.Contains(got[0], "401 Unauthorized") {
		t.Errorf("over WebSocket: %q %v", got, err)
	}
}
