package websocket

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// without drops the lines of a handshake that start with one of the prefixes.
func without(lines []string, prefixes ...string) []string {
	return slices.DeleteFunc(lines, func(l string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(l, p) })
	})
}

// untouched is a host that must not be reached.
type untouched struct{ t *testing.T }

func (u untouched) Attach(*transports.Pipe) transports.PipeSession {
	u.t.Error("the host was asked to serve")
	return nil
}

// Field report 163, which holds for the upgrade too: foreign pages are told
// 403 before anything happens.
func TestRefusedHandshakes(t *testing.T) {
	for name, c := range map[string]struct {
		lines  func(*site) []string
		status int
		header string
	}{
		"foreign origin":    {func(s *site) []string { return s.handshake("Origin: https://evil.example") }, 403, ""},
		"null origin":       {func(s *site) []string { return s.handshake("Origin: null") }, 403, ""},
		"origin's port":     {func(s *site) []string { return s.handshake("Origin: http://127.0.0.1:1") }, 403, ""},
		"a second origin":   {func(s *site) []string { return s.handshake("Origin: "+s.web.URL, "Origin: https://evil.example") }, 403, ""},
		"rebound host":      {func(s *site) []string { return append(without(s.handshake(), "Host"), "Host: evil.example") }, 403, ""},
		"other subprotocol": {func(s *site) []string { return s.handshake("Sec-WebSocket-Protocol: graphql-ws, soap") }, 400, ""},
		"case matters":      {func(s *site) []string { return s.handshake("Sec-WebSocket-Protocol: MCP") }, 400, ""},
		"old version": {func(s *site) []string {
			return append(without(s.handshake(), "Sec-WebSocket-Version"), "Sec-WebSocket-Version: 8")
		}, 400, "Sec-Websocket-Version"},
		"no key":     {func(s *site) []string { return without(s.handshake(), "Sec-WebSocket-Key") }, 400, ""},
		"no upgrade": {func(s *site) []string { return without(s.handshake(), "Upgrade", "Connection") }, 426, "Upgrade"},
		"POST":       {func(s *site) []string { return append([]string{"POST /ws HTTP/1.1"}, without(s.handshake(), "GET")...) }, 405, "Allow"},
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Goroutines(t)
			s := listen(t, untouched{t}, ServerConfig{}, (*httptest.Server).Start)
			resp := connect(t, s).request(c.lines(s)...)
			body, err := io.ReadAll(resp.Body)
			if resp.StatusCode != c.status || err != nil || resp.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%d %v %s", resp.StatusCode, resp.Header, body)
			}
			if m, err := mcp.DecodeMessage(body); err != nil || m.Kind != mcp.Failure || !m.ID.IsZero() {
				t.Errorf("%s: %v", body, err)
			}
			if c.header != "" && resp.Header.Get(c.header) == "" {
				t.Errorf("%s is missing: %v", c.header, resp.Header)
			}
		})
	}
}

func TestAcceptedHandshakes(t *testing.T) {
	for name, c := range map[string]struct {
		lines    []string
		protocol string
	}{
		"none offered":    {nil, ""},
		"mcp":             {[]string{"Sec-WebSocket-Protocol: mcp"}, "mcp"},
		"mcp among some":  {[]string{"Sec-WebSocket-Protocol: bearer.x,  mcp"}, "mcp"},
		"in its own line": {[]string{"Sec-WebSocket-Protocol: bearer.x", "Sec-WebSocket-Protocol: mcp"}, "mcp"},
		"compression":     {[]string{"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"}, ""},
		"own origin":      {[]string{"Origin: http://127.0.0.1:PORT"}, ""},
		"localhost":       {[]string{"Origin: http://localhost:PORT"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Goroutines(t)
			s := newEchoing(t, ServerConfig{}).site
			_, port, _ := strings.Cut(s.web.Listener.Addr().String(), ":")
			lines := s.handshake(c.lines...)
			for i := range lines {
				lines[i] = strings.Replace(lines[i], "PORT", port, 1)
			}
			p := connect(t, s)
			resp := p.request(lines...)
			if resp.StatusCode != 101 || resp.Header.Get(protocolHeader) != c.protocol || resp.Header.Get("Sec-Websocket-Extensions") != "" {
				t.Fatalf("%d %v", resp.StatusCode, resp.Header)
			}
			p.send(text(ask(1, 0)))
			p.expect(opText, told(1, 0))
		})
	}
}

// What opened the pipe is told to the host as it was.
func TestPipe(t *testing.T) {
	transporttest.Goroutines(t)
	host := &keeping{Host: transporttest.NewHost(1 << 20), pipes: make(chan *transports.Pipe, 1)}
	s := listen(t, host, ServerConfig{}, (*httptest.Server).Start)
	p := connect(t, s)
	p.request(s.handshake("Authorization: Bearer t", "X-Trace: 1")...)
	pipe := <-host.pipes
	if pipe.Transport != "websocket" || pipe.Remote != p.conn.LocalAddr().String() ||
		pipe.Header.Get("Authorization") != "Bearer t" || pipe.Header.Get("X-Trace") != "1" {
		t.Errorf("%+v", pipe)
	}
}

// keeping is a host that shows the pipes that it serves.
type keeping struct {
	*transporttest.Host
	pipes chan *transports.Pipe
}

func (k *keeping) Attach(p *transports.Pipe) transports.PipeSession {
	k.pipes <- p
	return k.Host.Attach(p)
}

func TestRoom(t *testing.T) {
	transporttest.Goroutines(t)
	hits := make(chan string, 10)
	s := newEchoing(t, ServerConfig{MaxSockets: 1, Limited: func(limit string) { hits <- limit }}).site
	p := socketTo(t, s)
	if len(hits) > 0 {
		t.Errorf("%s is hit below it", <-hits)
	}
	resp := connect(t, s).request(s.handshake()...)
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	if len(hits) != 1 || <-hits != mcp.LimitSessions {
		t.Error("the limit is not told")
	}
	p.send(text(ask(1, 0))) // who is there goes on
	p.expect(opText, told(1, 0))
	p.send(closing(1000))
	p.expectClose(1000)
}
