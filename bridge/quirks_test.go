package bridge_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// quirky says what an operator says about quirks.
func quirky(off bool, rules ...mcp.QuirkRule) func(*rigging) {
	return func(s *rigging) { s.Options.Quirks = mcp.Quirks{Off: off, Rules: rules} }
}

// A client that loses its connection by status 400 gets the error with status
// 200, others as their version says, and each use is counted.
func TestQuirkNeedsCapability(t *testing.T) {
	const quirk = "answer-needs-capability-with-200"
	broker := mcp.ClientMatch{Name: "mcp-broker"}
	acme := mcp.QuirkRule{Quirk: quirk, Client: mcp.ClientMatch{Name: "acme", Version: "<1.8"}, Enabled: true}
	for name, tc := range map[string]struct {
		client, version string
		change          func(*rigging)
		status          int
	}{
		"the shipped client":    {"mcp-broker", "0.0.1", nil, http.StatusOK},
		"another":               {"mcp-brokers", "0.0.1", nil, http.StatusBadRequest},
		"turned off":            {"mcp-broker", "0.0.1", quirky(false, mcp.QuirkRule{Quirk: quirk, Client: broker}), http.StatusBadRequest},
		"all off":               {"mcp-broker", "0.0.1", quirky(true), http.StatusBadRequest},
		"on within the range":   {"acme", "1.7.9", quirky(false, acme), http.StatusOK},
		"on outside the range":  {"acme", "1.8.0", quirky(false, acme), http.StatusBadRequest},
		"the shipped one still": {"mcp-broker", "1", quirky(false, acme), http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			r := newModernRig(t, func(s *rigging) {
				known(s)
				if tc.change != nil {
					tc.change(s)
				}
			})
			const missing = `{"code":-32021,"message":"m","data":{"requiredCapabilities":{"sampling":{}}}}`
			r.up.handle("vendor/method", func(c *call) { c.refuse(http.StatusBadRequest, missing) })
			body := strings.Replace(standalone(`7`, "vendor/method", ``, `{}`), `{"name":"c","version":"1"}`, fmt.Sprintf(`{"name":%q,"version":%q}`, tc.client, tc.version), 1)
			used := 0
			if tc.status == http.StatusOK {
				used = 1
			}
			r.client().post(body, routing("vendor/method", "")...).check(t, tc.status, `{"jsonrpc":"2.0","id":7,"error":`+missing+`}`)
			if got := r.heard.count("quirked " + quirk); got != used {
				t.Errorf("counted %d times", got)
			}
		})
	}
}

// respelling answers every request as a server that writes ids as texts.
func respelling(name string) func(*call) bool {
	return func(c *call) bool {
		if c.Message == nil || c.Kind != mcp.Request {
			return false
		}
		result := `{"tools":[]}`
		if c.Method == mcp.Initialize {
			result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":%q,"version":"1.5"}}`, c.Body.Text("protocolVersion"), name)
		}
		c.reply(http.StatusOK, "application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","result":%s}`, c.ID, result))
		return true
	}
}

// An answer to "1" is one to 1, from the handshake on, unless an operator does
// not want it; each use is counted.
func TestQuirkRespelledIDs(t *testing.T) {
	const quirk = "accept-respelled-ids"
	off := func(version string) func(*rigging) {
		return quirky(false, mcp.QuirkRule{Quirk: quirk, Server: mcp.ClientMatch{Name: "odd", Version: version}})
	}
	for name, tc := range map[string]struct {
		change      func(*rigging)
		opens, list bool
		uses        int
	}{
		"as shipped":            {nil, true, true, 2},
		"off for this server":   {off("<2"), true, false, 1}, // the handshake comes before its name
		"off for other servers": {off(">=2"), true, true, 2},
		"off for all":           {quirky(false, mcp.QuirkRule{Quirk: quirk}), false, false, 0},
		"all off":               {quirky(true), false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.change)
			r.up.set(func() { r.up.first = respelling("odd") })
			c := r.client()
			opened := c.post(initializeWith(`"x"`, v3, `{}`))
			if got := strings.Contains(opened.body, `"id":"x","result"`); got != tc.opens {
				t.Fatalf("opened: %s", opened.body)
			}
			if tc.opens {
				c.session = opened.header.Get(mcp.HeaderSession)
				c.post(initialized)
				if listed := c.post(request(`"1"`, mcp.ToolsList, `{}`)); strings.Contains(listed.body, `"id":"1","result"`) != tc.list {
					t.Errorf("listed: %s", listed.body)
				}
			}
			if got := r.heard.count("quirked " + quirk); got != tc.uses {
				t.Errorf("counted %d times, want %d", got, tc.uses)
			}
		})
	}
}

// What a server cannot read in a handshake is not in it, for the clients that
// the operator named.
func TestQuirkExperimental(t *testing.T) {
	const quirk = "drop-experimental-capabilities"
	r := newRig(t, quirky(false, mcp.QuirkRule{Quirk: quirk, Client: mcp.ClientMatch{Name: "codex*", Version: ">=0.154"}, Enabled: true}))
	for i, tc := range []struct {
		version string
		want    string
		uses    int
	}{
		{"0.153.9", `{"experimental":{"codex/auth-change":{}}}`, 0},
		{"0.154.0", `{"experimental":{}}`, 1},
	} {
		body := strings.Replace(calling("codex-cli", tc.version, v3), `"capabilities":{}`, `"capabilities":{"experimental":{"codex/auth-change":{}}}`, 1)
		if got := r.client().post(body); !strings.Contains(got.body, `"result"`) {
			t.Errorf("%s: %s", tc.version, got.body)
		}
		capabilities, _ := r.up.await(t, mcp.Initialize, i+1).Body.Get("capabilities")
		if string(capabilities) != tc.want || r.heard.count("quirked "+quirk) != tc.uses {
			t.Errorf("%s: the server was told %s, counted %d", tc.version, capabilities, r.heard.count("quirked "+quirk))
		}
	}
}

// A quirk that edits what a client is told acts on the whole way, too.
func TestQuirkTypeLists(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle(mcp.ToolsList, func(c *call) {
		c.result(`{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":["number","null"]}}}}]}`)
	})
	for name, want := range map[string]string{"mcp-broker": `{"a":{"anyOf":[{"type":"number"},{"type":"null"}]}}`, "other": `{"a":{"type":["number","null"]}}`} {
		c := r.client()
		c.session = c.post(calling(name, "0.0.1", v3)).header.Get(mcp.HeaderSession)
		c.post(initialized)
		if got := c.post(request(`1`, mcp.ToolsList, `{}`)); !strings.Contains(got.body, want) {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	if got := r.heard.count("quirked split-type-lists"); got != 1 {
		t.Errorf("counted %d times", got)
	}
}
