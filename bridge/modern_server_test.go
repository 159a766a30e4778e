package bridge_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// upstreamTag is what a stateless server says of itself with every answer.
const upstreamTag = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"scripted","version":"1"}}`

const modernCapabilities = `{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{}}`

// newModernRig builds a rig before a server that speaks the stateless revision
// and no other; the bridge must find that out, unless change tells it.
func newModernRig(t *testing.T, change func(*rigging)) *rig {
	t.Helper()
	return newEraRig(t, stateless, change)
}

// newEraRig builds a rig before a server whose requests go to first.
func newEraRig(t *testing.T, first func(*call) bool, change func(*rigging)) *rig {
	t.Helper()
	transporttest.Goroutines(t)
	up := newServer(t)
	up.capabilities, up.first = modernCapabilities, first
	return newRigBefore(t, up, up.URL, func(s *rigging) {
		s.Era = negotiate.Unknown
		if change != nil {
			change(s)
		}
	})
}

// known tells a bridge that its upstream is stateless.
func known(s *rigging) { s.Era = negotiate.Stateless }

// stateless answers as a server of the stateless revision. It fails the test
// for what such a server must never be sent.
func stateless(c *call) bool {
	switch {
	case c.verb != http.MethodPost:
		c.s.t.Errorf("the bridge sent %s", c.verb)
		c.w.WriteHeader(http.StatusMethodNotAllowed)
	case c.Kind == mcp.Request && c.Method == mcp.Initialize:
		c.refuse(http.StatusNotFound, `{"code":-32601,"message":"Method not found"}`)
	case c.Kind != mcp.Request:
		c.s.t.Errorf("the bridge sent %s", c.body)
		c.w.WriteHeader(http.StatusAccepted)
	default:
		c.checkStamps()
		c.s.mu.Lock()
		f := c.s.on[c.Method]
		if tool := c.s.on[c.Method+" "+c.Body.Text("name")]; tool != nil {
			f = tool
		}
		c.s.mu.Unlock()
		if f == nil {
			f = (*call).modern
		}
		f(c)
	}
	return true
}

// dual answers stateless requests as stateless does, and leaves the others to
// the server's side with sessions.
func dual(c *call) bool {
	if c.Message != nil && negotiate.Claims(c.Message) {
		return stateless(c)
	}
	return false
}

// checkStamps holds what every request must carry, in header and body.
func (c *call) checkStamps() {
	t, meta := c.s.t, c.Meta()
	if c.session != "" {
		t.Errorf("%s names the session %s", c.body, c.session)
	}
	if got := c.header.Values(mcp.HeaderVersion); len(got) != 1 || got[0] != v5 || meta.Text(mcp.MetaVersion) != v5 {
		t.Errorf("%s has the version header %q", c.body, got)
	}
	if got := c.header.Values(mcp.HeaderMethod); len(got) != 1 || got[0] != c.Method {
		t.Errorf("%s has the method header %q", c.body, got)
	}
	member := map[string]string{mcp.ToolsCall: "name", mcp.PromptsGet: "name", mcp.ResourcesRead: "uri"}[c.Method]
	if got := c.header.Values(mcp.HeaderName); member == "" && len(got) != 0 || member != "" && len(got) != 1 {
		t.Errorf("%s has the name header %q", c.body, got)
	}
	if capabilities, _ := meta.Get(mcp.MetaCapabilities); !capabilities.IsObject() {
		t.Errorf("%s says nothing of the client's capabilities", c.body)
	}
}

// modern answers what no test scripted.
func (c *call) modern() {
	switch c.Method {
	case mcp.Discover:
		c.discovered(`["2026-07-28"]`)
	case mcp.ToolsList:
		c.result(`{"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object"}}],"ttlMs":5000,"cacheScope":"public",` + upstreamTag + `}`)
	case mcp.ToolsCall:
		arguments, _ := c.Body.Get("arguments")
		c.result(`{"resultType":"complete","content":[{"type":"text","text":` + string(mcp.Quote(string(arguments))) + `}],` + upstreamTag + `}`)
	case mcp.Listen:
		notifications, _ := c.Body.Get("notifications")
		c.acknowledge(string(notifications))
		c.wait(nil)
	default:
		c.refuse(http.StatusNotFound, `{"code":-32601,"message":"Method not found"}`)
	}
}

// discovered answers a discovery with these versions.
func (c *call) discovered(versions string) {
	c.result(`{"resultType":"complete","supportedVersions":` + versions + `,"capabilities":` + c.s.capabilities +
		`,"instructions":"hi","ttlMs":0,"cacheScope":"public",` + upstreamTag + `}`)
}

// refuse answers with an error under an HTTP status.
func (c *call) refuse(status int, err string) {
	c.reply(status, "application/json", `{"jsonrpc":"2.0","id":`+c.ID.String()+`,"error":`+err+`}`)
}

// acknowledge begins the stream of a listen.
func (c *call) acknowledge(notifications string) {
	_ = c.notify(mcp.ListenAcknowledged, `{`+c.subscription()+`,"notifications":`+notifications+`}`)
}

// subscription marks what belongs to a listen.
func (c *call) subscription() string {
	return `"_meta":{"io.modelcontextprotocol/subscriptionId":` + c.ID.String() + `}`
}

// round answers a call with a question.
func (c *call) round(questions, state string) {
	if state != "" {
		state = `,"requestState":` + state
	}
	c.result(`{"resultType":"input_required","inputRequests":` + questions + state + `,` + upstreamTag + `}`)
}

// param returns a member of a request's params, as it was written.
func (r *received) param(name string) string {
	v, _ := r.Body.Get(name)
	return string(v)
}

// stamp returns a member of a request's _meta, as it was written.
func (r *received) stamp(name string) string {
	v, _ := r.Meta().Get(name)
	return string(v)
}

// equivalent fails the test unless a value means the same as want.
func equivalent(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	a, err := mcp.ParseRaw([]byte(got))
	b, wrong := mcp.ParseRaw([]byte(want))
	if err != nil || wrong != nil || !mcp.Equivalent(a, b) {
		t.Errorf("%s is %s\nwant %s", what, got, want)
	}
}

// echoes fails the test unless a session serves a call.
func (c *client) echoes(id int) {
	c.t.Helper()
	r := c.post(toolCall(strconv.Itoa(id), "t", `"there"`))
	if want := echoed(strconv.Itoa(id), `"there"`); r.status != http.StatusOK || r.body != want {
		c.t.Errorf("the call %d is answered %d %.300s", id, r.status, r.body)
	}
}

// modernCall makes a stateless call of the tool that echoes.
func (c *client) modernCall(id string) (reply, error) {
	return c.try(http.MethodPost, standalone(id, mcp.ToolsCall, `"name":"t","arguments":{"v":1}`, `{}`), routing(mcp.ToolsCall, "t")...)
}

// served reports whether an answer is that of the tool that echoes.
func (r reply) served() bool {
	return r.status == http.StatusOK && strings.Contains(r.body, `"text":"{\"v\":1}"`)
}
