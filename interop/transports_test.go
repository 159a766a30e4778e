package interop

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"
)

// visitsAtOnce bounds the visits of the transport matrix that are busy at a time.
const visitsAtOnce = 2

// fewestSteps is how many steps each session has at least.
const fewestSteps = 20

// lanes are the transports, of which a client speaks any and a server any.
var lanes = []string{"stdio", "sse", "http", "ws"}

// visit is one session of a client with a server: straight to it on its own lane, or
// through the bridge.
type visit struct {
	client  string // "ts", or "inspector"
	server  *reference
	lane    string // the client's
	bridged bool
}

// label names the visit, also in what the server is sent.
func (v visit) label() string {
	if !v.bridged {
		return v.client + "-direct-to-" + v.server.name
	}
	return v.client + "-" + v.lane + "-to-" + v.server.name
}

// transportMatrix holds what all visits share, and gathers what they observe.
type transportMatrix struct {
	dir, node, bridge string
	shared            map[*reference]place // the servers that serve all visits
	slots             chan struct{}
	ending            sync.WaitGroup // peers that are being stopped

	mu       sync.Mutex
	observed map[visit]*observations
}

// TestTransports runs reference servers on each transport behind the bridge, before
// a client on each, and compares what the client observes with what a client of the
// server's own transport observes without the bridge.
func TestTransports(t *testing.T) {
	m := newTransportMatrix(t)
	var running sync.WaitGroup
	for _, v := range sdkVisits() {
		running.Go(func() { m.run(t, v, m.visit) })
	}
	for _, v := range inspectorVisits() {
		running.Go(func() { m.run(t, v, m.inspect) })
	}
	running.Wait()
	m.ending.Wait()
	exceptions := exceptionsIn(t, "exceptions-transports.txt")
	cells := m.compare(t, sdkVisits(), exceptions)
	if want := len(lanes) * len(lanes); len(cells) != want {
		t.Errorf("%d pairs of transports were compared, want %d", len(cells), want)
	}
	t.Log("steps equal to the direct run, in each pair of transports\n" + grid(cells))
	cells = m.compare(t, inspectorVisits(), exceptions)
	t.Log("the same for the inspector\n" + grid(cells))
	checkStale(t, exceptions, func(*exception) bool { return true })
}

func newTransportMatrix(t *testing.T) *transportMatrix {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	if _, err := os.Stat(module("supergateway")); err != nil {
		must(t, quietly(ctx, "npm", "ci", "--no-audit", "--no-fund"))
	}
	node, err := newNode(ctx)
	must(t, err)
	bridge, err := builtBridge()
	must(t, err)
	m := &transportMatrix{
		dir: t.TempDir(), node: node, bridge: bridge, shared: map[*reference]place{},
		slots: make(chan struct{}, visitsAtOnce), observed: map[visit]*observations{},
	}
	for _, r := range references {
		if r.lane == "stdio" || r.private {
			continue
		}
		p, where, err := m.listen(ctx, r, m.dir)
		must(t, err)
		t.Cleanup(p.stop)
		m.shared[r] = where
	}
	return m
}

// sdkVisits lists the sessions of the TypeScript SDK, the direct ones too.
func sdkVisits() []visit {
	var list []visit
	for _, r := range references {
		list = append(list, visit{"ts", r, r.lane, false})
		for _, lane := range lanes {
			list = append(list, visit{"ts", r, lane, true})
		}
	}
	return list
}

// run makes a visit when there is room, and keeps what it observed.
func (m *transportMatrix) run(t *testing.T, v visit, how func(context.Context, visit, *party) (*observations, error)) {
	m.slots <- struct{}{}
	leave := sync.OnceFunc(func() { <-m.slots })
	defer leave()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	peers := &party{idle: leave}
	found, err := how(ctx, v, peers)
	// Some peers take seconds to stop, in which the next visit can begin.
	m.ending.Go(peers.stop)
	if err != nil {
		t.Errorf("%s: %v", v.label(), err)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.observed[v] = found
}

// compare fails for each step that fails directly, and for each whose observation
// through the bridge is another. It counts the equal ones of each pair of lanes.
func (m *transportMatrix) compare(t *testing.T, visits []visit, exceptions []*exception) map[string]int {
	t.Helper()
	cells := map[string]int{}
	for _, v := range visits {
		direct, found := m.observed[v.measure()], m.observed[v]
		if direct == nil || found == nil {
			continue // the visit has failed, which was told
		}
		k := key{client: v.client + ":" + v.lane, server: v.server.name, caps: "full"}
		if !v.bridged {
			k.caps = "direct"
		}
		same := found.check(t, k, direct, exceptions)
		if v.client == "ts" && same < fewestSteps {
			t.Errorf("%s: only %d steps could be compared", v.label(), same)
		}
		if v.bridged {
			cells[v.lane+" to "+v.server.lane] += same
		}
	}
	return cells
}

func grid(cells map[string]int) string {
	text := "client\\server"
	for _, server := range lanes {
		text += fmt.Sprintf(" %6s", server)
	}
	for _, client := range lanes {
		text += fmt.Sprintf("\n%-13s", client)
		for _, server := range lanes {
			text += fmt.Sprintf(" %6d", cells[client+" to "+server])
		}
	}
	return text
}
