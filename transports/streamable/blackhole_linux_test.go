package streamable

import (
	"errors"
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// unanswering returns an address that answers no attempt to connect: its queue of
// connections is full, and nobody takes one out.
func unanswering(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*syscall.SockaddrInet4).Port))
	for range 10 { // the queue is longer than asked for
		conn, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { conn.Close() })
	}
	t.Fatal("the queue does not fill")
	return ""
}

// TestBlackhole has a server whose packets get lost: the connection is given up
// after a while, and the message is known not to have arrived (field report 73).
func TestBlackhole(t *testing.T) {
	transporttest.Goroutines(t)
	u := dial(t, "http://"+unanswering(t)+"/?key=secret", ClientConfig{DialTimeout: 200 * time.Millisecond}).Conversation()
	began := time.Now()
	_, err := send(t, u, ping)
	if _, ok := errors.AsType[*transports.Unreachable](err); !ok {
		t.Errorf("it failed with: %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}
