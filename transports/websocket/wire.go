package websocket

import (
	"io"
	"net"
	"sync/atomic"
	"time"
)

// writeStep is how much must be written within the write timeout.
const writeStep = 256 << 10

// wire is the network connection below a socket. It gives every step its own
// deadline: a large message may take its time on a slow line, and a peer that
// does nothing at all is noticed all the same. A peer that lives answers
// pings, so that silence means it is gone.
type wire struct {
	net.Conn
	timing Timing
	begun  atomic.Bool // the opening handshake, which has its own deadline, is over
}

func (w *wire) begin() { w.begun.Store(true) }

// Read implements net.Conn. The time while nobody reads does not count.
func (w *wire) Read(b []byte) (int, error) {
	w.alive()
	return w.Conn.Read(b)
}

// alive lets the peer be silent for a while from now.
func (w *wire) alive() {
	if w.begun.Load() {
		_ = w.Conn.SetReadDeadline(time.Now().Add(w.timing.Ping + w.timing.Pong)) // a closed connection fails when it is read
	}
}

// Write implements net.Conn.
func (w *wire) Write(b []byte) (n int, err error) {
	for {
		if w.begun.Load() {
			_ = w.Conn.SetWriteDeadline(time.Now().Add(w.timing.Write)) // a closed connection fails when it is written
		}
		step, err := w.Conn.Write(b[n:min(len(b), n+writeStep)])
		n += step
		if err != nil || n == len(b) {
			return n, err
		}
		w.alive() // it takes so much that it has no room for a pong
	}
}

// closeAfter bounds how long the connection may still live.
func (w *wire) closeAfter(d time.Duration) {
	time.AfterFunc(d, func() { _ = w.Close() }) // whether it is closed already does not matter
}

// linger waits until the peer closes its end. A connection that is closed
// while something unread has arrived is reset, and the peer would not read
// why.
func (w *wire) linger() {
	if half, ok := w.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // it ends soon in any case
	}
	_, _ = io.Copy(io.Discard, w) // until the peer closes or closeAfter does
}
