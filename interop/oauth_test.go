package interop

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// login is one visit of a client at a server, straight or through the bridge.
type login struct {
	client oauthClient
	server *guarded
	mode   string // "direct" or "bridged"
	url    string
	public string // the main URL of the bridge's route
}

func (l login) key(step string) key {
	return key{client: l.client.name + ":" + l.client.lane, server: l.server.style.name, caps: l.mode, step: step}
}

// label is the client's name, at the authorization server too.
func (l login) label() string {
	return l.client.name + "-" + l.client.lane + "-at-" + l.server.style.name + "-" + l.mode
}

// TestOAuth lets real clients with the discovery of each revision log in to servers of
// each, first directly, where both speak the same transport, then through the bridge.
func TestOAuth(t *testing.T) {
	must(t, quietly(t.Context(), "go", "build", "-C", filepath.Join("peers", "gosdk"), "-modfile=v1.8.0.mod",
		"-tags=sdk_v1_8_0", "-o", filepath.Join(binDir, "oauth"), "./oauth"))
	m := &oauthMatrix{h: &harness{dir: t.TempDir()}, ledger: newLedger(), exceptions: exceptionsIn(t, "exceptions-oauth.txt"), passed: map[key]bool{}}
	m.start(t)
	m.run(t, m.direct())
	bridged := m.bridge(t)
	m.run(t, bridged)
	for _, l := range bridged {
		m.checkResource(t, l)
	}
	m.ledger.check(t, m.logs)
	if n := m.ledger.heard(canary); n > 0 {
		t.Errorf("%d requests reached an origin that nobody had to ask", n)
	}
	checkStale(t, m.exceptions, func(*exception) bool { return true })
	t.Log("steps that pass through the bridge\n" + m.grid())
}

const canary = "canary"

type oauthMatrix struct {
	h          *harness
	ledger     *ledger
	servers    []*guarded
	logs       []string // of the bridges
	exceptions []*exception

	mu     sync.Mutex
	passed map[key]bool // each step that was made
}

// start starts the servers of all styles.
func (m *oauthMatrix) start(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	behind := map[string]string{}
	for _, alias := range peersBehind() {
		p, url, err := startServer(ctx, peer{name: alias, server: serverOf(alias)}, "", filepath.Join(m.h.dir, alias+".err"))
		must(t, err)
		t.Cleanup(p.stop)
		behind[alias] = url
	}
	nobody := listening(t, m.ledger.watch(canary, http.NotFoundHandler()))
	for _, s := range styles {
		m.servers = append(m.servers, newGuarded(t, s, m.ledger, behind[s.peer], nobody.URL))
	}
}

func serverOf(alias string) []string {
	script, argument := "server.mjs", alias
	if alias == "v2" {
		script, argument = "v2-server.mjs", "modern"
	} else if sdk, ok := strings.CutPrefix(alias, overSSE); ok {
		script, argument = "sse-server.mjs", sdk
	}
	return []string{"node", filepath.Join("peers", "node", script), argument}
}

// direct lists the visits without the bridge: the measure.
func (m *oauthMatrix) direct() (list []login) {
	for _, c := range oauthClients() {
		for _, g := range m.servers {
			if g.lane == c.lane && !g.checked && !g.sameAsBefore() {
				list = append(list, login{c, g, "direct", g.site + g.path, ""})
			}
		}
	}
	return list
}

// sameAsBefore tells that without the bridge another server does the same as this one.
func (g *guarded) sameAsBefore() bool {
	return g.among != "" || g.describes && !g.takesPublic && !g.renamed
}

// bridge puts a bridge with one route before each server, or with several, and lists
// the visits.
func (m *oauthMatrix) bridge(t *testing.T) (list []login) {
	t.Helper()
	behind := map[string][]*guarded{}
	var names []string
	for _, g := range m.servers {
		name := cmp.Or(g.among, g.style.name)
		if behind[name] == nil {
			names = append(names, name)
		}
		behind[name] = append(behind[name], g)
	}
	for _, name := range names {
		list = append(list, m.bridgeTo(t, behind[name])...)
	}
	return list
}

// bridgeTo starts a bridge before some servers. What its routes want to know of its own
// URL they are told once it has one.
func (m *oauthMatrix) bridgeTo(t *testing.T, servers []*guarded) (list []login) {
	t.Helper()
	first, whole := "routes:\n", "routes:\n"
	for i, g := range servers {
		first += fmt.Sprintf("- name: r%d\n  upstream: %s%s\n", i, g.site, g.path)
	}
	b := startGateway(t, "", first, "--log-level", "debug")
	m.logs = append(m.logs, b.errors)
	for i, g := range servers {
		public := fmt.Sprintf("%s/r%d", b.site, i)
		whole += fmt.Sprintf("- name: r%d\n  upstream: %s%s\n  %s\n", i, g.site, g.path, strings.NewReplacer(
			"LOGIN/jwks", quoted(g.login.issuer+"/jwks"), "LOGIN", quoted(g.login.issuer), "PUBLIC", quoted(public)).Replace(g.route))
		g.behindBridge(public)
		for _, c := range oauthClients() {
			if !c.visits(g.style) {
				continue
			}
			at := public
			if c.lane == "sse" {
				at += "/sse"
			}
			list = append(list, login{c, g, "bridged", at, public})
		}
	}
	b.reload(t, whole)
	return list
}

func quoted(text string) string { return `"` + text + `"` }

// checkResource fails where a client that came in had asked for a token for something
// else than it should have.
func (m *oauthMatrix) checkResource(t *testing.T, l login) {
	t.Helper()
	if !m.passed[l.key("connect")] {
		return
	}
	var endpoints []string
	want := l.client.wanted(l.server, l.public)
	for _, one := range l.server.login.askedBy(l.label()) {
		endpoints = append(endpoints, one.endpoint)
		if one.resource != want {
			t.Errorf("%s: at the endpoint for %q the resource is %q, want %q", l.label(), one.endpoint, one.resource, want)
		}
	}
	for _, endpoint := range []string{"authorize", "authorization_code"} {
		if !slices.Contains(endpoints, endpoint) {
			t.Errorf("%s came in, but the server's own authorization server had only the requests %q", l.label(), endpoints)
		}
	}
}

// grid shows how many steps of each visit through the bridge pass.
func (m *oauthMatrix) grid() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-24s", "client\\server")
	for _, s := range styles {
		fmt.Fprintf(&b, " %s", s.name)
	}
	for _, c := range oauthClients() {
		fmt.Fprintf(&b, "\n%-24s", c.name+":"+c.lane)
		for _, g := range m.servers {
			if !c.visits(g.style) {
				fmt.Fprintf(&b, " %*s", len(g.style.name), "-")
				continue
			}
			n, all := 0, c.steps(g.style)
			for _, step := range all {
				if m.passed[login{client: c, server: g, mode: "bridged"}.key(step)] {
					n++
				}
			}
			fmt.Fprintf(&b, " %*s", len(g.style.name), fmt.Sprintf("%d/%d", n, len(all)))
		}
	}
	return b.String()
}
