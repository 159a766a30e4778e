package interop

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// stdioMatrix crosses the eras where one of two peers, or both, are on standard
// input and output.
type stdioMatrix struct {
	*harness
	bridge         string
	modern, legacy []peer // the clients
	exceptions     []*exception
}

// TestStatelessStdio does what TestStateless does, for peers on standard input and
// output. There are three lanes to a server through the bridge:
//
//	serve  the client speaks HTTP, and the bridge starts a server for each session
//	stdio  the client starts the bridge, which starts the server
//	url    the client starts the bridge, which goes to a server of HTTP
func TestStatelessStdio(t *testing.T) {
	exceptions := exceptionsIn(t, "exceptions-stdio.txt")
	m := newStdioMatrix(t, &harness{
		dir: t.TempDir(), servers: chosen(t, *serverPattern, stdioServers(binDir)), bridges: map[string]*process{},
	}, exceptions)
	web := newStdioMatrix(t, newHarness(t, chosen(t, *serverPattern, urlServers(binDir))), exceptions)
	commands, urls := m.commands(), web.urls()
	bridges := m.served(t, commands)
	direct := m.visit(t, "direct", commands)

	var served, wrapped, webDirect, webWrapped results
	var lanes sync.WaitGroup
	lanes.Go(func() { served = m.visit(t, "serve", bridges) })
	lanes.Go(func() { wrapped = m.visit(t, "stdio", m.wrapped(commands)) })
	lanes.Go(func() {
		webDirect = web.visit(t, "direct", urls)
		webWrapped = web.visit(t, "url", web.wrapped(urls))
	})
	lanes.Wait()
	m.check(t, "serve", direct, served)
	m.check(t, "stdio", direct, wrapped)
	checkCountsOf(t, m.harness, served, wrapped, "serve", "stdio")
	web.check(t, "url", webDirect, webWrapped)
	if *clientPattern == "" && *serverPattern == "" {
		checkStale(t, exceptions, func(*exception) bool { return true })
	}
}

func newStdioMatrix(t *testing.T, h *harness, exceptions []*exception) *stdioMatrix {
	t.Helper()
	bridge, err := builtBridge()
	must(t, err)
	return &stdioMatrix{
		harness: h, bridge: bridge, exceptions: exceptions,
		modern: filtered(chosen(t, *clientPattern, statelessClients(binDir)), newOnStdio),
		legacy: filtered(chosen(t, *clientPattern, allPeers(binDir)), oldOnStdio),
	}
}

// commands are the places of servers that their clients start.
func (m *stdioMatrix) commands() map[string]place {
	places := map[string]place{}
	for _, s := range m.servers {
		places[s.name] = place{Command: s.server, Env: map[string]string{
			"PEER_LOG": m.peerLog(s.name), "PEER_PATIENCE": "500",
		}}
	}
	return places
}

func (m *stdioMatrix) urls() map[string]place {
	places := map[string]place{}
	for server, url := range m.direct {
		places[server] = place{URL: url}
	}
	return places
}

// served starts a bridge before each command, of which each session gets a process.
func (m *stdioMatrix) served(t *testing.T, commands map[string]place) map[string]place {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	places := map[string]place{}
	for server, command := range commands {
		p, url, err := startBridge(ctx, m.bridge, "", filepath.Join(m.dir, server+".bridge"), command.flags()...)
		must(t, err)
		t.Cleanup(p.stop)
		places[server], m.bridges[server] = place{URL: url, private: true}, p
	}
	return places
}

// wrapped are the places of bridges that their clients start.
func (m *stdioMatrix) wrapped(places map[string]place) map[string]place {
	bridged := map[string]place{}
	for server, where := range places {
		bridged[server] = place{Command: slices.Concat([]string{m.bridge, "stdio"}, where.flags())}
	}
	return bridged
}

// visit lets each client visit the servers of which it is not like all the others:
// a legacy one leaves out those that have sessions only.
func (m *stdioMatrix) visit(t *testing.T, mode string, places map[string]place) results {
	t.Helper()
	strange := maps.Clone(places)
	maps.DeleteFunc(strange, func(server string, _ place) bool { return stateful(server) })
	return m.runAt(t, slices.Concat(m.modern, m.legacy), mode, func(client peer) map[string]place {
		if slices.ContainsFunc(m.legacy, named(client.name)) {
			return strange
		}
		return places
	})
}

// check judges one lane by the direct visits, and compares the servers' logs of both.
func (m *stdioMatrix) check(t *testing.T, lane string, direct, bridged results) {
	t.Helper()
	c := &crossing{comparison{onLane(lane, direct), onLane(lane, bridged), m.exceptions}, map[key]bool{}}
	c.check(t)
	for pair := range c.lost {
		t.Logf("the end of the log of the bridge between %s and %s:\n%s", pair.client, pair.server, m.logOf(lane, pair))
	}
	if *clientPattern == "" && *serverPattern == "" {
		c.checkRevisions(t, 9)
	}
	clients := slices.Concat(m.modern, m.legacy)
	fill(direct, bridged)
	t.Log(lane + ": versions negotiated through the bridge\n" + negotiated(clients, m.servers, bridged))
	t.Log(lane + ": direct ok / bridged ok / steps\n" + table(clients, m.servers, direct, bridged))
	checkCountsOf(t, m.harness, direct, bridged, "direct", lane)
}

// onLane puts the lane before the clients' names, by which exceptions know it.
func onLane(lane string, found results) results {
	renamed := results{}
	for k, o := range found {
		k.client = lane + ":" + k.client
		renamed[k] = o
	}
	return renamed
}

// logOf is the end of what the bridge of a visit wrote: one that its client started
// writes with that.
func (m *stdioMatrix) logOf(lane string, pair key) string {
	if p := m.bridges[pair.server]; p != nil && lane == "serve" {
		return p.tail()
	}
	return tail(m.targetsOf(pair.client[len(lane)+1:], lane) + ".err")
}
