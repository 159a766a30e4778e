package websocket

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

func TestClientRedirects(t *testing.T) {
	transporttest.Goroutines(t)
	up := newUpstream(t)
	config := ClientConfig{}
	config.Header = http.Header{"Authorization": {"Bearer t"}}
	s := send(t, dial(t, up.url(), config), message(t, opening))
	for _, location := range []string{"/ws/", "ws://" + up.Addr().String() + "/a", "http://" + up.Addr().String() + "/b"} {
		p, _ := up.accept()
		p.answer("307 Temporary Redirect", "", "Content-Length: 0", "Location: "+location)
		_ = p.conn.Close()
	}
	p, r := up.accept()
	if r.RequestURI != "/b" || r.Header.Get("Authorization") != "Bearer t" {
		t.Errorf("%s %v", r.RequestURI, r.Header)
	}
	p.agree(r)
	p.expect(opText, opening)
	p.send(text(opened))
	if _, err := s.wait(t); err != nil {
		t.Error(err)
	}
}

func TestClientRedirectLoop(t *testing.T) {
	transporttest.Goroutines(t)
	hops := 0
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hops++
		http.Redirect(w, r, "/ws", http.StatusFound)
	}))
	defer web.Close()
	_, err := send(t, dial(t, "ws"+strings.TrimPrefix(web.URL, "http"), ClientConfig{}), message(t, opening)).wait(t)
	if r, ok := errors.AsType[*mcp.Refusal](err); !ok || r.Status != 302 || hops != maxRedirects+1 {
		t.Errorf("%v after %d hops", err, hops)
	}
}

// A proxy opens a tunnel for ws:// too; what it refuses is an error.
func TestClientProxy(t *testing.T) {
	for name, status := range map[string]string{"open": "200 OK", "refused": "403 Forbidden", "wordless": "407"} {
		t.Run(name, func(t *testing.T) {
			transporttest.Goroutines(t)
			proxy := newUpstream(t)
			c, err := NewClient("ws://upstream.example/ws", ClientConfig{})
			if err != nil {
				t.Fatal(err)
			}
			c.site.Transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: proxy.Addr().String()})
			u := c.Conversation()
			defer func() { _ = u.Close(context.Background()) }()
			s := send(t, u, message(t, opening))
			p, r := proxy.accept()
			if r.Method != http.MethodConnect || r.Host != "upstream.example:80" {
				t.Errorf("%s %s", r.Method, r.Host)
			}
			p.answer(status, "")
			if name == "open" {
				r, err = http.ReadRequest(p.in)
				if err != nil || r.Host != "upstream.example" {
					t.Fatalf("%v %v", r, err)
				}
				p.agree(r)
				p.expect(opText, opening)
				p.send(text(opened))
			}
			_, err = s.wait(t)
			_ = p.conn.Close()
			if _, unreachable := errors.AsType[*transports.Unreachable](err); (err == nil) != (name == "open") || err != nil && !unreachable {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestReach(t *testing.T) {
	transporttest.Goroutines(t)
	up := newUpstream(t)
	c, err := NewClient(up.url(), ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for status, ok := range map[string]bool{"101": true, "401 Unauthorized": true, "404 Not Found": true, "503 Service Unavailable": false} {
		reached := make(chan error, 1)
		go func() { reached <- c.Reach(t.Context()) }()
		p, r := up.accept()
		if status == "101" {
			p.agree(r)
			p.send(text(`{"jsonrpc":"2.0","method":"hello"}`))
			if got, err := p.next(); err != nil || got.op != opClose || closeCode(got) != 1000 {
				t.Errorf("received %x %q, %v", got.op, got.payload, err)
			}
			p.send(closing(1000))
			p.expectEnd()
		} else {
			p.answer(status, "", "Content-Length: 0")
		}
		if err := <-reached; (err == nil) != ok {
			t.Errorf("%s: %v", status, err)
		}
	}
	_ = up.Close()
	if c.Reach(t.Context()) == nil {
		t.Error("nobody is there")
	}
}
