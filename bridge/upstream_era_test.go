package bridge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// everything is what a client of a handshake revision may declare.
const everything = `{"roots":{"listChanged":true},"elicitation":{},"tasks":{"list":{}},"experimental":{"a":{},"b":1}}`

// A client of a handshake revision opens a session with the bridge; of a
// server without handshake the bridge asks what it is (G-01, G-02).
func TestHandshakeBeforeStatelessServer(t *testing.T) {
	for asked, want := range map[string]string{v1: v1, v2: v2, v3: v3, v4: v4, v5: v4, "2020-01-01": v1} {
		t.Run(asked, func(t *testing.T) {
			r := newModernRig(t, known)
			r.up.capabilities = `{"tools":{"listChanged":true},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
			got := r.client().post(initializeWith("0", asked, everything))
			if got.status != http.StatusOK || got.header.Get(mcp.HeaderSession) == "" {
				t.Fatalf("answered %d %s", got.status, got.body)
			}
			equivalent(t, "the answer", got.body, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"`+want+
				`","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"scripted","version":"1"},"instructions":"hi"}}`)
			probe := r.up.await(t, mcp.Discover, 1)
			equivalent(t, "the client", probe.stamp(mcp.MetaClientInfo), `{"name":"tester","version":"1"}`)
			capabilities := `{"roots":{},"elicitation":{},"experimental":{"a":{}}}`
			if want < v3 { // whose revisions have no elicitation
				capabilities = `{"roots":{},"experimental":{"a":{}}}`
			}
			equivalent(t, "what is declared", probe.stamp(mcp.MetaCapabilities), capabilities)
			if got := r.up.names(); got != mcp.Discover {
				t.Errorf("the server was sent %s", got)
			}
		})
	}
}

// A server that does not say who it is still has a name (G-01).
func TestHandshakeWithNamelessServer(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle(mcp.Discover, func(c *call) {
		c.result(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"public"}`)
	})
	got := r.client().post(initializeWith("0", v4, `{}`))
	equivalent(t, "the answer", got.body, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"`+v4+`","capabilities":{},"serverInfo":{"name":"upstream","version":"0"}}}`)
}

// A server that nobody could ask is an error of the bridge's, and none that
// says that a session is gone; who must authenticate is told so.
func TestHandshakeThatDiscoveryRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*call)
		status int
		want   string
	}{
		"401": {func(c *call) {
			c.w.Header().Set("Www-Authenticate", `Bearer realm="x"`)
			c.reply(http.StatusUnauthorized, "", "")
		}, http.StatusUnauthorized, `"error"`},
		"404":      {func(c *call) { c.reply(http.StatusNotFound, "text/plain", "nope") }, http.StatusOK, `"code":-32603`},
		"503":      {func(c *call) { c.reply(http.StatusServiceUnavailable, "", "") }, http.StatusOK, `"code":-32603`},
		"a break":  {func(c *call) { panic(http.ErrAbortHandler) }, http.StatusOK, `"code":-32603`},
		"an error": {func(c *call) { c.refuse(http.StatusBadRequest, `{"code":-32020,"message":"m"}`) }, http.StatusOK, `"code":-32603`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newModernRig(t, known)
			r.up.handle(mcp.Discover, c.answer)
			got := r.client().post(initializeWith("5", v4, `{}`))
			if got.status != c.status || !strings.Contains(got.body, c.want) || got.header.Get(mcp.HeaderSession) != "" {
				t.Errorf("answered %d %s", got.status, got.body)
			}
			if name == "401" && got.header.Get("Www-Authenticate") != `Bearer realm="x"` {
				t.Errorf("the headers are %v", got.header)
			}
			if name != "401" && !strings.Contains(got.body, `"id":5`) {
				t.Errorf("it answers nothing: %s", got.body)
			}
		})
	}
}

// What only a session has is answered by the bridge (G-03).
func TestSessionIsTheBridges(t *testing.T) {
	r := newModernRig(t, known)
	r.up.capabilities = `{"logging":{}}` // nothing to listen for
	c := r.open(v4, `{}`)
	before := r.up.count("")
	for _, x := range []struct{ request, want string }{
		{request(`"p"`, mcp.Ping, `{}`), `{"jsonrpc":"2.0","id":"p","result":{}}`},
		{request(`1`, mcp.SetLevel, `{"level":"debug"}`), `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{request(`2`, mcp.SetLevel, `{"level":"loud"}`), `"code":-32602`},
		{request(`3`, mcp.TasksList, `{}`), `"code":-32601`},
	} {
		if got := c.post(x.request); got.status != http.StatusOK || !strings.Contains(got.body, x.want) {
			t.Errorf("%s is answered %d %s", x.request, got.status, got.body)
		}
	}
	for _, m := range []string{
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"gone"}}`,
	} {
		if got := c.post(m); got.status != http.StatusAccepted {
			t.Errorf("%s is answered %d %s", m, got.status, got.body)
		}
	}
	if r.up.count("") != before {
		t.Errorf("the server was sent %s", r.up.names())
	}
	if got := c.do(http.MethodDelete, ""); got.status != http.StatusNoContent {
		t.Errorf("the session ends with %d %s", got.status, got.body)
	}
	if got := c.post(request(`4`, mcp.Ping, `{}`)); got.status != http.StatusNotFound {
		t.Errorf("after its end: %d %s", got.status, got.body)
	}
}

// Every request says who asks and how verbose the server may be; a client
// cannot say it for the bridge, and sees nothing of it (G-04).
func TestStampedRequest(t *testing.T) {
	r := newModernRig(t, known)
	c := r.open(v4, `{"sampling":{"tools":{}},"roots":{}}`)
	c.post(request(`1`, mcp.SetLevel, `{"level":"debug"}`))
	got := c.post(request(`7`, mcp.ToolsList, `{"cursor":"","_meta":{"progressToken":7,"io.modelcontextprotocol/clientInfo":{"name":"spoof","version":"9"},`+
		`"io.modelcontextprotocol/related-task":{"taskId":"x"},"traceparent":"00-ab","vendor/a":[1.10]}}`), mcp.HeaderParam+"Region", "spoofed")
	got.check(t, http.StatusOK, `{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}`)
	list := r.up.await(t, mcp.ToolsList, 1)
	token, _ := list.ProgressToken()
	equivalent(t, "what is sent", list.param("_meta"), `{"progressToken":`+token.String()+`,"traceparent":"00-ab","vendor/a":[1.10],`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"tester","version":"1"},`+
		`"io.modelcontextprotocol/clientCapabilities":{"sampling":{"tools":{}},"roots":{}},"io.modelcontextprotocol/logLevel":"debug"}`)
	if list.param("cursor") != `""` || !strings.Contains(list.body, `[1.10]`) {
		t.Errorf("the server was sent %s", list.body)
	}
	if h := list.header; h.Get(mcp.HeaderParam+"Region") != "" {
		t.Errorf("a client's own header reached the server: %v", h)
	}
}

// Names that are no plain text are encoded in headers (G-06).
func TestNameHeader(t *testing.T) {
	r := newModernRig(t, known)
	c := r.open(v4, `{}`)
	for _, x := range []struct{ method, params, want string }{
		{mcp.ResourcesRead, `{"uri":"file:///tmp/ü.txt"}`, "=?base64?ZmlsZTovLy90bXAvw7wudHh0?="},
		{mcp.PromptsGet, `{"name":"größe"}`, "=?base64?Z3LDtsOfZQ==?="},
		{mcp.PromptsGet, `{"name":"gr"}`, "gr"},
	} {
		n := r.up.count(x.method) + 1
		c.post(request(`1`, x.method, x.params))
		if got := r.up.await(t, x.method, n).header.Get(mcp.HeaderName); got != x.want {
			t.Errorf("%s %s has the header %q", x.method, x.params, got)
		}
	}
}

// A method that the server does not have is an error, not the end of the
// session (G-22); what is missing, or needs what nobody declared, has the form
// that older clients know (G-16, G-28, G-29, report 158).
func TestErrorsOfStatelessServer(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle("tools/call needy", func(c *call) {
		c.refuse(http.StatusBadRequest, `{"code":-32021,"message":"m","data":{"requiredCapabilities":{"sampling":{}}}}`)
	})
	r.up.handle("tools/call odd", func(c *call) { c.result(`{"resultType":"weird","content":[]}`) })
	r.up.handle("tools/call plain", func(c *call) { c.result(`{"content":[]}`) })
	r.up.handle(mcp.ResourcesRead, func(c *call) {
		c.refuse(http.StatusBadRequest, `{"code":-32602,"message":"Resource not found","data":{"uri":"a:b"}}`)
	})
	r.up.handle(mcp.Complete, func(c *call) { c.round(`{"q":{"method":"roots/list"}}`, ``) })
	c := r.open(v4, `{}`)
	for _, x := range []struct{ request, want string }{
		{request(`1`, "vendor/method", `{}`), `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`},
		{toolCall(`2`, "needy", `1`), `"isError":true`},
		{toolCall(`3`, "odd", `1`), `"code":-32603`},
		{toolCall(`4`, "plain", `1`), `{"jsonrpc":"2.0","id":4,"result":{"content":[]}}`},
		{request(`5`, mcp.ResourcesRead, `{"uri":"a:b"}`), `{"jsonrpc":"2.0","id":5,"error":{"code":-32002,"message":"Resource not found","data":{"uri":"a:b"}}}`},
		{request(`6`, mcp.ResourcesRead, `{"uri":"a:c"}`), `"code":-32602`},
		{request(`7`, mcp.Complete, `{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"x","value":""}}`), `"code":-32603`},
	} {
		if got := c.post(x.request); got.status != http.StatusOK || !strings.Contains(got.body, x.want) {
			t.Errorf("%s is answered %d %s", x.request, got.status, got.body)
		}
	}
	c.echoes(8)
}
