package bridge_test

import (
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Tool results that clients cannot take, and what they get instead: the same
// for every version, in a JSON body and on an event stream.
func TestReportsOfStructuredContent(t *testing.T) {
	for name, c := range map[string]struct{ in, out string }{
		"report 16": {`{"content":[],"structuredContent":{"answer":42},"isError":false}`,
			`{"content":[{"type":"text","text":"{\"answer\":42}"}],"structuredContent":{"answer":42},"isError":false}`},
		"report 17": {`{"content":[],"structuredContent":{"accounts":[{"id":1}],"total":36}}`,
			`{"content":[{"type":"text","text":"{\"accounts\":[{\"id\":1}],\"total\":36}"}],"structuredContent":{"accounts":[{"id":1}],"total":36}}`},
		"report 18": {`{"structuredContent":{"products":[]}}`,
			`{"structuredContent":{"products":[]},"content":[{"type":"text","text":"{\"products\":[]}"}]}`},
		"report 18, nothing":  {`{}`, `{"content":[]}`},
		"report 18, an error": {`{"isError":true}`, `{"isError":true,"content":[]}`},
		"report 19": {`{"structuredContent":{"t":"x"},"isError":false}`,
			`{"structuredContent":{"t":"x"},"isError":false,"content":[{"type":"text","text":"{\"t\":\"x\"}"}]}`},
		"report 21, schema unknown": {`{"content":[{"type":"text","text":"[{\"a\":1}]"}],"structuredContent":[{"a":1}]}`,
			`{"content":[{"type":"text","text":"[{\"a\":1}]"}]}`},
		"report 21, null": {`{"content":[],"structuredContent":null}`, `{"content":[]}`},
		"report 24": {`{"content":[{"type":"text","text":"{\"name\":\"x\"}"}]}`,
			`{"content":[{"type":"text","text":"{\"name\":\"x\"}"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.up.version = v3
			r.up.handle("tools/call json", func(x *call) { x.result(c.in) })
			r.up.handle("tools/call events", func(x *call) {
				x.stream()
				x.result(c.in)
			})
			for _, version := range []string{v1, v2, v3, v4} {
				peer := r.open(version, `{}`)
				want := `{"jsonrpc":"2.0","id":"a-1","result":` + c.out + `}`
				if got := peer.post(toolCall(`"a-1"`, "json", `1`)); got.body != want {
					t.Errorf("%s: %s\nwant %s", version, got.body, want)
				}
				if got := peer.post(toolCall(`"a-1"`, "events", `1`), "Accept", "text/event-stream"); onlyEvent(got.body) != want {
					t.Errorf("%s: %s\nwant %s", version, got.body, want)
				}
			}
		})
	}
}

// listed lets the server list one tool with an output schema.
func (s *server) listed(outputSchema string) {
	s.handle(mcp.ToolsList, func(c *call) {
		c.result(`{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":` + outputSchema + `}]}`)
	})
}

// A value that is no object is wrapped together with the schema that the
// client has seen (report 21).
func TestReport21WrappedWithItsSchema(t *testing.T) {
	r := newRig(t, nil)
	r.up.listed(`{"type":"array"}`)
	r.up.handle(mcp.ToolsCall, func(c *call) { c.result(`{"content":[],"structuredContent":[{"a":1}]}`) })
	c := r.open(v4, `{}`)
	const schema = `{"type":"object","properties":{"result":{"type":"array"}},"required":["result"]}`
	if got := c.post(request(`1`, mcp.ToolsList, `{}`)); got.body != `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":`+schema+`}]}}` {
		t.Errorf("%s", got.body)
	}
	want := `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"[{\"a\":1}]"}],"structuredContent":{"result":[{"a":1}]}}}`
	if got := c.post(toolCall(`2`, "t", `1`)); got.body != want {
		t.Errorf("%s\nwant %s", got.body, want)
	}
}

// Results that break their tool's schema are mended where the operator asks
// for it (reports 23 and 24, decision 16).
func TestReport23RepairOutputSchema(t *testing.T) {
	const text = `{"content":[{"type":"text","text":"{\"data\":1}"}]}`
	const wrong = `{"isError":true,"content":[{"type":"text","text":"Tool requires admin"}],"structuredContent":{"error":{"code":"forbidden"}}}`
	for repair, want := range map[bool][2]string{
		false: {text, wrong},
		true: {`{"content":[{"type":"text","text":"{\"data\":1}"}],"structuredContent":{"data":1}}`,
			`{"isError":true,"content":[{"type":"text","text":"Tool requires admin"}]}`},
	} {
		r := newRig(t, func(s *rigging) { s.Options.RepairOutputSchema = repair })
		r.up.listed(`{"type":"object","properties":{"data":{}},"required":["data"],"additionalProperties":false}`)
		answers := []string{text, wrong}
		r.up.handle(mcp.ToolsCall, func(c *call) {
			c.result(answers[0])
			answers = answers[1:]
		})
		c := r.open(v4, `{}`)
		c.post(request(`1`, mcp.ToolsList, `{}`))
		for _, result := range want {
			if got := c.post(toolCall(`2`, "t", `1`)); got.body != `{"jsonrpc":"2.0","id":2,"result":`+result+`}` {
				t.Errorf("repair %v: %s\nwant %s", repair, got.body, result)
			}
		}
	}
}
