package bridge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// A stateless client on a pipe has no headers; a server over HTTP gets them
// all, made of what the client said (G-65, D.8, report 150).
func TestPipeBeforeHTTP(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle(mcp.ToolsList, func(c *call) { c.result(toolsPage(tool("Grüße/日本", region)+`,`+tool("x", region), ``)) })
	p := r.pipe()
	for _, x := range []struct{ method, params, name, parameter string }{
		{mcp.Discover, ``, ``, ``},
		{mcp.ToolsCall, `"name":"Grüße/日本","arguments":{"region":"us-west1"}`, `=?base64?R3LDvMOfZS/ml6XmnKw=?=`, `us-west1`},
		{mcp.ResourcesRead, `"uri":"file:///a b"`, `file:///a b`, ``},
		{mcp.PromptsGet, `"name":"=?base64?eA==?="`, `=?base64?PT9iYXNlNjQ/ZUE9PT89?=`, ``},
	} {
		p.say(standalone(`"`+x.method+`"`, x.method, x.params, `{}`))
		if got := p.hear(); !strings.Contains(got, `"id":"`+x.method+`"`) {
			t.Errorf("%s is answered %s", x.method, got)
		}
		sent := r.up.await(t, x.method, 1)
		if h := sent.header; h.Get(mcp.HeaderName) != x.name || h.Get(mcp.HeaderParam+"Region") != x.parameter {
			t.Errorf("%s has the headers %v", x.method, h) // the others the server checks itself
		}
	}
}

// A client that cancels on a pipe has the exchange closed, and hears no more of
// it (G-65).
func TestPipeCancelsBeforeHTTP(t *testing.T) {
	r := newModernRig(t, known)
	gone := make(chan struct{})
	r.up.handle("tools/call slow", func(c *call) {
		c.stream()
		c.wait(nil)
		close(gone)
		c.result(`{"resultType":"complete","content":[]}`)
	})
	p := r.pipe()
	p.say(standalone(`1`, mcp.ToolsCall, `"name":"slow"`, `{}`))
	r.up.await(t, mcp.ToolsCall, 1)
	p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	within(t, "the end of the exchange", gone)
	p.say(standalone(`2`, mcp.ToolsCall, `"name":"t","arguments":{"v":1}`, `{}`))
	if got := p.hear(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":2,"result"`) {
		t.Errorf("the next message is %s", got)
	}
}

// An initialize is one but for a request that is stateless in header and body
// (G-78).
func TestWhatIsAHandshake(t *testing.T) {
	transporttest.Goroutines(t)
	const plain = `"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}`
	for name, x := range map[string]struct {
		body   string
		header []string
		status int
		want   string
	}{
		"header only":     {request(`7`, mcp.Initialize, `{`+plain+`}`), []string{mcp.HeaderVersion, v5}, 400, `"id":7,"error":{"code":-32020`},
		"header and body": {standalone(`7`, mcp.Initialize, plain, `{}`), routing(mcp.Initialize, ""), 404, `"id":7,"error":{"code":-32601`},
		"body only":       {standalone(`7`, mcp.Initialize, plain, `{}`), nil, 200, `"protocolVersion":"2025-11-25"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			got := r.client().post(x.body, x.header...)
			if got.status != x.status || !strings.Contains(got.body, x.want) {
				t.Errorf("answered %d %s", got.status, got.body)
			}
			opened := r.up.count(mcp.Initialize) == 1
			if opened != (x.status == http.StatusOK) {
				t.Errorf("the server was sent %s", r.up.names())
			}
			if opened && strings.Contains(r.up.all(mcp.Initialize)[0].body, mcp.MetaPrefix) {
				t.Errorf("the handshake was %s", r.up.all(mcp.Initialize)[0].body)
			}
		})
	}
}
