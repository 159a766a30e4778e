package bridge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// A server of sessions that answers a stateless request without a handshake is
// no stateless server: its lists get what stateless clients require, from its
// session (report 147).
func TestReport147(t *testing.T) {
	r := newEraRig(t, func(c *call) bool {
		if c.Message == nil || c.session != "" || c.Method == mcp.Initialize {
			return false
		}
		if c.Method == mcp.ToolsList {
			c.result(`{"tools":[{"name":"stray","inputSchema":{"type":"object"}}]}`)
		} else {
			c.fail(mcp.CodeMethodNotFound, "Method not found")
		}
		return true
	}, nil)
	r.up.version = v1
	r.up.handle(mcp.ToolsList, func(c *call) { c.result(`{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`) })
	got := r.client().post(standalone(`1`, mcp.ToolsList, ``, `{}`), routing(mcp.ToolsList, "")...)
	equivalent(t, "the answer", got.body, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private",`+
		`"tools":[{"name":"a","inputSchema":{"type":"object"}}],`+signature+`}}`)
}

// Hints that a stateless server leaves out, or writes wrongly, are there for
// stateless clients: nothing may be kept (report 148).
func TestReport148(t *testing.T) {
	for hints, want := range map[string]string{
		``:                                    `"ttlMs":0,"cacheScope":"private"`,
		`,"ttlMs":-1,"cacheScope":"private"`:  `"ttlMs":0,"cacheScope":"private"`,
		`,"ttlMs":"0","cacheScope":"private"`: `"ttlMs":0,"cacheScope":"private"`,
		`,"ttlMs":5,"cacheScope":"shared"`:    `"ttlMs":5,"cacheScope":"private"`,
		`,"ttlMs":5,"cacheScope":"public"`:    `"ttlMs":5,"cacheScope":"public"`,
	} {
		r := newModernRig(t, known)
		r.up.handle(mcp.ToolsList, func(c *call) { c.result(`{"resultType":"complete","tools":[]` + hints + `}`) })
		r.up.handle(mcp.ToolsCall, func(c *call) { c.result(`{"resultType":"complete","content":[]}`) })
		got := r.client().post(standalone(`2`, mcp.ToolsList, ``, `{}`), routing(mcp.ToolsList, "")...)
		equivalent(t, "with "+hints+" the list", got.body, `{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","tools":[],`+want+`}}`)
		r.client().post(standalone(`3`, mcp.ToolsCall, `"name":"t"`, `{}`), routing(mcp.ToolsCall, "t")...).
			check(t, http.StatusOK, `{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[]}}`)
	}
}

// What a client of sessions says in the headers of stateless ones is nobody's
// business: it is not held against the request, and goes no further (report
// 164).
func TestReport164(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	c.post(toolCall(`3`, "real", `1`), mcp.HeaderMethod, "tools/list", mcp.HeaderName, "wrong_on_purpose", mcp.HeaderParam+"A", "b").
		check(t, http.StatusOK, echoed(`3`, `1`))
	for name := range r.up.await(t, mcp.ToolsCall, 1).header {
		if strings.HasPrefix(name, mcp.HeaderMethod) || strings.HasPrefix(name, mcp.HeaderName) || strings.HasPrefix(name, mcp.HeaderParam) {
			t.Errorf("the server got the header %s", name)
		}
	}
}

// A client that asks what there is and then opens a session all the same gets
// both, in its own words, and the session of the server that answered the first
// is not left behind (report 165).
func TestReport165(t *testing.T) {
	r := newRig(t, nil)
	got := r.client().post(standalone(`"server-discover-probe-1"`, mcp.Discover, ``, `{}`), routing(mcp.Discover, "")...)
	if got.status != http.StatusOK || !strings.HasPrefix(got.body, `{"jsonrpc":"2.0","id":"server-discover-probe-1","result":{"resultType":"complete","supportedVersions":["2026-07-28"]`) {
		t.Errorf("the probe is answered %d %s", got.status, got.body)
	}
	if n := r.up.count(mcp.Discover); n != 0 {
		t.Errorf("the server was sent %s", r.up.names())
	}
	r.open(v4, `{}`).works()
	r.up.await(t, http.MethodDelete, 1)
	r.up.mu.Lock()
	defer r.up.mu.Unlock()
	if n := len(r.up.live); n != 1 {
		t.Errorf("%d sessions are open at the server", n)
	}
}

// A value that is no object, and the schema that says so, are wrapped for older
// clients together (G-27).
func TestStructuredValueOfStatelessServer(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle(mcp.ToolsList, func(c *call) {
		c.result(toolsPage(`{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}`, ``))
	})
	r.up.handle(mcp.ToolsCall, func(c *call) {
		c.result(`{"resultType":"complete","content":[],"structuredContent":[1,2],` + upstreamTag + `}`)
	})
	c := r.open(v4, `{}`)
	equivalent(t, "the list", c.post(request(`1`, mcp.ToolsList, `{}`)).body, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t",`+
		`"inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"result":{"type":"array"}},"required":["result"]}}]}}`)
	equivalent(t, "the result", c.post(toolCall(`2`, "t", `1`)).body, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"[1,2]"}],"structuredContent":{"result":[1,2]}}}`)
}

// Nothing that a stateless server says may be kept is kept: every request
// reaches it, whoever asks and whatever its hints are (G-63, as no cache is
// configured).
func TestNothingIsKept(t *testing.T) {
	for _, hints := range []string{`"ttlMs":1000,"cacheScope":"public"`, `"ttlMs":1000,"cacheScope":"private"`, `"ttlMs":0,"cacheScope":"public"`} {
		r := newModernRig(t, known)
		r.up.handle(mcp.ToolsList, func(c *call) { c.result(`{"resultType":"complete","tools":[],` + hints + `}`) })
		for i, who := range []string{"alice", "alice", "bob"} {
			c := r.client()
			c.header.Set("Authorization", "Bearer "+who)
			got := c.post(standalone(`1`, mcp.ToolsList, ``, `{}`), routing(mcp.ToolsList, "")...)
			equivalent(t, "the list", got.body, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[],`+hints+`}}`)
			if n := r.up.count(mcp.ToolsList); n != i+1 {
				t.Errorf("%s: the server was asked %d times for %d", hints, n, i+1)
			}
		}
	}
}

// A request that can be read in two ways is read in none (G-67).
func TestRequestOfTwoMeanings(t *testing.T) {
	for name, params := range map[string]string{
		"two names":   `"name":"safe","name":"evil"`,
		"two escaped": `"name":"safe","n\u0061me":"evil"`,
	} {
		r := newModernRig(t, known)
		got := r.client().post(standalone(`7`, mcp.ToolsCall, params, `{}`), routing(mcp.ToolsCall, "safe")...)
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, `"code":-32600`) {
			t.Errorf("%s: answered %d %s", name, got.status, got.body)
		}
		if n := r.up.count(""); n != 0 {
			t.Errorf("%s: the server was sent %s", name, r.up.names())
		}
	}
}
