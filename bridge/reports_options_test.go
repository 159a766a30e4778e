package bridge_test

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

func with(change func(*mcp.Options)) func(*rigging) {
	return func(s *rigging) { change(&s.Options) }
}

// A client that ignores cursors sees the whole list where the route says so,
// and all of it or an error (report 137).
func TestReport137Flattened(t *testing.T) {
	r := newRig(t, with(func(o *mcp.Options) { o.FlattenLists = true }))
	var fails atomic.Int64
	fails.Store(-1)
	r.up.handle(mcp.ToolsList, func(c *call) {
		at, _ := strconv.Atoi(c.Body.Text("cursor"))
		if int64(at) == fails.Load() {
			c.reply(http.StatusOK, "application/json", `{"jsonrpc":"2.0","id":`+c.ID.String()+`,"error":{"code":-32602,"message":"Invalid cursor"}}`)
			return
		}
		next := ""
		if at < 30 {
			next = `,"nextCursor":"` + strconv.Itoa(at+1) + `"`
		}
		c.result(`{"tools":[{"name":"t` + strconv.Itoa(at) + `","inputSchema":{"type":"object"}},{"name":"same","inputSchema":{"type":"object"}}]` + next + `}`)
	})
	c := r.open(v1, `{}`)
	got := c.post(request(`1`, mcp.ToolsList, `{}`))
	if n := strings.Count(got.body, `"name":"t`); n != 31 || strings.Count(got.body, `"same"`) != 1 || strings.Contains(got.body, "nextCursor") {
		t.Errorf("%d tools: %s", n, got.body)
	}
	if i, j := strings.Index(got.body, `"t0"`), strings.Index(got.body, `"t30"`); i < 0 || i > strings.Index(got.body, `"same"`) || j < strings.Index(got.body, `"t29"`) {
		t.Errorf("out of order: %s", got.body)
	}
	fails.Store(7)
	c.post(request(`2`, mcp.ToolsList, `{}`)).check(t, http.StatusOK, `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Invalid cursor"}}`)
}

const awkward = `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"ui.pressButton","inputSchema":{"type":"object"}},{"name":"ui_pressButton","inputSchema":{"type":"object"}},{"name":" Tool ","title":"T","inputSchema":{"type":"object"}}]}`

// Names that all clients take lead back to the server's own, which is also what
// the header names (reports 179 to 181).
func TestReport179SafeNames(t *testing.T) {
	r := newModernRig(t, func(s *rigging) {
		known(s)
		s.Options.SafeNames = true
	})
	r.up.handle(mcp.ToolsList, func(c *call) { c.result(awkward) })
	r.up.handle(mcp.ToolsCall, func(c *call) {
		c.result(`{"resultType":"complete","content":[{"type":"text","text":` + string(mcp.Quote(c.Body.Text("name")+"|"+c.header.Get(mcp.HeaderName))) + `}]}`)
	})
	hashed := "ui_pressButton_356d9269"
	c := r.open(v4, `{}`)
	c.post(request(`1`, mcp.ToolsList, `{}`)).check(t, http.StatusOK, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"`+hashed+`","inputSchema":{"type":"object"},"title":"ui.pressButton"},`+
		`{"name":"ui_pressButton","inputSchema":{"type":"object"}},{"name":"_Tool_","title":"T","inputSchema":{"type":"object"}}]}}`)
	fresh := r.open(v4, `{}`) // which knows the names from before
	for _, who := range []*client{c, fresh} {
		for name, want := range map[string]string{
			hashed: "ui.pressButton|ui.pressButton", "ui_pressButton": "ui_pressButton|ui_pressButton",
			"_Tool_": " Tool |=?base64?IFRvb2wg?=", "ui.pressButton": "ui.pressButton|ui.pressButton", "none": "none|none",
		} {
			if got := who.post(request(`2`, mcp.ToolsCall, `{"name":"`+name+`"}`)); !strings.Contains(got.body, string(mcp.Quote(want))) {
				t.Errorf("%s leads to %s", name, got.body)
			}
		}
	}
	alone := r.client() // a conversation for each request
	got := alone.post(standalone(`3`, mcp.ToolsCall, `"name":"`+hashed+`"`, `{}`), routing(mcp.ToolsCall, hashed)...)
	if !strings.Contains(got.body, `"ui.pressButton|ui.pressButton"`) {
		t.Errorf("of the stateless revision it leads to %s", got.body)
	}
	got = alone.post(standalone(`4`, mcp.ToolsCall, `"name":"`+hashed+`"`, `{}`), routing(mcp.ToolsCall, "ui.pressButton")...)
	if got.status != http.StatusBadRequest {
		t.Errorf("a header that names another is answered %d %s", got.status, got.body)
	}
}

// The code of a missing resource toward a client with sessions is the
// operator's choice (report 174).
func TestReport174Code(t *testing.T) {
	for code, want := range map[mcp.NotFoundCode][2]string{
		"": {"-32002", "-32602"}, mcp.NotFoundAuto: {"-32002", "-32602"},
		mcp.NotFoundResource: {"-32002", "-32002"}, mcp.NotFoundParams: {"-32602", "-32602"},
	} {
		t.Run("as "+string(code), func(t *testing.T) {
			r := newEraRig(t, stateless, func(s *rigging) {
				s.Era = negotiate.Stateless
				s.Options.NotFoundCode = code
			})
			r.up.handle(mcp.ResourcesRead, func(c *call) {
				data := ""
				if uri := c.Body.Text("uri"); uri == "x://named" {
					data = `,"data":{"uri":"` + uri + `"}`
				}
				c.refuse(http.StatusBadRequest, `{"code":-32602,"message":"Resource not found"`+data+`}`)
			})
			c := r.open(v4, `{}`)
			for i, uri := range []string{"x://named", "x://nope"} {
				if got := c.post(request(`1`, mcp.ResourcesRead, `{"uri":"`+uri+`"}`)); !strings.Contains(got.body, `"code":`+want[i]) {
					t.Errorf("%q: %s is answered %s", code, uri, got.body)
				}
			}
			got := r.client().post(standalone(`2`, mcp.ResourcesRead, `"uri":"x://named"`, `{}`), routing(mcp.ResourcesRead, "x://named")...)
			if !strings.Contains(got.body, `"code":-32602`) { // MUST NOT be another there
				t.Errorf("%q: of the stateless revision %s", code, got.body)
			}
		})
	}
}
