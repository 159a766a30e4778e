package websocket

import (
	"cmp"
	"context"
	"errors"

	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

func message(t testing.TB, text string) *mcp.Message {
	t.Helper()
	m, err := mcp.DecodeMessage([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const (
	opening = `{"jsonrpc":"2.0","id":1,"method":"initialize"}`
	opened  = `{"jsonrpc":"2.0","id":1,"result":{}}`
)

// sending is a message on its way through a conversation.
type sending struct {
	got []string
	err chan error
}

func send(t testing.TB, u transports.Upstream, m *mcp.Message) *sending {
	s := &sending{err: make(chan error, 1)}
	go func() {
		s.err <- u.Send(t.Context(), m, transports.Outgoing{Receive: func(m *mcp.Message) { s.got = append(s.got, string(m.Bytes())) }})
	}()
	return s
}

// wait returns how the sending ended.
func (s *sending) wait(t testing.TB) ([]string, error) {
	t.Helper()
	select {
	case err := <-s.err:
		return s.got, err
	case <-time.After(patience):
		t.Fatal("the message is still under way")
		return nil, nil
	}
}

// begin opens a conversation with a server that the test is.
func begin(t testing.TB, config ClientConfig) (transports.Upstream, *raw, *upstream) {
	t.Helper()
	up := newUpstream(t)
	u := dial(t, up.url(), config)
	s := send(t, u, message(t, opening))
	p, r := up.accept()
	p.agree(r)
	p.expect(opText, opening)
	p.send(text(opened))
	if got, err := s.wait(t); err != nil || len(got) != 1 || got[0] != opened {
		t.Fatalf("%v %v", got, err)
	}
	return u, p, up
}

func TestClientHandshake(t *testing.T) {
	transporttest.Goroutines(t)
	up := newUpstream(t)
	config := ClientConfig{}
	config.Header = http.Header{"x-static": {"1"}, "X-Both": {"static"}, "Host": {"named.example"}, "Origin": {"https://app.example"}}
	u := dial(t, up.url(), config)
	m := message(t, opening)
	m.Header = http.Header{"Authorization": {"Bearer t"}, "X-Both": {"own"}, "Sec-Websocket-Key": {"forged"}, "Upgrade": {"h2c"}, "Connection": {"close"}, "Mcp-Session-Id": {"forged"}}
	s := send(t, u, m)
	p, r := up.accept()
	for name, want := range map[string]string{
		"Authorization": "Bearer t", "X-Static": "1", "X-Both": "static", "Origin": "https://app.example", "Mcp-Session-Id": "",
		"Upgrade": "websocket", "Connection": "Upgrade", "Sec-Websocket-Version": "13", "Sec-Websocket-Protocol": "mcp",
		"Sec-Websocket-Extensions": "", "User-Agent": "mcpbridge",
	} {
		if got := strings.Join(r.Header.Values(name), "|"); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if r.Method != "GET" || r.RequestURI != "/ws?key=secret" || r.Host != "named.example" || r.Header.Get("Sec-Websocket-Key") == "forged" {
		t.Errorf("%s %s %s", r.Method, r.RequestURI, r.Host)
	}
	p.agree(r, "Sec-WebSocket-Protocol: mcp")
	p.expect(opText, opening)
	p.send(text(opened))
	if got, err := s.wait(t); err != nil || len(got) != 1 {
		t.Errorf("%v %v", got, err)
	}
	if name := transports.NameOf(u, ""); name != "websocket" {
		t.Errorf("the transport is called %q", name)
	}
}

func TestClientRefused(t *testing.T) {
	for name, c := range map[string]struct {
		status, body string
		refusal      int // 0 means that the server cannot be reached
		header       string
	}{
		"401":           {"401 Unauthorized", "no", 401, "WWW-Authenticate: Bearer realm=x"},
		"403":           {"403 Forbidden", "", 403, ""},
		"404":           {"404 Not Found", "<html>", 404, ""},
		"200":           {"200 OK", "<html>", 200, ""},
		"503":           {"503 Service Unavailable", strings.Repeat("x", 3000), 503, ""},
		"foreign":       {"307 Temporary Redirect", "", 307, "Location: ws://127.0.0.1:1/ws"},
		"not a place":   {"307 Temporary Redirect", "", 307, "Location: http://[::1"},
		"no key":        {"101 Switching Protocols", "", 0, "Upgrade: websocket\r\nConnection: Upgrade"},
		"wrong key":     {"101 Switching Protocols", "", 0, "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x"},
		"not an answer": {"", "", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Goroutines(t)
			up := newUpstream(t)
			s := send(t, dial(t, up.url(), ClientConfig{}), message(t, opening))
			p, _ := up.accept()
			p.answer(c.status, c.body, "Content-Length: 3000", cmp.Or(c.header, "X: y"))
			_ = p.conn.Close()
			_, err := s.wait(t)
			refusal, refused := errors.AsType[*mcp.Refusal](err)
			_, unreachable := errors.AsType[*transports.Unreachable](err)
			switch {
			case refused != (c.refusal != 0) || unreachable == refused || strings.Contains(err.Error(), "secret"):
				t.Errorf("%v", err)
			case refused && (refusal.Status != c.refusal || !strings.HasPrefix(c.body, string(refusal.Body)) || len(refusal.Body) == 0 && c.body != ""):
				t.Errorf("%d %q", refusal.Status, refusal.Body)
			case c.refusal == 401 && refusal.Header.Get("WWW-Authenticate") != "Bearer realm=x":
				t.Errorf("%v", refusal.Header)
			}
		})
	}
}

func TestClientOtherSubprotocol(t *testing.T) {
	transporttest.Goroutines(t)
	up := newUpstream(t)
	s := send(t, dial(t, up.url(), ClientConfig{}), message(t, opening))
	p, r := up.accept()
	p.agree(r, "Sec-WebSocket-Protocol: soap")
	if got, err := p.next(); err != nil || got.op != opClose || closeCode(got) != 1002 {
		t.Errorf("%x %q, %v", got.op, got.payload, err)
	}
	if _, err := s.wait(t); !errors.Is(err, errProtocol) {
		t.Errorf("%v", err)
	}
	_ = p.conn.Close()
}

func TestClientUnreachable(t *testing.T) {
	transporttest.Goroutines(t)
	up := newUpstream(t)
	closed := up.url()
	_ = up.Close()
	stalling := newUpstream(t) // its kernel accepts, and nobody answers
	for name, c := range map[string]struct {
		url  string
		open time.Duration
	}{
		"closed port": {closed, 0}, "no such name": {"ws://name.invalid/?key=secret", 0}, "stalled": {stalling.url(), 50 * time.Millisecond},
		"no TLS": {strings.Replace(stalling.url(), "ws", "wss", 1), 50 * time.Millisecond},
	} {
		_, err := send(t, dial(t, c.url, ClientConfig{OpenTimeout: c.open}), message(t, opening)).wait(t)
		if _, ok := errors.AsType[*transports.Unreachable](err); !ok || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
		if c.open > 0 && !errors.Is(err, errLate) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A caller that leaves while the connection is being opened is let go.
func TestClientLeavesEarly(t *testing.T) {
	transporttest.Goroutines(t)
	up := newUpstream(t)
	u := dial(t, up.url(), ClientConfig{})
	ctx, leave := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { failed <- u.Send(ctx, message(t, opening), transports.Outgoing{}) }()
	p, _ := up.accept()
	leave()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	p.expectEnd()
}

func TestClientURLs(t *testing.T) {
	for url, ok := range map[string]bool{
		"ws://a/ws": true, "wss://a:1/ws?x=y": true, "http://a/ws": false, "ws:///ws": false, "ws://a b/": false, "a/ws": false,
	} {
		if _, err := NewClient(url, ClientConfig{}); (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// The password of a URL becomes a header: a WebSocket URL has none.
func TestClientUser(t *testing.T) {
	transporttest.Goroutines(t)
	up := newUpstream(t)
	s := send(t, dial(t, strings.Replace(up.url(), "://", "://u:p@", 1), ClientConfig{}), message(t, opening))
	p, r := up.accept()
	if user, password, _ := r.BasicAuth(); user != "u" || password != "p" {
		t.Errorf("%v", r.Header)
	}
	_ = p.conn.Close()
	_, _ = s.wait(t)
}
