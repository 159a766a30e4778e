package bridge_test

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// middlebox passes bytes on between the bridge and a server until it forgets the
// connections of the moment: what comes on them then vanishes, and nobody is told.
type middlebox struct {
	listener net.Listener
	to       string

	mu    sync.Mutex
	lines []*line
}

// line is one connection through it.
type line struct {
	near, far net.Conn
	forgotten atomic.Bool
}

func newMiddlebox(t *testing.T, to string) *middlebox {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &middlebox{listener: listener, to: to}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			if l := m.connect(near); l != nil {
				running.Go(func() { l.pass(l.near, l.far) })
				running.Go(func() { l.pass(l.far, l.near) })
			}
		}
	})
	t.Cleanup(func() {
		listener.Close()
		m.each(func(l *line) { l.near.Close(); l.far.Close() })
		running.Wait()
	})
	return m
}

func (m *middlebox) connect(near net.Conn) *line {
	far, err := net.Dial("tcp", m.to)
	if err != nil {
		near.Close()
		return nil
	}
	l := &line{near: near, far: far}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, l)
	return l
}

func (m *middlebox) each(f func(*line)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.lines {
		f(l)
	}
}

// pass moves bytes one way. Of a connection that is forgotten it passes nothing,
// not even its end.
func (l *line) pass(from, to net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if l.forgotten.Load() && err == nil {
			continue
		}
		if _, failed := to.Write(buf[:n]); err != nil || failed != nil {
			to.Close()
			return
		}
	}
}

// An idle connection that vanished on the way costs the call that meets it, in
// bounded time; the next one has a new connection, and nobody takes the server
// for dead (report 73).
func TestReport73Blackhole(t *testing.T) {
	up := newServer(t)
	box := newMiddlebox(t, up.Listener.Addr().String())
	r := newRigBefore(t, up, "http://"+box.listener.Addr().String(), func(s *rigging) { s.RequestTimeout = 500 * time.Millisecond })
	a, b := r.open(v4, `{}`), r.open(v4, `{}`)
	release := make(chan struct{})
	handler, arrived := hold(release)
	up.handle("tools/call slow", handler)
	var calls []<-chan reply
	for range 4 { // each has a connection of its own, which is idle after it
		calls = append(calls, hosted(a, toolCall(`1`, "slow", `1`)))
		<-arrived
	}
	close(release)
	for _, c := range calls {
		<-c
	}
	box.each(func(l *line) { l.forgotten.Store(true) })
	began := time.Now()
	got := a.post(toolCall(`"m"`, "t", `1`))
	if want := internalError(`"m"`, "the upstream server did not answer within 500ms, the limit request_timeout", ""); got.status != http.StatusOK || got.body != want {
		t.Errorf("%d %s", got.status, got.body)
	}
	if took := time.Since(began); took > patience/2 {
		t.Errorf("the answer took %s", took)
	}
	b.works()
	a.works()
	if n := r.heard.count("failed server timeout"); n != 1 {
		t.Errorf("heard %v", r.heard.counts)
	}
	if n := up.count(mcp.Initialize); n != 2 {
		t.Errorf("the upstream got %s", up.names())
	}
}
