package bridge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// offers lists the versions that the server was offered.
func (s *server) offers() string {
	var out []string
	for _, r := range s.all(mcp.Initialize) {
		out = append(out, r.Body.Text("protocolVersion"))
	}
	return strings.Join(out, " ")
}

// speaksOnly makes the server answer initialize by refuse unless it is asked
// for a version that it speaks.
func (s *server) speaksOnly(version string, refuse func(*call)) {
	s.set(func() {
		s.first = func(c *call) bool {
			if c.Message == nil || c.Method != mcp.Initialize || c.Body.Text("protocolVersion") == version {
				return false
			}
			refuse(c)
			return true
		}
	})
}

// answered checks what the client was told: its own id, its own version.
func answered(t *testing.T, got reply, version string) {
	t.Helper()
	if got.status != http.StatusOK || !strings.HasPrefix(got.body, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"`+version+`",`) {
		t.Errorf("the client was answered %d %s", got.status, got.body)
	}
}

func plainRefusal(text string) func(*call) {
	return func(c *call) { c.reply(http.StatusBadRequest, "text/plain", text) }
}

func errorRefusal(code int, data string) func(*call) {
	return func(c *call) {
		c.reply(http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":`+c.ID.String()+`,"error":{"code":`+data+`}}`)
	}
}

// A server that refuses the version it is offered is asked again, and the
// client never knows.
func TestHandshakeRefusedVersions(t *testing.T) {
	for name, c := range map[string]struct {
		client, speaks string
		refuse         func(*call)
		offers         string
	}{
		"report 1: dates in a plain 400": {v4, v3,
			plainRefusal("Bad Request: Unsupported protocol version (supported versions: 2025-06-18, 2025-03-26, 2024-11-05)"), v4 + " " + v3},
		"report 1: nothing named": {v4, v1, plainRefusal("Bad Request"), v4 + " " + v3 + " " + v2 + " " + v1},
		"report 5: expected": {v4, v3,
			errorRefusal(-32602, `-32602,"message":"Unsupported protocol version","data":{"code":"X","expected":"2025-06-18"}`), v4 + " " + v3},
		"report 5: the word version": {v4, v2, errorRefusal(-32000, `-32000,"message":"bad version"`), v4 + " " + v3 + " " + v2},
		"specified error":            {v4, v2, errorRefusal(-32602, `-32602,"message":"no","data":{"supported":["2024-11-05","2025-03-26"],"requested":"x"}`), v4 + " " + v2},
		"a newer one is named":       {v2, v4, errorRefusal(-32602, `-32602,"message":"version","data":{"supported":["2025-11-25"]}`), v2 + " " + v4},
		"JSON error under a 400": {v4, v3, func(c *call) {
			c.reply(400, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Unsupported protocol version, use 2025-06-18"}}`)
		}, v4 + " " + v3},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.up.speaksOnly(c.speaks, c.refuse)
			peer := r.client()
			answered(t, peer.open(c.client, `{}`), c.client)
			if got := r.up.offers(); got != c.offers {
				t.Errorf("offered %s, want %s", got, c.offers)
			}
			peer.works()
			if n := r.heard.count("opened " + c.client + " " + c.speaks); n != 1 {
				t.Errorf("opened %d sessions of the pair", n)
			}
		})
	}
}

// The server's own version stays on its leg, whatever it is.
func TestHandshakeServerInsists(t *testing.T) {
	for name, c := range map[string]struct{ client, server, pair string }{
		"report 3: newer than asked":         {v1, v2, v1 + " " + v2},
		"report 4: constant":                 {v1, v4, v1 + " " + v4},
		"report 7: before all that is known": {v4, "2024-10-07", v4 + " " + v1},
		"report 7: between two known":        {v4, "2025-05-01", v4 + " " + v2},
		"report 7: after all that is known":  {v3, "2027-01-01", v3 + " " + v4},
		"report 8: older than asked":         {v2, v1, v2 + " " + v1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.up.version = c.server
			peer := r.client()
			answered(t, peer.open(c.client, `{}`), c.client)
			if got := r.up.offers(); got != c.client || r.heard.count("opened "+c.pair) != 1 {
				t.Errorf("offered %s; heard %v", got, r.heard.counts)
			}
			peer.works()
		})
	}
}

// A client gets a version that it may understand, and the server is offered
// the same.
func TestHandshakeClientAsks(t *testing.T) {
	for name, c := range map[string]struct{ params, gets string }{
		"report 4: no version": {`{"capabilities":{},"clientInfo":{"name":"c","version":"1"}}`, v1},
		"no parameters":        {`{}`, v1},
		"empty array":          {`[]`, v1},
		"before all":           {`{"protocolVersion":"2024-10-07","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`, v1},
		"after all":            {`{"protocolVersion":"2031-01-01","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`, v4},
		"between":              {`{"protocolVersion":"2025-05-05","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`, v4},
		"no date":              {`{"protocolVersion":"draft","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`, v4},
		"a number":             {`{"protocolVersion":1,"capabilities":[],"clientInfo":7}`, v1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			answered(t, r.client().post(request(`0`, mcp.Initialize, c.params)), c.gets)
			if got := r.up.offers(); got != c.gets {
				t.Errorf("offered %s", got)
			}
		})
	}
}

func TestHandshakeWithoutParams(t *testing.T) {
	r := newRig(t, nil)
	answered(t, r.client().post(`{"jsonrpc":"2.0","id":0,"method":"initialize"}`), v1)
}

// An operator may narrow what either leg speaks.
func TestHandshakeConfiguredVersions(t *testing.T) {
	r := newRig(t, func(s *rigging) {
		s.ClientVersions = []mcp.Version{v2, v3}
		s.UpstreamVersions = []mcp.Version{v1}
	})
	for asks, gets := range map[string]string{v1: v2, v2: v2, v3: v3, v4: v3} {
		answered(t, r.client().post(initializeWith(`0`, asks, `{}`)), gets)
	}
	if got := r.up.offers(); got != strings.Join([]string{v1, v1, v1, v1}, " ") {
		t.Errorf("offered %s", got)
	}
}

// Each leg carries its own version in its header, and none on initialize
// (T69, reports 9 and 13).
func TestT69VersionHeaderPerLeg(t *testing.T) {
	for server, header := range map[string]string{v1: "", v2: "", v3: v3, v4: v4} {
		t.Run(server, func(t *testing.T) {
			r := newRig(t, nil)
			r.up.version = server
			c := r.client()
			c.header.Set(mcp.HeaderVersion, v4)
			c.open(v4, `{}`)
			for _, sent := range []string{"", v1, v2, v3, v4} {
				if got := c.post(toolCall(`1`, "t", `1`), mcp.HeaderVersion, sent); got.body != echoed(`1`, `1`) {
					t.Errorf("report 9: with %q the client got %d %s", sent, got.status, got.body)
				}
			}
			c.do(http.MethodDelete, "")
			r.up.await(t, "DELETE", 1)
			for _, got := range r.up.all("") {
				want, session := header, "up-1"
				if got.is(mcp.Initialize) {
					want, session = "", ""
				}
				if v := got.header.Get(mcp.HeaderVersion); v != want || got.session != session {
					t.Errorf("%s %s has version %q, session %q", got.verb, got.body, v, got.session)
				}
			}
		})
	}
}

// A version nobody speaks is refused on every verb, and the session goes on
// (report 10).
func TestReport10UnknownVersionHeader(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	for _, verb := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		body, id := "", ""
		if verb == http.MethodPost {
			body, id = request(`"bad-version-1"`, mcp.ToolsList, `{}`), `"bad-version-1"`
		}
		badInput{verb: verb, body: body, header: []string{mcp.HeaderVersion, "not-a-version"}, status: 400, code: -32600, id: id}.check(t, c)
	}
	if n := r.up.count(mcp.ToolsList) + r.up.count("DELETE"); n != 0 {
		t.Errorf("the upstream got %s", r.up.names())
	}
	c.works()
	other := r.client()
	other.header.Set(mcp.HeaderVersion, "not-a-version") // ignored on initialize
	answered(t, other.post(initializeWith(`0`, v4, `{}`)), v4)
}

// A server without sessions: the client still gets one (T74).
func TestT74SessionIsAlwaysMinted(t *testing.T) {
	r := newRig(t, nil)
	r.up.stateless, r.up.version = true, v4
	c := r.client()
	got := c.open(v1, `{}`)
	answered(t, got, v1)
	if len(c.session) < 22 || strings.ContainsFunc(c.session, func(x rune) bool { return x < 0x21 || x > 0x7E }) {
		t.Errorf("the session id is %q", c.session)
	}
	c.works()
	for _, up := range r.up.all("") {
		if up.session != "" {
			t.Errorf("%s has the session %q", up.body, up.session)
		}
	}
}

// The client's own credentials, and no others, reach the server.
func TestHandshakeForwardsHeaders(t *testing.T) {
	for _, policy := range []mcp.Credentials{mcp.CredentialsForward, mcp.CredentialsNone} {
		r := newRig(t, func(s *rigging) { s.Credentials = policy })
		c := r.client()
		for name, v := range map[string]string{"Authorization": "Bearer me", "X-Api-Key": "k", "Traceparent": "00-1", "Cookie": "a=b", "Connection": "X-Hop", "X-Hop": "1"} {
			c.header.Set(name, v)
		}
		c.open(v4, `{}`)
		c.do(http.MethodDelete, "")
		r.up.await(t, "DELETE", 1)
		for _, up := range r.up.all("") {
			credentials := up.header.Get("Authorization") + up.header.Get("X-Api-Key")
			if want := map[mcp.Credentials]string{mcp.CredentialsForward: "Bearer mek"}[policy]; credentials != want ||
				up.header.Get("Traceparent") == "" || up.header.Get("X-Hop") != "" {
				t.Errorf("%s: %s %s has %v", policy, up.verb, up.body, up.header)
			}
		}
	}
}
