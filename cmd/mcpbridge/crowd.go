package main

import (
	"net"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// remindTime is how often it is told at most that a listener is full.
const remindTime = time.Minute

// crowd bounds the connections of a listener that are open at once. More are
// not taken from the system until one has ended: they wait in its queue, which
// is bounded too (net.core.somaxconn on Linux), and cost the bridge nothing.
type crowd struct {
	net.Listener
	log  zerolog.Logger
	full func() // counts a connection that has to wait; nil is allowed

	mu     sync.Mutex
	room   *sync.Cond
	open   int  // connections, and the room that is kept for the next
	next   bool // there is such room
	most   int
	closed bool
	told   time.Time
}

func newCrowd(l net.Listener, most int, log zerolog.Logger) *crowd {
	c := &crowd{Listener: l, most: most, log: log}
	c.room = sync.NewCond(&c.mu)
	return c
}

// bound sets how many may be open from now on. Those that are, stay.
func (c *crowd) bound(most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.most = most
	c.room.Broadcast()
}

// count returns how many connections are open.
func (c *crowd) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next {
		return c.open - 1
	}
	return c.open
}

// Accept implements net.Listener.
func (c *crowd) Accept() (net.Conn, error) {
	if !c.enter() {
		return nil, net.ErrClosed
	}
	conn, err := c.Listener.Accept()
	c.mu.Lock()
	c.next = false
	c.mu.Unlock()
	if err != nil {
		c.leave()
		return nil, err
	}
	return &member{Conn: conn, leave: sync.OnceFunc(c.leave)}, nil
}

// enter waits until there is room; false when the listener is closed.
func (c *crowd) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.most && !c.closed {
		c.tell()
	}
	for c.open >= c.most && !c.closed {
		c.room.Wait()
	}
	if c.closed {
		return false
	}
	c.open++
	c.next = true
	return true
}

// tell is called under the lock.
func (c *crowd) tell() {
	if c.full != nil {
		c.full()
	}
	if now := time.Now(); now.Sub(c.told) >= remindTime {
		c.told = now
		c.log.Warn().Str("listen", c.Addr().String()).Int("max_connections", c.most).
			Msg("as many connections are open as max_connections lets; more wait until one ends")
	}
}

func (c *crowd) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	c.room.Signal()
}

// Close implements net.Listener.
func (c *crowd) Close() error {
	c.mu.Lock()
	c.closed = true
	c.room.Broadcast()
	c.mu.Unlock()
	return c.Listener.Close()
}

// member is one connection. Whoever takes it over from the server closes it as
// well.
type member struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (m *member) Close() error {
	defer m.leave()
	return m.Conn.Close()
}
