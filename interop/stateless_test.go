package interop

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// stateless is the revision without a handshake.
const stateless = "2026-07-28"

// statelessClients speak the stateless revision; the auto ones fall back to a
// handshake where the server wants one, so they also talk directly to old servers.
func statelessClients(bin string) []peer {
	node := func(mode string) []string {
		return []string{"node", filepath.Join("peers", "node", "client.mjs"), "v2-" + mode}
	}
	return []peer{
		{name: "ts-2.4.0-pinned", client: node(stateless)},
		{name: "ts-2.4.0-anonymous", client: node(stateless + "-anonymous")},
		{name: "ts-2.4.0-auto", client: node("auto")},
		{name: "go-sdk-1.8.0-auto", client: []string{filepath.Join(bin, statelessBuild.name), "client"}},
	}
}

// statelessServers have no handshake: only the bridge lets an old client in.
func statelessServers(bin string) []peer {
	return []peer{
		{name: "ts-2.4.0-stateless", server: []string{"node", filepath.Join("peers", "node", "v2-server.mjs"), "modern"}},
		{name: statelessBuild.name, server: []string{filepath.Join(bin, statelessBuild.name), "server"}},
	}
}

// TestStateless crosses the eras: old clients with stateless servers, stateless
// clients with old servers, and stateless ones with each other.
func TestStateless(t *testing.T) {
	oldClients, newClients := chosen(t, *clientPattern, allPeers(binDir)), chosen(t, *clientPattern, statelessClients(binDir))
	oldServers, newServers := chosen(t, *serverPattern, allPeers(binDir)), chosen(t, *serverPattern, statelessServers(binDir))
	h := newHarness(t, append(oldServers, newServers...))
	direct := h.run(t, newClients, "direct", h.direct)
	h.startBridges(t)
	bridged := h.run(t, newClients, "bridged", h.bridged)
	maps.Copy(bridged, h.run(t, oldClients, "bridged", only(h.bridged, newServers)))

	c := &crossing{comparison{direct, bridged, exceptionsIn(t, "exceptions-stateless.txt")}, map[key]bool{}}
	c.check(t)
	for pair := range c.lost {
		t.Logf("the end of the log of the bridge before %s:\n%s", pair.server, h.bridges[pair.server].tail())
	}
	if *clientPattern == "" && *serverPattern == "" {
		checkStale(t, c.exceptions, func(*exception) bool { return true })
		c.checkRevisions(t, 9)
	}
	clients := append(oldClients, newClients...)
	fill(direct, bridged)
	t.Log("versions negotiated through the bridge\n" + negotiated(clients, h.servers, bridged))
	t.Log("direct ok / bridged ok / steps\n" + table(clients, h.servers, direct, bridged))
	checkCounts(t, h, direct, bridged)
}

// fill makes the direct half as large as the bridged one, for the reports. Of what
// only a handshake revision has, the counts of a visit do not depend.
func fill(direct, bridged results) {
	for k, o := range bridged {
		if _, tried := direct[k]; !tried {
			direct[k] = outcome{}
		} else if k.step == "ping" {
			direct[k] = o
		}
	}
}

func chosen(t *testing.T, pattern string, all []peer) []peer {
	t.Helper()
	re, err := regexp.Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return matching(re, all)
}

// crossing judges pairs of which most have no direct half to compare with.
type crossing struct {
	comparison
	lost map[key]bool // the pairs, by client and server, that lost a step
}

// check fails for each step that has to pass and does not: where the pair can
// talk directly, what passes directly; elsewhere everything.
func (c *crossing) check(t *testing.T) {
	t.Helper()
	for _, k := range ordered(c.bridged) {
		found := c.bridged[k]
		if found.OK {
			c.checkValue(t, k, found)
			continue
		}
		if c.talk(k) && !c.direct[k].OK || c.inexpressible(k) || c.excepted(k) {
			continue
		}
		c.lost[key{client: k.client, server: k.server}] = true
		t.Errorf("lost through the bridge: client %s, server %s, caps %s, step %s\n  direct:  ok %v %s\n  bridged: %s %s",
			k.client, k.server, k.caps, k.step, c.direct[k].OK, c.direct[k].Value, found.Error, found.Value)
	}
}

// checkValue holds two promises that the steps themselves leave open.
func (c *crossing) checkValue(t *testing.T, k key, found outcome) {
	t.Helper()
	switch {
	case k.step == "structured" && !strings.Contains(string(found.Value), `"viaText":true`):
		t.Errorf("client %s, server %s: structured content came without a text block: %s", k.client, k.server, found.Value)
	case k.step == "connect" && slices.ContainsFunc(statelessClients(""), named(k.client)) && version(found) != stateless:
		t.Errorf("client %s, server %s: %s was negotiated through the bridge, which speaks the client's own %s",
			k.client, k.server, version(found), stateless)
	}
}

// named finds a peer by its name, before which its lane may stand.
func named(name string) func(peer) bool {
	_, bare, prefixed := strings.Cut(name, ":")
	if !prefixed {
		bare = name
	}
	return func(p peer) bool { return p.name == bare }
}

// talk reports whether the pair can do without the bridge.
func (c *crossing) talk(k key) bool {
	k.step = "connect"
	return c.direct[k].OK
}

// inexpressible reports whether one of the two SDKs cannot do what the step is
// about: what a server lacks is what no client gets from it directly.
func (c *crossing) inexpressible(k key) bool {
	if c.bridged[k].Error == "unsupported by client" {
		return true
	}
	for other, o := range c.direct {
		if other.server == k.server && other.caps == k.caps && other.step == k.step && o.OK {
			return false
		}
	}
	return true
}

// checkRevisions counts the pairs of revisions, one of them the stateless one, in
// which at least one pair of peers lost nothing.
func (c *crossing) checkRevisions(t *testing.T, want int) {
	t.Helper()
	newest := map[string]string{} // of each server, as clients found that talked to it directly
	for k, o := range c.direct {
		if k.step == "connect" {
			newest[k.server] = max(newest[k.server], version(o))
		}
	}
	pairs := map[string]bool{}
	for k, o := range c.bridged {
		if k.step == "connect" && o.OK && !c.lost[key{client: k.client, server: k.server}] {
			pairs[version(o)+" to "+newest[k.server]] = true
		}
	}
	t.Logf("%d of %d pairs of revisions: %s", len(pairs), want, strings.Join(slices.Sorted(maps.Keys(pairs)), ", "))
	if len(pairs) != want {
		t.Errorf("%d pairs of revisions work, want %d", len(pairs), want)
	}
}

// version reads what a connect step tells.
func version(o outcome) string {
	var value struct{ Negotiated string }
	if json.Unmarshal(o.Value, &value) != nil {
		return ""
	}
	return value.Negotiated
}
