package interop

import (
	"context"
	"path/filepath"
	"testing"
	"time"
)

// five is how many sessions meet a fault at once.
var five = []string{"one", "two", "three", "four", "five"}

// quick is the time in which an answer comes that waits for no timeout.
const quick = 8 * time.Second

const (
	silent   = "the upstream server did not answer within 4s"
	broke    = "the connection to the upstream server broke before it answered"
	answered = "the upstream server closed the exchange without an answer"
)

var upstreamFaults = []met{
	{"reset", []string{broke}, quick},
	{"stall", []string{silent}, quick},
	{"truncated event", []string{answered}, quick},
	{"cut character", []string{broke}, quick},
	{"HTML", []string{"the upstream server answered", "200 OK"}, quick},
	{"empty", []string{answered}, quick},
	{"202", []string{answered}, quick},
}

// TestFaultsOfAnUpstream breaks the answers of a real server in each way, to five
// sessions of a real client at once.
func TestFaultsOfAnUpstream(t *testing.T) {
	t.Parallel()
	b := watch(t, "", startFaultyProxy(t, startFaultServer(t)).url)
	w := startWitness(t, b.url, "echo", map[string]any{"value": "é"})
	before := b.measure(t)
	for _, m := range upstreamFaults {
		t.Run(m.fault, func(t *testing.T) {
			visitors := startClients(t, b.url)
			w.during(t, func() {
				m.happens(t, visitors, "echo")
				m.forgotten(t, visitors, "echo")
			})
			visitors.stop()
			b.settles(t, before)
		})
	}
}

func startFaultServer(t *testing.T) string {
	t.Helper()
	for _, p := range allPeers(binDir) {
		if p.name != "ts-1.32.2" {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		dir := t.TempDir()
		server, url, err := startServer(ctx, p, filepath.Join(dir, "log"), filepath.Join(dir, "err"))
		must(t, err)
		t.Cleanup(server.stop)
		return url
	}
	t.Fatal("the server is not among the peers")
	return ""
}

// happens lets every session meet the fault in a call.
func (m met) happens(t *testing.T, visitors *clients, tool string) {
	t.Helper()
	for name, r := range visitors.all(five, order{Op: "open", URL: visitors.url}) {
		if !r.OK {
			t.Fatalf("%s is not opened: %s", name, r.Error)
		}
	}
	m.check(t, visitors.all(five, order{Op: "call", Tool: tool, Args: map[string]any{"value": "é", "fault": m.fault}}))
}

// forgotten uses the sessions for a call that is right, and closes them.
func (m met) forgotten(t *testing.T, visitors *clients, tool string) {
	t.Helper()
	for _, o := range []order{{Op: "call", Tool: tool, Args: map[string]any{"value": "é"}}, {Op: "close"}} {
		for name, r := range visitors.all(five, o) {
			if !r.OK {
				t.Errorf("%s: %s after the fault: %s", name, o.Op, r.Error)
			}
		}
	}
}
