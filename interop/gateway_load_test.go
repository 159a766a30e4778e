package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// load is clients of real SDKs that call all the time, long sessions and short
// ones. None of their calls may fail.
type load struct {
	*clients
	echo order
	long map[string]string // the sessions that are open, and where
	loop map[string]string // the visitors, and where
}

// startLoad starts the clients of the TypeScript SDK. They want a Node.js that has
// WebSocket.
func startLoad(t *testing.T) *load {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	node, err := newNode(ctx)
	must(t, err)
	argv := []string{node, filepath.Join("peers", "node", "sessions.mjs"), "sdk-1.32.2"}
	p, stdout, err := start(argv, filepath.Join(t.TempDir(), "clients.err"), "PAUSE=20")
	must(t, err)
	t.Cleanup(p.stop)
	c := &clients{process: p, to: json.NewEncoder(p.stdin.(io.Writer)), pending: map[int]chan reply{}}
	go c.read(stdout)
	echo := order{Tool: "echo", Args: map[string]any{"message": "é"}}
	return &load{c, echo, map[string]string{}, map[string]string{}}
}

// as is the order for one session.
func (l *load) as(op, session string) order {
	o := l.echo
	o.Op, o.Session = op, session
	return o
}

// opens opens a session, and lets it call without end.
func (l *load) opens(t *testing.T, url string) (name string) {
	t.Helper()
	name = fmt.Sprintf("session %d at %s", len(l.long), url)
	l.long[name] = url
	l.must(t, order{Op: "open", Session: name, URL: url})
	l.must(t, l.as("steady", name))
	return name
}

// visits opens session after session there, one call in each.
func (l *load) visits(t *testing.T, url string) (name string) {
	t.Helper()
	name = "visitor of " + url
	l.loop[name] = url
	begin := l.as("visits", name)
	begin.URL = url
	l.must(t, begin)
	return name
}

// goesOn waits until everybody has made calls after this.
func (l *load) goesOn(t *testing.T) {
	t.Helper()
	least := map[string]int{}
	for name := range l.long {
		least[name] = l.calls(t, name) + 2
	}
	for name := range l.loop {
		least[name] = l.calls(t, name) + 1 // these take longer
	}
	for name, n := range least {
		eventually(t, name+" makes more calls", func() bool { return l.calls(t, name) >= n })
	}
}

func (l *load) calls(t *testing.T, name string) int {
	t.Helper()
	var report struct {
		Calls    int
		Failures []string
	}
	must(t, json.Unmarshal(l.must(t, order{Op: "sofar", Session: name}).Value, &report))
	if len(report.Failures) > 0 {
		t.Fatalf("%s: %q", name, report.Failures)
	}
	return report.Calls
}

// rests lets some of them end their calls, of which none may have failed.
func (l *load) rests(t *testing.T, names ...string) (calls int) {
	t.Helper()
	for _, name := range names {
		var report struct {
			Calls, Slowest int
			Failures       []string
		}
		must(t, json.Unmarshal(l.must(t, order{Op: "rest", Session: name}).Value, &report))
		if len(report.Failures) > 0 {
			t.Errorf("%s: %d of %d calls failed: %q", name, len(report.Failures), report.Calls, report.Failures)
		}
		calls += report.Calls
		delete(l.loop, name)
	}
	return calls
}

// all are the names, sessions and visitors.
func (l *load) all() []string {
	return slices.Concat(slices.Sorted(maps.Keys(l.long)), slices.Sorted(maps.Keys(l.loop)))
}

// leaves ends all sessions.
func (l *load) leaves(t *testing.T) {
	t.Helper()
	for name := range l.long {
		l.must(t, order{Op: "close", Session: name})
	}
	clear(l.long)
}

// at is where clients of a route are on each transport.
func at(site, path string) (http, sse, ws string) {
	return site + path, site + path + "/sse", "ws" + strings.TrimPrefix(site, "http") + path + "/ws"
}

// goVisits runs the Go SDK's client again and again, until it is told to stop.
type goVisits struct {
	stop    context.CancelFunc
	running sync.WaitGroup
	visits  int
	faults  []string
}

func startGoVisits(t *testing.T, urls ...string) *goVisits {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	g := &goVisits{stop: stop}
	var targets []map[string]any
	for _, url := range urls {
		for i := range 5 {
			targets = append(targets, map[string]any{
				"label": fmt.Sprintf("%s %d", url, i), "url": url, "caps": "none", "steps": []string{"ping", "unknown-tool"},
			})
		}
	}
	data, err := json.Marshal(targets)
	must(t, err)
	path := filepath.Join(t.TempDir(), "targets")
	must(t, os.WriteFile(path, data, 0o600))
	limit := context.WithoutCancel(t.Context())
	g.running.Go(func() {
		for ctx.Err() == nil && len(g.faults) == 0 {
			g.visit(limit, path, 3*len(targets))
		}
	})
	return g
}

// visit lets the client make all visits once. Each reports that many steps.
func (g *goVisits) visit(ctx context.Context, targets string, steps int) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(binDir, "go-sdk-1.8.0"), "client", "--targets", targets).Output()
	if err != nil {
		g.faults = append(g.faults, err.Error())
	}
	passed := 0
	for line := range bytes.Lines(out) {
		var report struct {
			Label, Step string
			outcome
		}
		switch err := json.Unmarshal(line, &report); {
		case err != nil || !report.OK:
			g.faults = append(g.faults, string(line))
		default:
			passed++
		}
	}
	if passed != steps && len(g.faults) == 0 {
		g.faults = append(g.faults, fmt.Sprintf("%d of %d steps are reported", passed, steps))
	}
	g.visits += steps / 3
}

// ends waits for the last visits, of which none may have failed.
func (g *goVisits) ends(t *testing.T) int {
	t.Helper()
	g.stop()
	g.running.Wait()
	if len(g.faults) > 0 {
		t.Errorf("visits of the Go SDK: %q", g.faults)
	}
	return g.visits
}
