package interop

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// sseRoute is one way through the bridge on which at least one side speaks
// HTTP+SSE.
type sseRoute struct {
	mode             string // how the clients call it, and the servers' logs
	clients, servers []peer
	path             string // where these clients find the bridge
	upstream         string // the flag that names the server
}

// TestSSE compares with both peers speaking HTTP+SSE directly, the one way that
// every pair has.
func TestSSE(t *testing.T) {
	all, newer := ssePeers(binDir)
	clients := matching(regexp.MustCompile(*clientPattern), all)
	servers := matching(regexp.MustCompile(*serverPattern), all)
	newServers := matching(regexp.MustCompile(*serverPattern), newer)
	h := newHarness(t, slices.Concat(servers, newServers))
	direct := h.run(t, clients, "direct", only(h.direct, servers))
	if os.Getenv("MODE") == "direct" {
		t.Log("direct only\n" + table(clients, servers, direct, nil))
		t.Log("what fails directly\n" + failures(direct))
		return
	}
	exceptions := readExceptions(t)
	for _, r := range []sseRoute{
		{"sse to streamable", clients, newServers, "/sse", "--upstream"},
		{"streamable to detected sse", matching(regexp.MustCompile(*clientPattern), newer), servers, "/mcp", "--upstream"},
		{"sse to forced sse", clients, servers, "/sse", "--sse"},
	} {
		urls, bridges := h.sseBridges(t, r)
		found := h.run(t, r.clients, r.mode, urls)
		t.Log(r.mode + ": steps that passed, of all\n" + table(r.clients, r.servers, found, nil))
		checkRoute(t, r, direct, found, exceptions, bridges)
		checkRouteCounts(t, h, r, direct, found)
	}
	if *clientPattern == "" && *serverPattern == "" {
		checkStale(t, exceptions, (*exception).overSSE)
	}
}

func only(urls map[string]string, servers []peer) map[string]string {
	some := map[string]string{}
	for _, s := range servers {
		some[s.name] = urls[s.name]
	}
	return some
}

func (h *harness) sseBridges(t *testing.T, r sseRoute) (map[string]string, map[string]*process) {
	t.Helper()
	binary, err := builtBridge()
	if err != nil {
		t.Fatalf("the bridge does not build: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	urls, bridges := map[string]string{}, map[string]*process{}
	for _, s := range r.servers {
		log := filepath.Join(h.dir, s.name+"."+r.mode+".bridge")
		p, url, err := startBridge(ctx, binary, "", log, r.upstream, h.direct[s.name])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.stop)
		urls[s.name], bridges[s.name] = strings.TrimSuffix(url, "/mcp")+r.path, p
	}
	return urls, bridges
}

// alongside is the key of the direct visit with which a visit is compared.
func alongside(k key) key {
	k.client = overSSE + strings.TrimPrefix(k.client, overSSE)
	k.server = overSSE + strings.TrimPrefix(k.server, overSSE)
	return k
}

// expected says whether the step passes directly. Where a deaf client stands in the
// way, another one tells whether the server can ask.
func expected(direct results, k key) bool {
	k = alongside(k)
	if k.client == overSSE+mcpGo && asks(k.step) {
		k.client = overSSE + "go-sdk-1.8.0"
	}
	return direct[k].OK
}

// checkRoute fails for each step that passes directly but not on the route.
func checkRoute(t *testing.T, r sseRoute, direct, found results, exceptions []*exception, bridges map[string]*process) {
	t.Helper()
	lost := map[string]bool{}
	for _, k := range ordered(found) {
		if found[k].OK || !expected(direct, k) || excepted(exceptions, k) {
			continue
		}
		lost[k.server] = true
		t.Errorf("lost from %s: client %s, server %s, caps %s, step %s: %s %s",
			r.mode, k.client, k.server, k.caps, k.step, found[k].Error, found[k].Value)
	}
	for server := range lost {
		t.Logf("the end of the log of the bridge before %s:\n%s", server, bridges[server].tail())
	}
}

// checkRouteCounts compares what the servers of the route received with what
// their peers received directly.
func checkRouteCounts(t *testing.T, h *harness, r sseRoute, direct, found results) {
	t.Helper()
	compared := 0
	for _, s := range r.servers {
		seen := readLog(t, h.peerLog(s.name))
		plain := readLog(t, h.peerLog(alongside(key{server: s.name}).server))
		for _, k := range visits(found, s.name) {
			if !askedAlike(k) || !sameRouteVerdicts(k, direct, found) {
				continue
			}
			compared++
			before, after := plain[label(alongside(k), "direct")], seen[label(k, r.mode)]
			for _, method := range counted {
				if before[method] != after[method] {
					t.Errorf("%s: server %s received %s %d times from client %s (%s), %d times directly",
						r.mode, k.server, method, after[method], k.client, k.caps, before[method])
				}
			}
		}
	}
	t.Logf("%s: the servers' logs agree on what was received, in %d visits compared", r.mode, compared)
}

// askedAlike says whether the direct visit left out the same steps.
func askedAlike(k key) bool {
	other := alongside(k).client
	return other != overSSE+mcpGo || k.client == other && k.caps == "full"
}

func sameRouteVerdicts(k key, direct, found results) bool {
	for _, step := range steps {
		k.step = step
		if direct[alongside(k)].OK != found[k].OK {
			return false
		}
	}
	return true
}
