package bridge_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// tools is a page of tools/list.
func toolsPage(tools, next string) string {
	return `{"resultType":"complete","tools":[` + tools + `]` + next + `,"ttlMs":0,"cacheScope":"private",` + upstreamTag + `}`
}

// tool is a tool with these properties in its schema.
func tool(name, properties string) string {
	return `{"name":"` + name + `","inputSchema":{"type":"object","properties":{` + properties + `}}}`
}

// named returns the headers of a request that repeat arguments.
func (r *received) named() http.Header {
	out := http.Header{}
	for name, values := range r.header {
		if strings.HasPrefix(name, mcp.HeaderParam) {
			out[strings.TrimPrefix(name, mcp.HeaderParam)] = values
		}
	}
	return out
}

const region = `"region":{"type":"string","x-mcp-header":"Region"}`

// Arguments that a schema names are repeated in headers (G-05, G-08).
func TestParameterHeaders(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle(mcp.ToolsList, func(c *call) {
		c.result(toolsPage(tool("t", region+`,"n":{"type":"integer","x-mcp-header":"N"},"b":{"type":"boolean","x-mcp-header":"B"},`+
			`"a":{"type":"object","properties":{"b":{"type":"string","x-mcp-header":"AB"}}}`), ``))
	})
	c := r.open(v4, `{}`)
	for i, x := range []struct{ arguments, want string }{
		{`{"region":"us-west1","n":42,"b":false}`, `{"Region":"us-west1","N":"42","B":"false"}`},
		{`{"region":"日本語"}`, `{"Region":"=?base64?5pel5pys6Kqe?="}`},
		{`{"region":" padded "}`, `{"Region":"=?base64?IHBhZGRlZCA=?="}`},
		{`{"region":"a\tb"}`, `{"Region":"=?base64?YQli?="}`},
		{`{"region":"us west 1"}`, `{"Region":"us west 1"}`},
		{`{"region":"=?base64?literal?="}`, `{"Region":"=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="}`},
		{`{"region":""}`, `{"Region":"=?base64??="}`},
		{`{"region":null,"n":42.0}`, `{"N":"42"}`},
		{`{"n":4.2e1}`, `{"N":"42"}`},
		{`{"n":9007199254740993}`, `{}`},
		{`{"b":"true"}`, `{"B":"true"}`},
		{`{"a":{"b":"v"}}`, `{"Ab":"v"}`},
		{`{"a":"v"}`, `{}`},
		{`{}`, `{}`},
	} {
		c.post(request(`1`, mcp.ToolsCall, `{"name":"t","arguments":`+x.arguments+`}`))
		sent := r.up.await(t, mcp.ToolsCall, i+1)
		got := mcp.NewObject()
		for name, values := range sent.named() {
			got.Set(name, mcp.Quote(strings.Join(values, "|")))
		}
		equivalent(t, x.arguments, string(got.Raw()), x.want)
		if sent.param("arguments") != x.arguments {
			t.Errorf("%s became %s", x.arguments, sent.body)
		}
	}
	if n := r.up.count(mcp.ToolsList); n != 1 {
		t.Errorf("the tools were listed %d times", n)
	}
}

// Tools whose schema names a header wrongly cannot be called over HTTP (G-07).
func TestToolsWithWrongHeaders(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle(mcp.ToolsList, func(c *call) {
		c.result(toolsPage(strings.Join([]string{
			tool("a", region),
			tool("b", `"k":{"type":"number","x-mcp-header":"K"}`),
			tool("c", `"k":{"type":"array","items":{"type":"string","x-mcp-header":"K"}}`),
			tool("d", region+`,"other":{"type":"string","x-mcp-header":"region"}`),
			tool("e", `"k":{"type":"string","x-mcp-header":""}`),
			tool("f", `"k":{"type":"string","x-mcp-header":"x y"}`),
			`{"name":"g","inputSchema":{"type":"object","anyOf":[{"properties":{"k":{"type":"string","x-mcp-header":"K"}}}]}}`,
			tool("h", `"x-mcp-header":{"type":"string"}`),
		}, ","), ``))
	})
	c := r.open(v4, `{}`)
	got := c.post(request(`1`, mcp.ToolsList, `{}`))
	equivalent(t, "the list", got.body, `{"jsonrpc":"2.0","id":1,"result":{"tools":[`+tool("a", region)+`,`+tool("h", `"x-mcp-header":{"type":"string"}`)+`]}}`)
	if n := r.heard.count("lost name-parameters pass"); n != 6 {
		t.Errorf("%d tools are reported", n)
	}
	if got := c.post(toolCall(`2`, "b", `1`)); !strings.Contains(got.body, `"code":-32602`) || r.up.count(mcp.ToolsCall) != 0 {
		t.Errorf("a hidden tool is answered %s", got.body)
	}
}

// Before the first call of an unknown tool all pages are listed, also under
// the cursor ""; a list that cannot be had does not hold the call up (G-10).
func TestToolsAreListedFirst(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle(mcp.ToolsList, func(c *call) {
		if c.Body.Has("cursor") {
			c.result(toolsPage(tool("t", `"v":{"type":"integer","x-mcp-header":"V"}`), ``))
			return
		}
		c.result(toolsPage(tool("other", region), `,"nextCursor":""`))
	})
	c := r.open(v4, `{}`)
	c.post(toolCall(`1`, "t", `5`))
	if got := r.up.await(t, mcp.ToolsCall, 1).header.Get(mcp.HeaderParam + "V"); got != "5" {
		t.Errorf("the header is %q; the server was sent %s", got, r.up.names())
	}
	if got := r.up.await(t, mcp.ToolsList, 2).param("cursor"); got != `""` {
		t.Errorf("the second page is asked for by %q", got)
	}
	r.up.handle(mcp.ToolsList, func(c *call) { c.fail(mcp.CodeInternal, "no") })
	other := r.open(v4, `{}`)
	other.echoes(1)
	if got := r.up.await(t, mcp.ToolsCall, 2).named(); len(got) != 0 {
		t.Errorf("the call has the headers %v", got)
	}
}

// A server that finds the headers wrong is asked for the schemas again, and
// the call goes out once more (G-09).
func TestHeadersAreLearnedAgain(t *testing.T) {
	for name, x := range map[string]struct {
		stubborn bool
		calls    int
		want     string
	}{
		"new schema":      {false, 2, `"content"`},
		"still not right": {true, 2, `"upstreamCode":-32020`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newModernRig(t, known)
			schema := `"region":{"type":"string"}`
			r.up.handle(mcp.ToolsList, func(c *call) {
				var page string
				c.s.set(func() { page = toolsPage(tool("t", schema), ``) })
				c.result(page)
			})
			r.up.handle(mcp.ToolsCall, func(c *call) {
				if x.stubborn || c.header.Get(mcp.HeaderParam+"Region") != "west" {
					c.refuse(http.StatusBadRequest, `{"code":-32020,"message":"Header mismatch"}`)
					return
				}
				c.modern()
			})
			c := r.open(v4, `{}`)
			c.post(request(`1`, mcp.ToolsList, `{}`))
			r.up.set(func() { schema = region })
			got := c.post(request(`2`, mcp.ToolsCall, `{"name":"t","arguments":{"region":"west"}}`))
			if got.status != http.StatusOK || !strings.Contains(got.body, x.want) {
				t.Errorf("answered %d %s", got.status, got.body)
			}
			calls := r.up.all(mcp.ToolsCall)
			if len(calls) != x.calls || calls[0].ID.Equal(calls[1].ID) {
				t.Errorf("the server was sent %s", r.up.names())
			}
			if n := r.up.count(mcp.ToolsList); n != 2 {
				t.Errorf("the tools were listed %d times", n)
			}
		})
	}
}

// A call that is cancelled is given up upstream by closing its stream (G-19).
// A client that merely loses its stream does not cancel (G-21).
func TestCancelAtStatelessServer(t *testing.T) {
	r := newModernRig(t, known)
	gone, release := make(chan struct{}), make(chan struct{})
	r.up.handle("tools/call slow", func(c *call) {
		_ = c.progress(1)
		c.wait(release)
		if c.r.Context().Err() != nil {
			close(gone)
			return
		}
		c.modern()
	})
	c := r.open(v4, `{}`)
	slow := request(`"call"`, mcp.ToolsCall, `{"name":"slow","arguments":{},"_meta":{"progressToken":"p"}}`)
	progress := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`
	s := c.stream(http.MethodPost, slow)
	s.want(progress)
	if got := c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"call"}}`); got.status != http.StatusAccepted {
		t.Errorf("the cancellation is answered %d %s", got.status, got.body)
	}
	within(t, "the end of the call upstream", gone)
	s.wantEnd()

	s = c.stream(http.MethodPost, slow)
	s.want(progress)
	s.leave()
	c.echoes(2)
	close(release)
	r.heard.await(t, "answered tools/call result", 2)
}

// A server that breaks off, answers something else or nothing, or stays
// silent, fails the call and nothing else.
func TestBrokenCallsAtStatelessServer(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	for name, x := range map[string]struct {
		answer func(*call)
		status int
	}{
		"a break":             {func(*call) { panic(http.ErrAbortHandler) }, http.StatusOK},
		"a break in a stream": {func(c *call) { c.stream(); panic(http.ErrAbortHandler) }, http.StatusOK},
		"an empty stream":     {func(c *call) { c.stream() }, http.StatusOK},
		"nothing":             {func(c *call) { c.reply(http.StatusAccepted, "", "") }, http.StatusOK},
		"a page":              {func(c *call) { c.reply(http.StatusOK, "text/html", "<html>") }, http.StatusOK},
		"no session":          {func(c *call) { c.reply(http.StatusNotFound, "", "") }, http.StatusOK},
		"garbage":             {func(c *call) { c.reply(http.StatusOK, "application/json", `{"jsonrpc":`) }, http.StatusOK},
		"busy":                {func(c *call) { c.reply(http.StatusServiceUnavailable, "", "") }, http.StatusOK},
		"silence":             {func(c *call) { c.wait(release) }, http.StatusOK},
		"no credentials":      {func(c *call) { c.reply(http.StatusUnauthorized, "", "") }, http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			r := newModernRig(t, func(s *rigging) {
				known(s)
				if name == "silence" {
					s.RequestTimeout = 50 * time.Millisecond
				}
			})
			r.up.handle("tools/call bad", x.answer)
			c := r.open(v4, `{}`)
			c.post(request(`1`, mcp.ToolsList, `{}`))
			got := c.post(toolCall(`2`, "bad", `1`))
			if got.status != x.status || x.status == http.StatusOK && !strings.Contains(got.body, `"id":2,"error":{"code":-32603`) {
				t.Errorf("answered %d %s", got.status, got.body)
			}
			if n := r.up.count(mcp.ToolsCall); n != 1 {
				t.Errorf("the call was sent %d times", n)
			}
			c.echoes(3)
		})
	}
}
