//go:build unix

package stdio_test

import (
	"context"
	"net"
	"path/filepath"
	"testing"

	"github.com/mcpbridge/mcpbridge/transports/stdio"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// TestSuite runs the suite over both sides at once: the Client is the bridge
// with a child, which relays to Serve in this process.
func TestSuite(t *testing.T) { transporttest.Run(t, pair) }

func pair(t *testing.T) transporttest.Pair {
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	host := transporttest.NewHost(1 << 20)
	ctx, leave := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- serveOne(ctx, listener, host) }()
	p, _ := program(t, "relay", func(s *stdio.Command) { s.Env = append(s.Env, "STDIO_TEST_SOCKET="+socket) })
	closed := false
	return transporttest.Pair{
		Client: p.Conversation(),
		Serve:  host.Serve,
		Close: func() {
			if closed {
				return
			}
			closed = true
			leave()
			listener.Close()
			<-served
			host.Wait()
		},
		InFlight: 4 << 20, // the stream, three pipes and sockets, and the copies between them
	}
}

// serveOne serves the first client of a listener.
func serveOne(ctx context.Context, l net.Listener, host *transporttest.Host) error {
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	return stdio.Serve(ctx, host, conn, conn, stdio.ServerConfig{})
}
