package transporttest

import (
	"context"
	"net"
	"net/http"
)

// Dial opens a connection, as http.Transport.DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Memory serves h without sockets, so that a synctest bubble sees when both
// ends wait. Its address is that of port 80 on loopback. Stop must be called
// before the bubble ends.
func Memory(h http.Handler) (dial Dial, stop func()) {
	l := &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	web := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = web.Serve(l) // it ends with stop
	}()
	return l.dial, func() {
		_ = web.Close()
		<-done
	}
}

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
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
