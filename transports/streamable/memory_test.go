package streamable

import (
	"context"
	"net"
	"net/http"
	"testing"

	"github.com/mcpbridge/mcpbridge/transports"
)

// memoryListener connects client and server without sockets, so that a
// synctest bubble sees when both wait.
type memoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error   { close(l.closed); return nil }
func (l *memoryListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (l *memoryListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// inMemory serves h and returns a client of it. Stop must be called before
// the bubble ends.
func inMemory(t *testing.T, h http.Handler, config ClientConfig) (c *Client, stop func()) {
	t.Helper()
	l := &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	web := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = web.Serve(l)
	}()
	c, err := NewClient("http://localhost/mcp", config)
	if err != nil {
		t.Fatal(err)
	}
	c.transport.DialContext = l.dial
	return c, func() {
		c.CloseIdleConnections()
		_ = web.Close()
		<-done
	}
}

func endpoint(t *testing.T, host transports.Host, config ServerConfig) *Server {
	t.Helper()
	guard, err := transports.NewGuard("127.0.0.1:80", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return NewServer(host, guard, config)
}
