// Package interop runs real SDK clients against real SDK servers, first directly
// and then through the bridge, and compares what the clients report: a step that
// passes directly must pass through the bridge.
package interop

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"
)

var (
	clientPattern = flag.String("client", "", "run only the clients whose name matches")
	serverPattern = flag.String("server", "", "run only the servers whose name matches")
	bridgePath    = flag.String("bridge", "", "use this bridge binary instead of building one")
	binDir        string
)

// steps in the order in which each client runs them in one session.
var steps = []string{
	"connect", "ping", "tools/list", "structured", "bigint", "ask", "ask-decline", "ask-cancel", "ask-raw",
	"ask-url", "ask-url-decline", "ask-url-cancel", "sample", "roots",
	"progress", "cancel", "links", "log", "resources/list", "resources/read", "resources/templates",
	"subscribe", "list-changed", "prompts/list", "prompts/get", "completion",
	"unknown-method", "unknown-tool", "parallel",
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "interop-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binDir = dir
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	if err := buildPeers(ctx, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func TestMatrix(t *testing.T) {
	clients := selected(t, *clientPattern)
	servers := selected(t, *serverPattern)
	h := newHarness(t, servers)
	direct := h.run(t, clients, "direct", h.direct)
	t.Log("versions negotiated directly\n" + negotiated(clients, servers, direct))
	if os.Getenv("MODE") == "direct" {
		t.Log("direct only\n" + table(clients, servers, direct, nil))
		t.Log("what fails directly\n" + failures(direct))
		return
	}
	h.startBridges(t)
	bridged := h.run(t, clients, "bridged", h.bridged)
	c := newComparison(t, direct, bridged)
	c.check(t, h)
	if *clientPattern == "" && *serverPattern == "" {
		checkStale(t, c.exceptions, func(e *exception) bool { return !e.overSSE() })
	}
	t.Log("versions negotiated through the bridge\n" + negotiated(clients, servers, bridged))
	t.Log("direct ok / bridged ok / steps\n" + table(clients, servers, direct, bridged))
	t.Log(c.wins())
	checkCounts(t, h, direct, bridged)
}

func selected(t *testing.T, pattern string) []peer {
	t.Helper()
	re, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	peers := matching(re, allPeers(binDir))
	if len(peers) == 0 {
		t.Fatalf("no peer matches %q", pattern)
	}
	return peers
}

func matching(re *regexp.Regexp, all []peer) []peer {
	var peers []peer
	for _, p := range all {
		if re.MatchString(p.name) {
			peers = append(peers, p)
		}
	}
	return peers
}
