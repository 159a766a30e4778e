package main

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// canaryOf is a file with two servers of one route; new gets a share in percent,
// by which its clients also speak another version.
func canaryOf(old, new string, percent int) string {
	return fmt.Sprintf(`
log: {level: debug}
routes:
- name: a
  headers: {X-Team: blue}
  credentials: none
  upstreams:
  - {name: new, upstream: %q, weight: %d, headers: {X-Key: new}}
  - {name: old, upstream: %q, weight: %d, headers: {X-Key: old}, client_versions: ["2025-03-26"]}
`, new, percent, old, 100-percent)
}

// load is a loop of clients, each with a session of its own and a call in it.
type load struct {
	c       *configured
	end     chan struct{}
	workers sync.WaitGroup

	mu    sync.Mutex
	seen  map[string]int // answers by server
	fresh map[string]int // of visits that began in this epoch
	now   int            // the epoch
	bad   []string
	grew  chan struct{}
}

func newLoad(c *configured) *load {
	l := &load{c: c, end: make(chan struct{}), seen: map[string]int{}, fresh: map[string]int{}, grew: make(chan struct{})}
	for range 2 {
		l.workers.Go(func() {
			defer func() {
				select {
				case <-l.end:
				default: // it failed the test; nobody may wait for it
					l.note(0, "no answer")
				}
			}()
			for {
				select {
				case <-l.end:
					return
				default:
					since := l.epoch()
					l.note(since, l.visit())
				}
			}
		})
	}
	return l
}

// visit is what one client sees: the server and the version.
func (l *load) visit() string {
	one := l.c.at("/a")
	status, hello := one.initialize("2025-06-18")
	_, answer := one.post(callTool)
	for server, version := range map[string]string{"new": "2025-06-18", "old": "2025-03-26"} {
		if strings.Contains(answer, `"key":"`+server+`"`) && strings.Contains(hello, `"protocolVersion":"`+version+`"`) {
			return server
		}
	}
	return fmt.Sprintf("%d %s %s", status, hello, answer)
}

func (l *load) epoch() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

func (l *load) note(since int, what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if since == l.now {
		l.fresh[what]++
	}
	if what != "new" && what != "old" {
		l.bad = append(l.bad, what)
	}
	l.seen[what]++
	close(l.grew)
	l.grew = make(chan struct{})
}

// more waits until n clients have come that came from now on, and returns how
// many each server answered.
func (l *load) more(n int) (new, old int) {
	l.mu.Lock()
	l.now++
	l.fresh = map[string]int{}
	for l.fresh["new"]+l.fresh["old"] < n && len(l.bad) == 0 {
		grew := l.grew
		l.mu.Unlock()
		<-grew
		l.mu.Lock()
	}
	defer l.mu.Unlock()
	return l.fresh["new"], l.fresh["old"]
}

func (l *load) stop() {
	close(l.end)
	l.workers.Wait()
	for _, bad := range l.bad {
		l.c.t.Errorf("a client got %s", bad)
	}
}

// sum adds the values of all series whose line begins like this.
func sum(t *testing.T, c *configured, series string) (n int) {
	t.Helper()
	_, numbers := fetch(t, c.admin+"/metrics")
	for _, found := range regexp.MustCompile(`(?m)^`+series+`.* (\d+)$`).FindAllStringSubmatch(numbers, -1) {
		value, err := strconv.Atoi(found[1])
		if err != nil {
			t.Fatal(err)
		}
		n += value
	}
	return n
}

// A share of the clients moves to another server and another version by a
// reload and back, under load, without an error; the metrics tell all of it.
func TestShareMoves(t *testing.T) {
	old, new := upstream(t).URL+"/mcp", upstream(t).URL+"/mcp"
	c := serveFileOf(t, canaryOf(old, new, 0))
	stays := c.at("/a")
	stays.initialize("2025-06-18")
	l := newLoad(c)
	for i, percent := range []int{0, 50, 100, 0} {
		if i > 0 {
			c.write(canaryOf(old, new, percent))
			c.err.awaitTimes(t, "the configuration was reloaded", i)
		}
		a, b := l.more(60)
		if percent == 0 && a > 0 || percent == 100 && b > 0 || percent == 50 && (a < 10 || b < 10) {
			t.Errorf("at %d percent the new server got %d and the old one %d", percent, a, b)
		}
		if _, answer := stays.post(callTool); !strings.Contains(answer, `"key":"old"`) {
			t.Errorf("at %d percent a running session got %s", percent, answer)
		}
	}
	l.stop()
	l.seen["old"]++ // the session that stays
	for _, server := range []string{"new", "old"} {
		choices := sum(t, c, `mcpbridge_upstream_choices_total\{by="weight",route="a",upstream="`+server+`"\}`)
		opened := sum(t, c, `mcpbridge_upstream_sessions_opened_total\{route="a",upstream="`+server+`"\}`)
		if choices != l.seen[server] || opened != choices {
			t.Errorf("%s: %d clients, %d choices, %d sessions", server, l.seen[server], choices, opened)
		}
	}
	if n := sum(t, c, `mcpbridge_upstream_unopened_total`) + sum(t, c, `mcpbridge_upstream_choices_total\{by="fallover"`); n != 0 {
		t.Errorf("%d failures", n)
	}
	if n := sum(t, c, `mcpbridge_probes_total`); n > 2 {
		t.Errorf("%d probes: a reload of weights made what serves anew", n)
	}
	if log := c.err.String(); !strings.Contains(log, `"an upstream was chosen"`) || !strings.Contains(log, `"by":"weight"`) {
		t.Error("the log tells no choice")
	}
	c.end()
}

// A route with one server becomes one with several and back; what runs goes on.
func TestOneBecomesSeveral(t *testing.T) {
	up := upstream(t).URL + "/mcp"
	c := serveFileOf(t, routeTo(up, ""))
	var running []*client
	visit := func(key string) {
		t.Helper()
		one := c.at("/a")
		one.initialize("2025-03-26")
		for _, one := range append(running, one) {
			if status, answer := one.post(callTool); status != 200 || !strings.Contains(answer, `"key":"`) {
				t.Errorf("%d %s", status, answer)
			}
		}
		if _, answer := one.post(callTool); !strings.Contains(answer, `"key":"`+key+`"`) {
			t.Errorf("a new session is served %s, want the key %s", answer, key)
		}
		running = append(running, one)
	}
	visit("k")
	for i, next := range []struct{ file, key string }{{canaryOf(up, up, 100), "new"}, {canaryOf(up, up, 0), "old"}, {routeTo(up, ""), "k"}} {
		c.write(next.file)
		c.err.awaitTimes(t, "the configuration was reloaded", i+1)
		visit(next.key)
	}
	c.end()
}

// A canary that is dead costs nobody anything, whatever the transport, but is
// counted; the route is ready while one of its servers is.
func TestDeadUpstream(t *testing.T) {
	c := serveFileOf(t, canaryOf(upstream(t).URL+"/mcp", "http://127.0.0.1:1/mcp", 99))
	if status, text := fetch(t, c.admin+"/readyz"); status != 200 {
		t.Errorf("with one server that is there: %d %s", status, text)
	}
	l := newLoad(c)
	if a, b := l.more(40); a != 0 || b < 40 {
		t.Errorf("the dead server answered %d, the other %d", a, b)
	}
	l.stop()
	for range 3 {
		stream, socket := openStream(t, c.site+"/a"), openSocket(t, c.site+"/a")
		stream.send(initialize)
		if got := stream.next(); !strings.Contains(got, `"serverInfo"`) {
			t.Errorf("on a stream: %s", got)
		}
		stream.send(callTool)
		if got := stream.next(); !strings.Contains(got, `\"key\":\"old\"`) {
			t.Errorf("a call on a stream: %s", got)
		}
		say(t, socket, initialize, `"serverInfo"`)
		say(t, socket, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "")
		say(t, socket, callTool, `\"key\":\"old\"`)
	}
	all := l.seen["old"] + 6
	chosen := func(by, upstream string) int {
		return sum(t, c, `mcpbridge_upstream_choices_total\{by="`+by+`",route="a",upstream="`+upstream+`"\}`)
	}
	first, direct, second := chosen("weight", "new"), chosen("weight", "old"), chosen("fallover", "old")
	if first+direct != all || second != first || first < all/2 {
		t.Errorf("%d clients: %d to the dead server, %d to the other at once, %d later", all, first, direct, second)
	}
	if n := sum(t, c, `mcpbridge_upstream_unopened_total\{route="a",upstream="new"\}`); n != first {
		t.Errorf("%d were not opened of %d", n, first)
	}
	if log := c.err.String(); !strings.Contains(log, `"an upstream took no conversation; the next one is tried"`) {
		t.Error("the log tells nothing of it")
	}
	c.end()
}

// Whatever a server is spoken to by, the next one takes over when it is not
// there, for clients of either era.
func TestFalloverFromEachTransport(t *testing.T) {
	up := upstream(t).URL + "/mcp"
	for name, dead := range map[string]string{
		"command":   `command: /nonexistent/server`,
		"shared":    `command: /nonexistent/server, stdio_mode: shared`,
		"exits":     `command: ["false"]`,
		"websocket": `upstream: "ws://127.0.0.1:1/"`,
		"sse":       `upstream: "http://127.0.0.1:1/sse", upstream_transport: sse`,
		"modern":    `upstream: "http://127.0.0.1:1/mcp", upstream_era: modern`,
	} {
		t.Run(name, func(t *testing.T) {
			c := serveFileOf(t, `routes: [{name: a, upstreams: [{name: dead, `+dead+`, match: {name: "*"}}, {name: up, upstream: "`+up+`"}]}]`)
			if status, answer := c.at("/a").initialize("2025-06-18"); status != 200 || !strings.Contains(answer, `"serverInfo"`) {
				t.Errorf("a session: %d %s", status, answer)
			}
			if status, answer := standAlone(t, c.site+"/a"); status != 200 || !strings.Contains(answer, "9007199254740993") {
				t.Errorf("a stateless client: %d %s", status, answer)
			}
			if n := sum(t, c, `mcpbridge_upstream_choices_total\{by="fallover",route="a",upstream="up"\}`); n != 2 {
				t.Errorf("%d were taken over", n)
			}
			c.end()
		})
	}
}

// standAlone makes a call of the stateless revision.
func standAlone(t *testing.T, endpoint string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "x",
	} {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// A route without any server that takes clients is not ready, and says why.
func TestNoUpstreamIsReady(t *testing.T) {
	c := serveFileOf(t, canaryOf(upstream(t).URL+"/mcp", "http://127.0.0.1:1/mcp", 100))
	if status, text := fetch(t, c.admin+"/readyz"); status != 503 || !strings.Contains(text, "new: ") || strings.Contains(text, "old: ") {
		t.Errorf("%d %s", status, text)
	}
	if status, answer := c.at("/a").initialize("2025-06-18"); status != 200 || !strings.Contains(answer, "cannot reach the upstream server http://127.0.0.1:1/mcp") {
		t.Errorf("%d %s", status, answer)
	}
	c.end()
}

// awaitTimes waits until so many lines contain text.
func (r *record) awaitTimes(t *testing.T, text string, times int) {
	t.Helper()
	for {
		r.mu.Lock()
		n, changed := strings.Count(r.text.String(), text), r.changed
		r.mu.Unlock()
		if n >= times {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("%q was written %d times, not %d", text, n, times)
		}
	}
}
