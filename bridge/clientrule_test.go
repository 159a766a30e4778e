package bridge_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// altered is a rule's options: the defaults with a change.
func altered(change func(*mcp.Options)) mcp.Options {
	o := mcp.DefaultOptions()
	change(&o)
	return o
}

// calling is an initialize of a client that calls itself so.
func calling(name, version, protocol string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":%q,"version":%q}}}`, protocol, name, version)
}

// rules are two for clients of one name and one for a protocol version.
func rules(s *rigging) {
	s.Clients = []bridge.ClientRule{
		{Match: mcp.ClientMatch{Name: "strict-*", Version: ">=2"}, Options: altered(func(o *mcp.Options) { o.InjectText = mcp.InjectNever })},
		{
			Match: mcp.ClientMatch{Name: "strict-*"}, Options: altered(func(o *mcp.Options) { o.StripOutputSchema = true }),
			UpstreamVersions: []mcp.Version{v2},
		},
		{Match: mcp.ClientMatch{Name: "hasty"}, Options: mcp.DefaultOptions(), RequestTimeout: 50 * time.Millisecond},
		{Match: mcp.ClientMatch{Protocol: "<=" + v2}, Options: altered(func(o *mcp.Options) { o.SafeNames = true })},
	}
}

const schemed = `{"tools":[{"name":"a.b","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}`

// observe tells which rule a list and a call show: the text of structured
// content, an output schema, a name as it is.
func observe(list, call string) string {
	return fmt.Sprintf("text %v, schema %v, name %v", strings.Contains(call, `"text"`), strings.Contains(list, "outputSchema"), strings.Contains(list, "a.b\",\"inputSchema"))
}

// The first rule that fits a client decides how it is served, for as long as
// its conversation lasts, on every transport and of either era.
func TestClientRules(t *testing.T) {
	r := newRig(t, rules)
	r.up.handle(mcp.ToolsList, func(c *call) { c.result(schemed) })
	r.up.handle("tools/call s", func(c *call) { c.result(`{"content":[],"structuredContent":{"n":1}}`) })
	const all = "text true, schema true, name true"
	for _, tc := range []struct{ name, version, protocol, want string }{
		{"strict-one", "2.1", v3, "text false, schema true, name true"},
		{"strict-one", "1.9", v3, "text true, schema false, name true"},
		{"strict-one", "next", v3, "text true, schema false, name true"},
		{"strict-one", "2.1", v2, "text false, schema true, name true"}, // the first, though the last fits
		{"other", "2.1", v2, "text true, schema true, name false"},
		{"other", "2.1", v4, all},
		{"", "", v4, all},
	} {
		list, invoke := request(`1`, mcp.ToolsList, `{}`), request(`2`, mcp.ToolsCall, `{"name":"s","arguments":{}}`)
		c := r.client()
		opened := c.post(calling(tc.name, tc.version, tc.protocol))
		c.session = opened.header.Get(mcp.HeaderSession)
		c.post(initialized)
		if got := observe(c.post(list).body, c.post(invoke).body); got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
		p := r.pipe()
		p.say(calling(tc.name, tc.version, tc.protocol))
		p.hear()
		p.say(list)
		listed := p.hear()
		p.say(invoke)
		if got := observe(listed, p.hear()); got != tc.want {
			t.Errorf("%+v on a pipe: %s", tc, got)
		}
	}
	for name, want := range map[string]string{"strict-x": "text true, schema false, name true", "other": all} {
		named := func(id, method, params string) string {
			return strings.Replace(standalone(id, method, params, `{}`), `clientInfo":{"name":"c"`, `clientInfo":{"name":"`+name+`"`, 1)
		}
		c := r.client()
		c.header.Set("Authorization", "Bearer a") // which lets requests share a conversation
		list := c.post(named(`1`, mcp.ToolsList, ""), routing(mcp.ToolsList, "")...)
		invoke := c.post(named(`2`, mcp.ToolsCall, `"name":"s","arguments":{}`), routing(mcp.ToolsCall, "s")...)
		if got := observe(list.body, invoke.body); list.status != http.StatusOK || got != want {
			t.Errorf("%s of the stateless revision: %s\n%s\n%s", name, got, list.body, invoke.body)
		}
	}
}

// What else a rule has: the patience for a request, and what is offered to the
// server, also when its session must be opened again.
func TestClientRuleBesidesOptions(t *testing.T) {
	r := newRig(t, rules)
	c := r.client()
	c.session = c.post(calling("strict-one", "1", v4)).header.Get(mcp.HeaderSession)
	if got := r.up.await(t, mcp.Initialize, 1).Body.Text("protocolVersion"); got != v2 {
		t.Errorf("offered %s", got)
	}
	r.up.forget()
	c.works()
	if got := r.up.await(t, mcp.Initialize, 2).Body.Text("protocolVersion"); got != v2 {
		t.Errorf("offered %s again", got)
	}
	release := make(chan struct{})
	defer close(release)
	handler, _ := hold(release)
	r.up.handle("tools/call slow", handler)
	hasty := r.client()
	hasty.session = hasty.post(calling("hasty", "1", v4)).header.Get(mcp.HeaderSession)
	if got := hasty.post(toolCall(`1`, "slow", `1`)); !strings.Contains(got.body, "did not answer within 50ms") {
		t.Errorf("answered %s", got.body)
	}
	other := r.open(v4, `{}`)
	if got := r.up.await(t, mcp.Initialize, 4).Body.Text("protocolVersion"); got != v4 {
		t.Errorf("another client's is offered %s", got)
	}
	other.works()
}

func TestClientRuleValid(t *testing.T) {
	good := bridge.ClientRule{Match: mcp.ClientMatch{Name: "x"}, Options: mcp.DefaultOptions()}
	if err := good.Valid(rewrite.Standard()); err != nil {
		t.Error(err)
	}
	for field, change := range map[string]func(*bridge.ClientRule){
		"name":              func(r *bridge.ClientRule) { r.Match.Name = "" },
		"version":           func(r *bridge.ClientRule) { r.Match.Version = ">=" },
		"protocol":          func(r *bridge.ClientRule) { r.Match.Protocol = ">2" },
		"request_timeout":   func(r *bridge.ClientRule) { r.RequestTimeout = -1 },
		"upstream_versions": func(r *bridge.ClientRule) { r.UpstreamVersions = []mcp.Version{v5} },
	} {
		rule := good
		change(&rule)
		var wrong *mcp.FieldError
		if err := rule.Valid(rewrite.Standard()); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	disordered, unset := good, good
	disordered.UpstreamVersions = []mcp.Version{v3, v2}
	unset.Options = mcp.Options{}
	for _, r := range []bridge.ClientRule{disordered, unset} {
		if r.Valid(rewrite.Standard()) == nil {
			t.Errorf("%+v is valid", r)
		}
	}
}
