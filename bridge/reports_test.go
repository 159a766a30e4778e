package bridge_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// A client that declared elicitation and refuses it is not asked again; one
// that declared nothing is never asked (reports 106 and 107).
func TestReport106And107(t *testing.T) {
	r := newRig(t, nil)
	r.up.version = v3
	r.up.handle("tools/call ask", asking(mcp.Elicit, elicit))
	c := r.open(v3, `{"elicitation":{}}`)
	s := c.stream(http.MethodPost, toolCall(`1`, "ask", `1`))
	c.post(answerTo(t, s.next(), `"error":{"code":-32601,"message":"Method not found"}`))
	const cancelled = `"text":"{\"action\":\"cancel\"}"`
	if got := s.next(); !strings.Contains(got, cancelled) {
		t.Errorf("the server hears %s", got)
	}
	for _, peer := range []*client{c, r.open(v3, `{}`)} {
		if got := peer.post(toolCall(`2`, "ask", `1`)); !strings.Contains(got.body, cancelled) {
			t.Errorf("a client that cannot be asked gets %s", got.body)
		}
	}
}

// Silence is no answer either: after a while the question is taken back.
func TestReport107Silence(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.Options.ElicitationTimeout = 50 * time.Millisecond })
	r.up.handle("tools/call ask", asking(mcp.Elicit, elicit))
	s := r.open(v4, `{"elicitation":{}}`).stream(http.MethodPost, toolCall(`1`, "ask", `1`))
	id := idOf(t, s.next())
	if got := s.next(); !strings.Contains(got, mcp.Cancelled) || !strings.Contains(got, `"requestId":`+id) {
		t.Errorf("the client is not told: %s", got)
	}
	if got := s.next(); !strings.Contains(got, `{\"action\":\"cancel\"}`) {
		t.Errorf("the server hears %s", got)
	}
}

// A question without a stream of its own goes out on that of the call in
// flight, where the client has no other (report 109).
func TestReport109(t *testing.T) {
	r := newRig(t, nil)
	asked := make(chan (<-chan *mcp.Message), 1)
	listening := make(chan *call, 1)
	r.up.handle("GET", func(c *call) {
		c.stream()
		listening <- c
		<-c.r.Context().Done()
	})
	r.up.handle("tools/call ask", func(c *call) {
		_, answer := (<-listening).post(mcp.Elicit, elicit)
		asked <- answer
		m := <-answer
		c.text(string(m.Body.Raw()))
	})
	c := r.open(v4, `{"elicitation":{}}`)
	s := c.stream(http.MethodPost, toolCall(`5`, "ask", `1`))
	c.post(answerTo(t, s.next(), `"result":{"action":"decline"}`))
	<-asked
	if got := s.next(); !strings.Contains(got, `"id":5,"result"`) {
		t.Errorf("the call is answered %s", got)
	}
}

// What people answer reaches the server in a form that it takes (report 113).
func TestReport113(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle("tools/call ask", asking(mcp.Elicit, elicit))
	c := r.open(v4, `{"elicitation":{}}`)
	for answer, heard := range map[string]string{
		`{"action":"cancel"}`:                          `{"action":"cancel"}`,
		`{"action":"decline","content":{}}`:            `{"action":"decline"}`,
		`{"action":"cancel","content":null}`:           `{"action":"cancel"}`,
		`{"action":"accept"}`:                          `{"action":"accept","content":{}}`,
		`{"action":"reject"}`:                          `{"action":"decline"}`,
		`{"action":"whatever"}`:                        `{"action":"cancel"}`,
		`{"action":"accept","content":{"n":1.0}}`:      `{"action":"accept","content":{"n":1.0}}`,
		`{"action":"accept","content":{"o":{"x":[]}}}`: `{"action":"accept","content":{"o":{"x":[]}}}`,
	} {
		s := c.stream(http.MethodPost, toolCall(`1`, "ask", `1`))
		c.post(answerTo(t, s.next(), `"result":`+answer))
		if got := s.next(); !strings.Contains(got, string(mcp.Quote(heard))) {
			t.Errorf("%s arrives as %s, not %s", answer, got, heard)
		}
	}
}

// A block that an older client would throw on is text in its place; a newer
// one gets it as it is (report 128).
func TestReport128(t *testing.T) {
	const link = `{"type":"resource_link","uri":"https://h.example/a.png","name":"a.png","mimeType":"image/png","title":"A"}`
	const text = `{"type":"text","text":"Resource link: A (a.png)\nURI: https://h.example/a.png\nMIME type: image/png"}`
	for version, block := range map[string]string{v1: text, v2: text, v3: link, v4: link} {
		r := newRig(t, nil)
		r.up.version = v3
		r.up.handle("tools/call t", func(c *call) { c.result(`{"content":[{"type":"text","text":"done"},` + link + `]}`) })
		r.open(version, `{}`).post(toolCall(`6`, "t", `1`)).check(t, http.StatusOK,
			`{"jsonrpc":"2.0","id":6,"result":{"content":[{"type":"text","text":"done"},`+block+`]}}`)
	}
}

// Capabilities are an open set (report 132).
func TestReport132(t *testing.T) {
	r := newRig(t, nil)
	got := r.client().post(standalone(`1`, mcp.Discover, "", `{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"x":{}},"vendor":{"a":1}}`), routing(mcp.Discover, "")...)
	if got.status != http.StatusOK || !strings.Contains(got.body, `"resultType":"complete"`) {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	if body := r.up.await(t, mcp.Initialize, 1).body; !strings.Contains(body, `"roots":{`) || !strings.Contains(body, `"elicitation":{`) {
		t.Errorf("the server is told %s", body)
	}
}

// Cursors pass both ways as they are, one page at a time; no cursor is none
// (reports 134, 135 and 137).
func TestReports134To137(t *testing.T) {
	lists := map[string]string{mcp.ToolsList: "tools", mcp.PromptsList: "prompts", mcp.ResourcesList: "resources", mcp.TemplatesList: "resourceTemplates"}
	for method, member := range lists {
		r := newRig(t, nil)
		last := `""`
		r.up.handle(method, func(c *call) {
			next := `"8\u00e9 \u65e5=="`
			if c.Body.Text("cursor") != "" {
				next = last
			}
			c.result(`{"` + member + `":[],"nextCursor":` + next + `}`)
		})
		c := r.open(v4, `{}`)
		c.post(request(`1`, method, `{}`)).check(t, http.StatusOK, `{"jsonrpc":"2.0","id":1,"result":{"`+member+`":[],"nextCursor":"8\u00e9 \u65e5=="}}`)
		for _, last = range []string{`""`, `null`} {
			c.post(request(`2`, method, `{"cursor":"8\u00e9 \u65e5=="}`)).check(t, http.StatusOK, `{"jsonrpc":"2.0","id":2,"result":{"`+member+`":[]}}`)
		}
		if got, _ := r.up.await(t, method, 2).Body.Get("cursor"); string(got) != `"8\u00e9 \u65e5=="` {
			t.Errorf("%s: the server gets the cursor %s", method, got)
		}
	}
}

// Names are nobody's business but the server's (reports 179, 180 and 181).
func TestReports179To181(t *testing.T) {
	r := newRig(t, nil)
	names := []string{"ui.pressButton", "user/profile", "a b", "ui_pressButton", strings.Repeat("x", 70), "日本", "New Tool", " Tool "}
	listed := ""
	for _, name := range names {
		listed += `,{"name":` + string(mcp.Quote(name)) + `,"inputSchema":{"type":"object"}}`
	}
	r.up.handle(mcp.ToolsList, func(c *call) { c.result(`{"tools":[` + listed[1:] + `]}`) })
	c := r.open(v3, `{}`)
	c.post(request(`1`, mcp.ToolsList, `{}`)).check(t, http.StatusOK, `{"jsonrpc":"2.0","id":1,"result":{"tools":[`+listed[1:]+`]}}`)
	for i, name := range names {
		c.post(request(`2`, mcp.ToolsCall, `{"name":`+string(mcp.Quote(name))+`,"arguments":{}}`))
		if got := r.up.await(t, mcp.ToolsCall, i+1).Body.Text("name"); got != name {
			t.Errorf("%q arrives as %q", name, got)
		}
	}
}
