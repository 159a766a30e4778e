package bridge_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

const allClientCapabilities = `{"elicitation":{},"sampling":{},"roots":{}}`

// asking answers a tool call with what the client said to a question.
func asking(method, params string) func(*call) {
	return func(c *call) {
		m := c.ask(method, params)
		c.text(string(m.Body.Raw()))
	}
}

const elicit = `{"message":"Sure?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}}}}`

// idOf returns the id token of a message.
func idOf(t *testing.T, message string) string {
	t.Helper()
	var m struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(message), &m); err != nil || m.ID == nil {
		t.Fatalf("no id in %s", message)
	}
	return string(m.ID)
}

// answerTo is a client's answer to a question; tail is its result or error.
func answerTo(t *testing.T, question, tail string) string {
	t.Helper()
	return `{"jsonrpc":"2.0","id":` + idOf(t, question) + `,` + tail + `}`
}

// What a server asks during a call travels on that call's stream, the answer
// in a POST of its own, under the server's id.
func TestQuestionWithinACall(t *testing.T) {
	for name, q := range map[string]struct{ method, params, tail, text string }{
		"elicitation": {mcp.Elicit, elicit, `"result":{"action":"accept","content":{"ok":true}}`, `{"action":"accept","content":{"ok":true}}`},
		"sampling": {mcp.CreateMessage, `{"messages":[],"maxTokens":5}`, `"result":{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}`,
			`{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}`},
		"roots":    {mcp.RootsList, `{}`, `"result":{"roots":[]}`, `{"roots":[]}`},
		"an error": {mcp.CreateMessage, `{"messages":[],"maxTokens":5}`, `"error":{"code":-1,"message":"User rejected"}`, `{"code":-1,"message":"User rejected"}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.up.handle("tools/call ask", asking(q.method, q.params))
			c := r.open(v4, allClientCapabilities)
			s := c.stream(http.MethodPost, toolCall(`"c"`, "ask", `1`))
			question := s.next()
			if !strings.HasSuffix(question, `,"method":"`+q.method+`","params":`+q.params+`}`) {
				t.Errorf("the client was asked %s", question)
			}
			if got := c.post(answerTo(t, question, q.tail)); got.status != http.StatusAccepted || got.body != "" {
				t.Errorf("the answer is taken with %d %q", got.status, got.body)
			}
			s.want(`{"jsonrpc":"2.0","id":"c","result":{"content":[{"type":"text","text":` + string(mcp.Quote(q.text)) + `}]}}`)
			s.wantEnd()
		})
	}
}

// Two calls ask at once; each answer reaches the one that asked, also when
// they come crosswise.
func TestQuestionsOfTwoCalls(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle("tools/call ask", asking(mcp.Elicit, elicit))
	c := r.open(v3, allClientCapabilities)
	a, b := c.stream(http.MethodPost, toolCall(`1`, "ask", `1`)), c.stream(http.MethodPost, toolCall(`2`, "ask", `2`))
	qa, qb := a.next(), b.next()
	if idOf(t, qa) == idOf(t, qb) {
		t.Errorf("two questions have one id: %s %s", qa, qb)
	}
	c.post(answerTo(t, qb, `"result":{"action":"decline"}`))
	c.post(answerTo(t, qa, `"result":{"action":"cancel"}`))
	a.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"action\":\"cancel\"}"}]}}`)
	b.want(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"action\":\"decline\"}"}]}}`)
}

// An answer counts once.
func TestQuestionAnsweredTwice(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle("tools/call ask", asking(mcp.RootsList, `{}`))
	c := r.open(v4, allClientCapabilities)
	s := c.stream(http.MethodPost, toolCall(`1`, "ask", `1`))
	answer := answerTo(t, s.next(), `"result":{"roots":[]}`)
	c.post(answer)
	c.post(answer)
	s.next()
	s.wantEnd()
	if n := r.heard.count("failed client unknown_response"); n != 1 {
		t.Errorf("counted %d", n)
	}
}

// A server takes its question back.
func TestQuestionWithdrawn(t *testing.T) {
	r := newRig(t, nil)
	late := make(chan struct{})
	r.up.handle("tools/call ask", func(c *call) {
		id, _ := c.post(mcp.Elicit, elicit)
		_ = c.notify(mcp.Cancelled, `{"requestId":`+id+`,"reason":"never mind"}`)
		c.wait(late)
		c.text("done")
	})
	c := r.open(v4, allClientCapabilities)
	s := c.stream(http.MethodPost, toolCall(`1`, "ask", `1`))
	question := s.next()
	s.want(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + idOf(t, question) + `,"reason":"never mind"}}`)
	c.post(answerTo(t, question, `"result":{"action":"decline"}`)) // would fail the test at the server
	close(late)
	s.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`)
	s.wantEnd()
}

// A server's ping is answered by the bridge (report 63), on any stream.
func TestReport63FirstEventIsNotTheAnswer(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle(mcp.ToolsCall, func(c *call) {
		c.stream()
		_, _ = c.w.Write([]byte("id: a\ndata:\n\n"))
		_ = c.progress(1)
		pong := c.ask(mcp.Ping, `{}`)
		_ = c.progress(2)
		c.text(string(pong.Body.Raw()))
	})
	c := r.open(v4, `{}`)
	body := request(`4`, mcp.ToolsCall, `{"name":"t","_meta":{"progressToken":"p"}}`)
	const pong = `{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"{}"}]}}`
	s := c.stream(http.MethodPost, body)
	s.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":2}}`, pong)
	s.wantEnd()
	if got := c.post(body, "Accept", "application/json"); got.body != pong {
		t.Errorf("report 46: the JSON answer is %s", got.body)
	}
}

// A client that takes only JSON cannot be asked, so nothing is declared for
// it, and a server that asks all the same gets the fallback.
func TestQuestionForJSONOnlyClient(t *testing.T) {
	r := newRig(t, nil)
	r.up.version = v3
	r.up.handle("tools/call ask", asking(mcp.Elicit, elicit))
	c := r.client()
	c.session = c.post(initializeWith(`0`, v3, allClientCapabilities), "Accept", "application/json").header.Get(mcp.HeaderSession)
	got := c.post(toolCall(`1`, "ask", `1`), "Accept", "application/json")
	if !strings.HasPrefix(got.body, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"action\":\"cancel\"}"},`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if init := r.up.all(mcp.Initialize)[0]; !strings.Contains(init.body, `"capabilities":{}`) {
		t.Errorf("the server was told %s", init.body)
	}
	if n := r.heard.count("fell elicitation explain"); n != 1 {
		t.Errorf("heard %v", r.heard.counts)
	}
}

// A client may report progress on what it was asked, under its own token.
func TestQuestionProgress(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle("tools/call ask", asking(mcp.CreateMessage, `{"messages":[],"maxTokens":5,"_meta":{"progressToken":"server's"}}`))
	c := r.open(v4, allClientCapabilities)
	s := c.stream(http.MethodPost, toolCall(`1`, "ask", `1`))
	question := s.next()
	id := idOf(t, question)
	if !strings.Contains(question, `"_meta":{"progressToken":`+id+`}`) {
		t.Errorf("the client was asked %s", question)
	}
	c.accepted(progressNote(id, "1"))
	c.accepted(progressNote(`"invented"`, "1"))
	if up := r.up.await(t, mcp.Progress, 1); up.body != progressNote(`"server's"`, "1") {
		t.Errorf("the server got %s", up.body)
	}
	c.accepted(answerTo(t, question, `"error":{"code":-1,"message":"no"}`))
	s.next()
	s.wantEnd()
	if r.up.count(mcp.Progress) != 1 || r.heard.count("failed client unknown_progress") != 1 {
		t.Errorf("the upstream got %s", r.up.names())
	}
}
