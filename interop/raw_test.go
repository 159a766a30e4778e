package interop

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rawServers is one real server of each revision: its name, the newest version
// it speaks, and whether its tools give structured content alone.
var rawServers = []struct {
	name, version string
	structured    bool
}{
	{overSSE + "ts-1.9.0", "2024-11-05", false},
	{"ts-1.12.3", "2025-03-26", true}, // although its version has no such thing
	{"ts-1.17.5", "2025-06-18", true},
	{"ts-1.24.3", "2025-11-25", true},
}

var rawVersions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// oddIDs are request ids that must come back as they were written.
var oddIDs = []string{`7`, `"7"`, `0`, `-1`, `9007199254740993`, `"a b/\u00e9"`, `""`}

// TestRawClient talks to real servers with a client of bare bytes, in each
// handshake revision.
func TestRawClient(t *testing.T) {
	all, _ := ssePeers(binDir)
	all = append(all, allPeers(binDir)...)
	var servers []peer
	for _, s := range rawServers {
		i := slices.IndexFunc(all, func(p peer) bool { return p.name == s.name })
		servers = append(servers, all[i])
	}
	h := newHarness(t, servers)
	h.startBridges(t)
	for _, s := range rawServers {
		for _, version := range rawVersions {
			t.Run(version+" to "+s.version, func(t *testing.T) {
				t.Parallel()
				base := strings.TrimSuffix(h.bridged[s.name], "/mcp")
				name := "raw|" + version + "|" + s.name
				calls := 0
				if version == "2024-11-05" {
					calls = visitOverSSE(t, base+"/sse", name, s.structured)
				} else {
					calls = visitStreamable(t, base+"/mcp", version, name, s.structured)
				}
				// What the bridge answered by itself must not have reached the server.
				seen := readLog(t, h.peerLog(s.name))[name]
				for method, want := range map[string]int{"initialize": 1, initializedMethod: 1, "tools/call": calls} {
					if seen[method] != want {
						t.Errorf("the server received %s %d times, want %d", method, seen[method], want)
					}
				}
			})
		}
	}
}

// visitStreamable returns how many tool calls must have reached the server.
func visitStreamable(t *testing.T, url, version, name string, structured bool) int {
	c := &rawClient{t: t, url: url}
	checkOpening(t, c, version, name)
	checkSessionHeader(t, c)
	checkVersionHeader(t, c)
	checkMalformed(t, c)
	calls := checkExchanges(t, structured, func(id, body string) rawMessage {
		reply := c.post(body)
		if reply.status != http.StatusOK {
			t.Errorf("status %d for %s", reply.status, body)
		}
		answer, err := reply.answer(id)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	})
	calls += checkBatches(t, c)
	checkClosing(t, c)
	return calls
}

var visibleASCII = regexp.MustCompile(`^[\x21-\x7e]{16,}$`)

func checkOpening(t *testing.T, c *rawClient, version, name string) {
	t.Helper()
	reply := c.post(initialize(`"first one"`, version, name))
	answer, err := reply.answer(`"first one"`)
	if err != nil {
		t.Fatal(err)
	}
	if reply.status != http.StatusOK || !strings.Contains(string(answer.Result), fmt.Sprintf(`"protocolVersion":%q`, version)) {
		t.Fatalf("initialize: status %d, %s; want version %s", reply.status, answer.Result, version)
	}
	if !strings.Contains(string(answer.Result), "peer-sdk-") {
		t.Errorf("initialize does not name the server: %s", answer.Result)
	}
	c.session = reply.header.Get("Mcp-Session-Id")
	if !visibleASCII.MatchString(c.session) {
		t.Fatalf("session id %q", c.session)
	}
	// Only since 2025-06-18 do clients name the version in a header.
	if version >= "2025-06-18" {
		c.version = version
	}
	if reply := c.post(initialized); reply.status != http.StatusAccepted || len(reply.body) != 0 {
		t.Errorf("notification: status %d, body %q; want 202 and none", reply.status, reply.body)
	}
}

const ping = `{"jsonrpc":"2.0","id":"p","method":"ping"}`

func checkSessionHeader(t *testing.T, c *rawClient) {
	t.Helper()
	reply := c.send("POST", `{"jsonrpc":"2.0","id":"l","method":"tools/list"}`, "Accept", acceptBoth, "Mcp-Session-Id", "")
	if reply.status != http.StatusBadRequest {
		t.Errorf("without a session: status %d, want 400", reply.status)
	}
	for _, method := range []string{"POST", "DELETE"} {
		reply = c.send(method, ping, "Accept", acceptBoth, "Mcp-Session-Id", "no-such-session-anywhere")
		checkGone(t, "unknown session, "+method, reply)
	}
	// A ping is allowed before there is a session, and so without one.
	if reply = c.send("POST", ping, "Accept", acceptBoth, "Mcp-Session-Id", ""); reply.status != http.StatusOK {
		t.Errorf("ping without a session: status %d, want 200", reply.status)
	}
	if reply = c.post(ping); reply.status != http.StatusOK {
		t.Errorf("ping: status %d", reply.status)
	}
}

// checkGone: some clients take a 404 with the request's id for the request's own
// error and never open a new session.
func checkGone(t *testing.T, what string, reply rawReply) {
	t.Helper()
	if reply.status != http.StatusNotFound {
		t.Errorf("%s: status %d, want 404", what, reply.status)
	}
	if strings.Contains(string(reply.body), `"id"`) {
		t.Errorf("%s: the body has an id: %s", what, reply.body)
	}
}

func checkVersionHeader(t *testing.T, c *rawClient) {
	t.Helper()
	if c.version == "" {
		return
	}
	reply := c.send("POST", ping, "Accept", acceptBoth, "Mcp-Protocol-Version", "1999-01-01")
	if reply.status != http.StatusBadRequest {
		t.Errorf("unknown version in the header: status %d, want 400", reply.status)
	}
	reply = c.send("POST", ping, "Accept", acceptBoth, "Mcp-Protocol-Version", "")
	if reply.status != http.StatusOK {
		t.Errorf("no version in the header: status %d, want 200", reply.status)
	}
}

func checkMalformed(t *testing.T, c *rawClient) {
	t.Helper()
	for body, code := range map[string]int{`{"jsonrpc":`: -32700, `{"jsonrpc":"2.0","id":"x"}`: -32600, `17`: -32600} {
		reply := c.post(body)
		if reply.status != http.StatusBadRequest || len(reply.messages) != 1 || reply.messages[0].Error == nil ||
			reply.messages[0].Error.Code != code {
			t.Errorf("%s: status %d, body %s; want 400 and error %d", body, reply.status, reply.body, code)
		}
	}
	reply := c.send("POST", ping, "Accept", acceptBoth, "Content-Type", "text/plain")
	if reply.status != http.StatusUnsupportedMediaType {
		t.Errorf("text/plain: status %d, want 415", reply.status)
	}
	if reply = c.send("GET", "", "Accept", "application/json"); reply.status != http.StatusMethodNotAllowed {
		t.Errorf("GET without an event stream: status %d, want 405", reply.status)
	}
}

// checkClosing ends the session, after which it is gone.
func checkClosing(t *testing.T, c *rawClient) {
	t.Helper()
	if reply := c.send("DELETE", "", "Accept", ""); reply.status/100 != 2 {
		t.Errorf("DELETE: status %d", reply.status)
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		body := ""
		if method == "POST" {
			body = ping
		}
		checkGone(t, method+" after the end", c.send(method, body, "Accept", acceptBoth))
	}
}
