package interop

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestReloadUnderLoad replaces the file of a gateway again and again, while clients
// of real SDKs call. No call fails, and no new session at a path that the file
// serves; sessions go on that began on what has moved or is gone; and what the
// former files had started ends with its last session.
func TestReloadUnderLoad(t *testing.T) {
	e := startEverythings(t)
	command, marks := e.command(t)
	f := files{command, e.url}
	g := startGateway(t, marks, f.plain())
	l := startLoad(t)
	before := rest(t, g, l)

	for _, path := range []string{"/local", "/remote", "/here", "/fleeting"} {
		http, sse, ws := at(g.site, path)
		for _, url := range map[string][]string{"/local": {http, ws}, "/remote": {http, sse, ws}, "/here": {http, sse}, "/fleeting": {http, sse, ws}}[path] {
			l.opens(t, url)
		}
	}
	l.visits(t, g.site+"/local")
	l.visits(t, g.site+"/remote")
	golang := startGoVisits(t, g.site+"/remote")
	l.goesOn(t)

	l.seesOptions(t, g, f)
	l.moves(t, g, f.with(f.mobile("/there"), f.fleeting()), "/here", "/there")
	g.reloadWrong(t, f.text("", ", loss: maybe"))
	l.goesOn(t)
	g.reloadWrong(t, "routes: [")
	l.moves(t, g, f.plain(), "/there", "/here")
	l.seesFleeting(t, g, f)

	calls, visits := l.rests(t, l.all()...), golang.ends(t)
	l.leaves(t)
	t.Logf("%d calls, %d visits of the Go SDK, %.0f reloads", calls, visits, g.reloads(t, "done"))
	if n := g.reloads(t, "done"); n < 10 {
		t.Errorf("there were only %.0f reloads", n)
	}
	http.DefaultClient.CloseIdleConnections()
	g.settles(t, before)
}

// files writes what the gateway is configured with.
type files struct{ command, url string }

// text is a file whose first routes, which are there all the time, have options.
func (f files) text(local, remote string, more ...string) string {
	return fmt.Sprintf("routes:\n- {name: local, command: %s%s}\n- {name: remote, upstream: %q%s}\n%s", f.command, local, f.url, remote, strings.Join(more, ""))
}

func (f files) with(more ...string) string { return f.text("", "", more...) }

func (f files) plain() string { return f.with(f.mobile("/here"), f.fleeting()) }

func (f files) mobile(path string) string {
	return fmt.Sprintf("- {name: mobile, path: %s, upstream: %q}\n", path, f.url)
}

func (f files) fleeting() string { return fmt.Sprintf("- {name: fleeting, command: %s}\n", f.command) }

// rest is what the gateway holds after its first sessions: what is made once is no
// part of what grows.
func rest(t *testing.T, g *gateway, l *load) gauge {
	t.Helper()
	for _, path := range []string{"/local", "/remote"} {
		l.opens(t, g.site+path)
	}
	l.rests(t, l.all()...)
	l.leaves(t)
	eventually(t, "the first sessions are over", func() bool {
		now := g.measure(t)
		return now.sessions == 0 && now.processes == 0
	})
	return g.measure(t)
}

// seesOptions lets options change, and a route be added.
func (l *load) seesOptions(t *testing.T, g *gateway, f files) {
	t.Helper()
	g.reload(t, f.text(", inject_text: never", ", strict: true", f.mobile("/here"), f.fleeting()))
	l.goesOn(t)
	g.reload(t, f.plain())
	l.goesOn(t)
	added := fmt.Sprintf("- {name: added, upstream: %q}\n", f.url)
	g.reload(t, f.text(", strict: true", "", f.mobile("/here"), f.fleeting(), added))
	l.opens(t, g.site+"/added")
	l.goesOn(t)
}

// seesFleeting lets a route go and come back, and its paths be taken by another.
func (l *load) seesFleeting(t *testing.T, g *gateway, f files) {
	t.Helper()
	g.reload(t, f.with(f.mobile("/here")))
	g.gone(t, "/fleeting")
	l.goesOn(t)
	for _, text := range []string{
		f.text(", inject_text: never", "", f.mobile("/here"), f.fleeting()), f.with(f.mobile("/fleeting")), f.plain(),
	} {
		g.reload(t, text)
		l.opens(t, g.site+"/fleeting")
		l.goesOn(t)
	}
	g.reload(t, f.text("", ", strict: true", f.mobile("/here"), f.fleeting()))
	g.reload(t, f.plain())
	l.goesOn(t)
}

// moves lets a route move: sessions that it has go on, new ones find it where it is.
func (l *load) moves(t *testing.T, g *gateway, routes, from, to string) {
	t.Helper()
	visitor := l.visits(t, g.site+from)
	l.goesOn(t)
	l.rests(t, visitor)
	g.reload(t, routes)
	g.gone(t, from)
	visitor = l.visits(t, g.site+to)
	l.opens(t, g.site+to)
	l.goesOn(t)
	l.rests(t, visitor)
}

// gone checks that no session begins at a path any more.
func (g *gateway) gone(t *testing.T, path string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.site+path, strings.NewReader(initialize("1", handshakes, "late")))
	must(t, err)
	request.Header.Set("Accept", acceptBoth)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		t.Errorf("%s: a session begins where nothing is served: %s", path, response.Status)
	}
}
