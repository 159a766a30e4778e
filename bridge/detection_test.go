package bridge_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// probed is a server with sessions that answers probes as a test says.
func probed(answer func(*call)) func(*call) bool {
	return func(c *call) bool {
		if c.Message == nil || c.Method != mcp.Discover {
			return false
		}
		answer(c)
		return true
	}
}

func replying(status int, media, body string) func(*call) {
	return func(c *call) { c.reply(status, media, body) }
}

// idless is an error of a server that did not read the request.
func idless(code, message string) string {
	return `{"jsonrpc":"2.0","id":null,"error":{"code":` + code + `,"message":"` + message + `"}}`
}

// settled are the ways in which servers with sessions answer a probe, after
// which they need not be probed again.
func settled() map[string]func(*call) {
	const media = "application/json"
	return map[string]func(*call){
		"400":               replying(400, "text/plain", "Bad Request"),
		"404":               replying(404, "text/html", "<html>Cannot POST /</html>"),
		"405":               replying(405, "", ""),
		"406":               replying(406, media, idless("-32000", "Not Acceptable")),
		"202":               replying(202, "", ""),
		"a page":            replying(200, "text/html", "<html>Welcome</html>"),
		"nothing":           replying(200, media, ""),
		"500":               replying(500, "", ""),
		"501":               replying(501, "", ""),
		"not initialized":   replying(400, media, idless("-32000", "Bad Request: Server not initialized")),
		"no session":        replying(400, media, idless("-32000", "Bad Request: No valid session ID provided")),
		"version":           replying(400, media, idless("-32000", "Bad Request: Unsupported protocol version: 2026-07-28 (supported versions: 2025-11-25)")),
		"-32022, id null":   replying(400, media, strings.Replace(idless("-32022", "m"), `"m"`, `"m","data":{"supported":["2025-11-25"],"requested":"2026-07-28"}`, 1)),
		"-32022":            func(c *call) { c.refuse(400, `{"code":-32022,"message":"m","data":{"supported":["2025-11-25"]}}`) },
		"no method":         func(c *call) { c.fail(mcp.CodeMethodNotFound, "Method not found") },
		"no such request":   func(c *call) { c.fail(mcp.CodeInvalidParams, "Invalid request parameters") },
		"an older list":     func(c *call) { c.discovered(`["2025-11-25","2025-06-18"]`) },
		"a list of nothing": func(c *call) { c.result(`{}`) },
		"an empty stream":   func(c *call) { c.stream() },
	}
}

// asBoth opens conversations with a bridge that knows nothing yet of its
// server, once as either kind of client, and once more.
func asBoth(t *testing.T, r *rig) {
	t.Helper()
	c := r.client()
	c.header.Set("Authorization", "Bearer a")
	for range 2 {
		if got, err := c.modernCall(`1`); err != nil || !got.served() {
			t.Errorf("a stateless client is answered %d %s %v", got.status, got.body, err)
		}
	}
	for range 2 {
		c.session = ""
		c.open(v4, `{}`)
		c.echoes(1)
	}
}

// A server with sessions is found out once, whatever it answers to a probe, and
// serves both kinds of clients (G-68, G-69, G-73).
func TestProbeOfServerWithSessions(t *testing.T) {
	for name, answer := range settled() {
		t.Run(name, func(t *testing.T) {
			r := newEraRig(t, probed(answer), nil)
			asBoth(t, r)
			probe := r.up.all("")[0]
			probes := 1
			if strings.HasPrefix(name, "50") { // maybe an accident (rule 7)
				probes = 2
			}
			if !probe.is(mcp.Discover) || r.up.count(mcp.Discover) != probes {
				t.Errorf("the server was sent %s", r.up.names())
			}
			probe.checkProbe(t)
			for _, opening := range r.up.all(mcp.Initialize) {
				for _, header := range []string{mcp.HeaderVersion, mcp.HeaderMethod, mcp.HeaderSession} {
					if v := opening.header.Get(header); v != "" {
						t.Errorf("initialize has %s: %s", header, v)
					}
				}
			}
		})
	}
}

// checkProbe holds what a probe looks like.
func (r *received) checkProbe(t *testing.T) {
	t.Helper()
	if r.ID.String()[0] == '"' {
		t.Errorf("the id of the probe is the text %s", r.ID)
	}
	if h := r.header; h.Get(mcp.HeaderVersion) != v5 || h.Get(mcp.HeaderMethod) != mcp.Discover || h.Get(mcp.HeaderSession) != "" {
		t.Errorf("the probe has the headers %v", h)
	}
	if r.stamp(mcp.MetaCapabilities) != `{}` || r.stamp(mcp.MetaVersion) != `"`+v5+`"` {
		t.Errorf("the probe is %s", r.body)
	}
}

// A server that is busy says nothing of its era: it is asked again (rule 6).
func TestProbeOfBusyServer(t *testing.T) {
	for _, status := range []int{429, 502, 503, 504} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			r := newEraRig(t, probed(replying(status, "", "")), nil)
			asBoth(t, r)
			if n := r.up.count(mcp.Discover); n != 3 { // the pool holds the stateless client's conversation
				t.Errorf("%d: the server was probed %d times", status, n)
			}
		})
	}
}

// A server that wants credentials says nothing either: whoever brings them is
// served, and the server is asked again (G-71).
func TestProbeWithoutCredentials(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			r := newEraRig(t, func(c *call) bool {
				if c.header.Get("Authorization") == "" {
					c.w.Header().Set("Www-Authenticate", `Bearer realm="x"`)
					c.reply(status, "application/json", idless("-32020", "who are you"))
					return true
				}
				return stateless(c)
			}, nil)
			c := r.client()
			modern, err := c.modernCall(`1`)
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range []reply{modern, c.post(initializeWith("1", v4, `{}`))} {
				if got.status != status || got.header.Get("Www-Authenticate") != `Bearer realm="x"` {
					t.Errorf("answered %d %s %v", got.status, got.body, got.header)
				}
			}
			if n := r.heard.count("probed legacy") + r.heard.count("probed modern"); n != 0 {
				t.Errorf("%d verdicts rest on a lack of credentials", n)
			}
			asBoth(t, r)
		})
	}
}

// A server without handshake is found out by a probe, and a client of a
// handshake revision is served all the same (G-01). Once its refusal of a
// handshake is known, it is not asked for one again.
func TestProbeOfStatelessServer(t *testing.T) {
	r := newModernRig(t, nil)
	c := r.open(v4, `{}`)
	c.echoes(1)
	r.up.all("")[0].checkProbe(t)
	if got := r.up.names(); !strings.HasPrefix(got, "server/discover initialize server/discover") {
		t.Errorf("the server was sent %s", got)
	}
	other := r.open(v3, `{}`)
	other.echoes(1)
	if got, err := r.client().modernCall(`1`); err != nil || !got.served() {
		t.Errorf("a stateless client is answered %d %s %v", got.status, got.body, err)
	}
	if n := r.up.count(mcp.Initialize); n != 1 {
		t.Errorf("the server was asked for a handshake %d times", n)
	}
}

// A server that speaks both serves each client in its own way, but one that
// could not ask a client of sessions back serves it without (decision 13).
func TestProbeOfServerOfBothEras(t *testing.T) {
	for name, x := range map[string]struct {
		sessions     bool
		capabilities string
		stateless    bool
	}{
		"with sessions":             {true, `{"elicitation":{}}`, false},
		"without sessions":          {false, `{}`, false},
		"without sessions, asked":   {false, `{"elicitation":{}}`, true},
		"without sessions, sampled": {false, `{"sampling":{}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newEraRig(t, dual, nil)
			r.up.stateless = !x.sessions
			c := r.open(v3, x.capabilities)
			c.echoes(1)
			call := r.up.await(t, mcp.ToolsCall, 1)
			if negotiate.Claims(call.Message) != x.stateless {
				t.Errorf("the server was sent %s", call.body)
			}
			if opening := r.up.await(t, mcp.Initialize, 1); opening.Body.Text("protocolVersion") != v3 {
				t.Errorf("the handshake was %s", opening.body)
			}
			if got, err := r.client().modernCall(`1`); err != nil || !got.served() {
				t.Errorf("a stateless client is answered %d %s %v", got.status, got.body, err)
			}
			if call := r.up.await(t, mcp.ToolsCall, 2); !negotiate.Claims(call.Message) {
				t.Errorf("the server was sent %s", call.body)
			}
		})
	}
}

// Where the operator says what a server speaks, it is not probed.
func TestNoProbeWhereTheEraIsKnown(t *testing.T) {
	for era, absent := range map[negotiate.Era]string{negotiate.Legacy: mcp.Discover, negotiate.Stateless: mcp.Initialize} {
		t.Run(string(era), func(t *testing.T) {
			r := newEraRig(t, dual, func(s *rigging) { s.Era = era })
			asBoth(t, r)
			if n := r.up.count(absent); n != 0 {
				t.Errorf("%s: the server was sent %s", era, r.up.names())
			}
		})
	}
}

// Clients that come at once wait for the same probe; one of other credentials
// has its own (E.5).
func TestProbeIsShared(t *testing.T) {
	const clients = 20
	for _, modern := range []bool{true, false} {
		t.Run("modern "+strconv.FormatBool(modern), func(t *testing.T) {
			release := make(chan struct{})
			r := newEraRig(t, func(c *call) bool {
				if c.Message != nil && c.Method == mcp.Discover {
					c.wait(release)
				}
				return dual(c)
			}, nil)
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					c := r.client()
					if !modern {
						if got, err := c.try(http.MethodPost, initializeWith("0", v4, `{}`)); err != nil || got.status != http.StatusOK {
							t.Errorf("answered %d %s %v", got.status, got.body, err)
						}
					} else if got, err := c.modernCall(`1`); err != nil || !got.served() {
						t.Errorf("answered %d %s %v", got.status, got.body, err)
					}
				})
			}
			r.heard.await(t, map[bool]string{true: "received client request tools/call", false: "received client request initialize"}[modern], clients)
			r.up.await(t, mcp.Discover, 1)
			close(release)
			all.Wait()
			if n := r.up.count(mcp.Discover); n != 1 {
				t.Errorf("%d clients made %d probes", clients, n)
			}
			other := r.client()
			other.header.Set("Authorization", "Bearer other")
			if got, err := other.modernCall(`1`); err != nil || !got.served() || r.up.count(mcp.Discover) != 2 {
				t.Errorf("other credentials are answered %d %s %v after %d probes", got.status, got.body, err, r.up.count(mcp.Discover))
			}
		})
	}
}
