package interop

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// drainTime is what calls under way get at the end of a gateway.
const drainTime = 20 * time.Second

// TestDrainUnderLoad stops a gateway while each session of real SDK clients has a
// call in flight, and another has taken over its address. Each call gets its
// result, the gateway ends in time with all that it started, and the clients go
// on at the other one.
func TestDrainUnderLoad(t *testing.T) {
	e := startEverythings(t)
	first, second := startInstance(t, e), startInstance(t, e)
	f := startForwarder(t, first.site)
	l, v := startLoad(t), startLoad(t) // apart, with connections of their own
	var pipes []string
	for _, path := range []string{"/local", "/remote"} {
		http, sse, ws := at(f.site, path)
		l.opens(t, http)
		l.opens(t, http)
		pipes = append(pipes, l.opens(t, sse), l.opens(t, ws))
	}
	v.visits(t, f.site+"/local")
	v.visits(t, f.site+"/remote")
	golang := startGoVisits(t, f.site+"/remote")
	l.goesOn(t)
	v.goesOn(t)
	golang.ends(t)
	v.rests(t, v.all()...)

	slow := l.callsSlowly(t)
	f.to.Store(&second.site)
	v = startLoad(t) // a new visitor has no connections yet
	v.visits(t, f.site+"/local")
	v.visits(t, f.site+"/remote")
	golang = startGoVisits(t, f.site+"/remote")
	first.drains(t, slow)

	for _, name := range pipes { // their connection was their session
		l.must(t, order{Op: "close", Session: name})
		l.must(t, order{Op: "open", Session: name, URL: l.long[name]})
	}
	for name := range l.long {
		l.must(t, l.as("steady", name))
	}
	l.goesOn(t)
	v.goesOn(t)
	calls, visits := l.rests(t, l.all()...)+v.rests(t, v.all()...), golang.ends(t)
	l.leaves(t)
	t.Logf("after the end of the first gateway: %d calls, %d visits of the Go SDK", calls, visits)
	if got, want := strings.Count(second.log(t), `"recovered":true`), len(slow)-len(pipes); got != want {
		t.Errorf("%d sessions went on at the other gateway, want %d", got, want)
	}
}

// startInstance starts one of two gateways that serve the same.
func startInstance(t *testing.T, e *everythings) *gateway {
	t.Helper()
	command, marks := e.command(t)
	return startGateway(t, marks, fmt.Sprintf(`drain_timeout: %s
allow_hosts: [127.0.0.1]
defaults: {recover_sessions: true}
routes:
- {name: local, command: %s}
- {name: remote, upstream: %q}
`, drainTime, command, e.url))
}

// callsSlowly has all sessions call a tool that takes seconds, and returns when
// they all hear of its progress.
func (l *load) callsSlowly(t *testing.T) map[string]<-chan reply {
	t.Helper()
	l.rests(t, slices.Collect(maps.Keys(l.long))...)
	replies := map[string]<-chan reply{}
	for name := range l.long {
		replies[name] = l.begin(order{
			Op: "slow", Session: name, Tool: "trigger-long-running-operation", Args: map[string]any{"duration": 5, "steps": 20},
		})
	}
	for name := range replies {
		eventually(t, "progress of "+name, func() bool {
			return string(l.must(t, order{Op: "progress", Session: name}).Value) != "0"
		})
	}
	return replies
}

// drains stops the gateway, and expects that the calls get their results first.
func (g *gateway) drains(t *testing.T, calls map[string]<-chan reply) {
	t.Helper()
	if got := g.status(t, g.admin+"/readyz"); got != http.StatusOK {
		t.Errorf("/readyz of a gateway at work: %d", got)
	}
	began := time.Now()
	must(t, g.cmd.Process.Signal(syscall.SIGTERM))
	eventually(t, "the gateway stops", func() bool { return strings.Contains(g.log(t), `"message":"stopping; `) })
	if got := g.status(t, g.admin+"/readyz"); got != http.StatusServiceUnavailable {
		t.Errorf("/readyz of a gateway that stops: %d", got)
	}
	for name, call := range calls {
		if len(call) > 0 {
			t.Errorf("the call of %s is over before the gateway is told to stop: %+v", name, <-call)
		}
	}
	for name, call := range calls {
		if r := <-call; !r.OK || !strings.Contains(string(r.Value), "operation completed") {
			t.Errorf("the call in flight of %s: %s %s", name, r.Value, r.Error)
		}
	}
	select {
	case <-g.exited:
	case <-time.After(drainTime):
		t.Fatalf("the gateway does not end\n%s", g.tail())
	}
	took := time.Since(began)
	if code := g.cmd.ProcessState.ExitCode(); code != 0 || took > drainTime || strings.Contains(g.log(t), "not every") {
		t.Errorf("the gateway ended with exit code %d after %s\n%s", code, took, g.tail())
	}
	if n := g.processes(t); n != 0 {
		t.Errorf("%d processes are left", n)
	}
	t.Logf("%d calls were in flight; the gateway ended after %s", len(calls), took)
}

func (g *gateway) log(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(g.errors)
	must(t, err)
	return string(text)
}

// forwarder is an address behind which one server takes the place of another:
// connections go on where they began.
type forwarder struct {
	site string
	to   atomic.Pointer[string] // the site that new connections reach
}

func startForwarder(t *testing.T, site string) *forwarder {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	f := &forwarder{site: "http://" + listener.Addr().String()}
	f.to.Store(&site)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { f.forward(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait() // the clients and the gateways have ended by now
	})
	return f
}

// forward joins a connection with one of its own, until either ends.
func (f *forwarder) forward(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", strings.TrimPrefix(*f.to.Load(), "http://"))
	if err != nil {
		return
	}
	defer server.Close()
	over := make(chan struct{}, 2)
	join := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		over <- struct{}{}
	}
	go join(server, client)
	go join(client, server)
	<-over
}
