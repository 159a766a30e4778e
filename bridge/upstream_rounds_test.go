package bridge_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

const (
	askUser = `{"message":"user?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`
	user    = `{"method":"elicitation/create","params":` + askUser + `}`
)

// login is a call that its server will ask something about.
func login(id string) string {
	return request(id, mcp.ToolsCall, `{"name":"login","arguments":{"v":1},"_meta":{"progressToken":"pt"}}`)
}

// question reads a request that the bridge makes to its client.
func (s *stream) question(method, params string) (id string) {
	s.t.Helper()
	text := s.next()
	m, err := mcp.DecodeMessage([]byte(text))
	if err != nil || m.Kind != mcp.Request || m.Method != method {
		s.t.Fatalf("the stream brought %s, no %s", text, method)
	}
	got := ""
	if m.Body != nil {
		got = string(m.Body.Raw())
	}
	equivalent(s.t, "the question", got, params)
	return m.ID.String()
}

// answers answers a question of the bridge.
func (c *client) answers(id, result string) {
	c.t.Helper()
	if got := c.post(`{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`); got.status != http.StatusAccepted {
		c.t.Errorf("the answer is answered %d %s", got.status, got.body)
	}
}

// asksOnce answers a call with one round, and its retry with a result.
func asksOnce(questions, state string) func(*call) {
	return func(c *call) {
		if !c.Body.Has("inputResponses") {
			c.round(questions, state)
			return
		}
		c.modern()
	}
}

// A round becomes questions in the stream of the call; the call goes out again
// with the answers and what the server wants back (G-11).
func TestRoundBecomesQuestion(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle("tools/call login", func(c *call) {
		if !c.Body.Has("inputResponses") {
			_ = c.progress(1)
			c.round(`{"gh":`+user+`}`, `"S1"`)
			return
		}
		token, _ := c.ProgressToken()
		_ = c.notify(mcp.Progress, `{"progressToken":`+token.String()+`,"progress":0.5}`)
		_ = c.progress(2)
		c.result(`{"resultType":"complete","content":[],` + upstreamTag + `}`)
	})
	c := r.open(v4, `{"elicitation":{}}`)
	s := c.stream(http.MethodPost, login(`"call"`))
	s.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"pt","progress":1}}`)
	id := s.question(mcp.Elicit, askUser)
	c.answers(id, `{"action":"accept","content":{"name":"octocat"},"_meta":{"x":1}}`)
	s.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"pt","progress":2}}`,
		`{"jsonrpc":"2.0","id":"call","result":{"content":[]}}`)
	s.wantEnd()
	first, again := r.up.await(t, mcp.ToolsCall, 1), r.up.await(t, mcp.ToolsCall, 2)
	one, _ := first.ProgressToken()
	two, _ := again.ProgressToken()
	if first.ID.Equal(again.ID) || one.IsZero() || two.IsZero() || one.Equal(two) {
		t.Errorf("the legs are %s\nand %s", first.body, again.body)
	}
	if first.Body.Has("inputResponses") || first.Body.Has("requestState") || again.header.Get(mcp.HeaderName) != "login" {
		t.Errorf("the legs are %s\nand %s", first.body, again.body)
	}
	equivalent(t, "the answers", again.param("inputResponses"), `{"gh":{"action":"accept","content":{"name":"octocat"}}}`)
	if again.param("requestState") != `"S1"` || again.param("arguments") != `{"v":1}` || again.stamp(mcp.MetaCapabilities) != `{"elicitation":{}}` {
		t.Errorf("the retry is %s", again.body)
	}
}

// All questions of a round are asked before one is answered, and the retry
// has all answers (G-12).
func TestRoundOfSeveralQuestions(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle("tools/call login", asksOnce(`{"a":`+user+`,"b":{"method":"roots/list"}}`, ``))
	c := r.open(v4, `{"elicitation":{},"roots":{}}`)
	s := c.stream(http.MethodPost, login(`1`))
	a, b := s.question(mcp.Elicit, askUser), s.question(mcp.RootsList, ``)
	c.answers(b, `{"roots":[{"uri":"file:///x"}],"_meta":{"y":2}}`)
	c.answers(a, `{"action":"decline"}`)
	s.want(echoed(`1`, `1`))
	again := r.up.await(t, mcp.ToolsCall, 2)
	equivalent(t, "the answers", again.param("inputResponses"), `{"a":{"action":"decline"},"b":{"roots":[{"uri":"file:///x"}]}}`)
	if again.Body.Has("requestState") {
		t.Errorf("the retry has a state that the server did not give: %s", again.body)
	}
}

// What a server wants back it gets as it wrote it, and the answers of one
// round only (G-13, G-14).
func TestStateAndAnswersOfRounds(t *testing.T) {
	r := newModernRig(t, known)
	states := []string{`""`, `"\u00e9\\n{}"`, ``}
	r.up.handle("tools/call login", func(c *call) {
		if n := c.s.count(mcp.ToolsCall); n <= len(states) {
			c.round(`{"k`+strconv.Itoa(n)+`":`+user+`}`, states[n-1])
			return
		}
		c.modern()
	})
	c := r.open(v4, `{"elicitation":{}}`)
	s := c.stream(http.MethodPost, login(`1`))
	for range states {
		c.answers(s.question(mcp.Elicit, askUser), `{"action":"cancel"}`)
	}
	s.want(echoed(`1`, `1`))
	for i, state := range states {
		leg := r.up.await(t, mcp.ToolsCall, i+2)
		equivalent(t, "the answers", leg.param("inputResponses"), `{"k`+strconv.Itoa(i+1)+`":{"action":"cancel"}}`)
		if leg.param("requestState") != state {
			t.Errorf("the state %s came back as %s", state, leg.param("requestState"))
		}
	}
}

// A server that asks for what the client did not declare gets nothing, and
// the client sees no question (G-15).
func TestRoundThatWasNotDeclared(t *testing.T) {
	r := newModernRig(t, known)
	sampling := `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`
	for _, method := range []string{mcp.ToolsCall, mcp.PromptsGet} {
		r.up.handle(method, func(c *call) { c.round(`{"s":`+sampling+`,"e":`+user+`}`, `"x"`) })
	}
	c := r.open(v4, `{}`)
	got := c.post(toolCall(`1`, "login", `1`))
	if got.status != http.StatusOK || !strings.HasPrefix(got.body, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":`) || !strings.Contains(got.body, `"isError":true`) {
		t.Errorf("the call is answered %d %s", got.status, got.body)
	}
	got = c.post(request(`2`, mcp.PromptsGet, `{"name":"p"}`))
	if got.status != http.StatusOK || !strings.Contains(got.body, `"id":2,"error":{"code":-32603`) {
		t.Errorf("the prompt is answered %d %s", got.status, got.body)
	}
	if n := r.heard.count("sent client request sampling/createMessage") + r.heard.count("sent client request elicitation/create"); n != 0 {
		t.Errorf("the client was asked %d times", n)
	}
	if got := r.up.count(mcp.ToolsCall) + r.up.count(mcp.PromptsGet); got != 2 {
		t.Errorf("the server was sent %s", r.up.names())
	}
}

// A server that is never done is left after eight rounds (G-17).
func TestEndlessRounds(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle("tools/call login", func(c *call) { c.round(`{"a":`+user+`}`, `"x"`) })
	c := r.open(v4, `{"elicitation":{}}`)
	s := c.stream(http.MethodPost, login(`1`))
	for range 8 {
		c.answers(s.question(mcp.Elicit, askUser), `{"action":"accept","content":{}}`)
	}
	if got := s.next(); !strings.Contains(got, `"id":1,"result"`) || !strings.Contains(got, `"isError":true`) {
		t.Errorf("the end is %s", got)
	}
	s.wantEnd()
	if n := r.up.count(mcp.ToolsCall); n != 9 {
		t.Errorf("the server was called %d times", n)
	}
}

// A server that needs time and asks nothing is called again after a pause
// (G-18).
func TestRoundWithoutQuestion(t *testing.T) {
	r := newModernRig(t, known)
	var came []time.Time
	r.up.handle("tools/call login", func(c *call) {
		done := false
		c.s.set(func() {
			came = append(came, time.Now())
			done = len(came) == 3
		})
		if !done {
			c.result(`{"resultType":"input_required","requestState":"x"}`)
			return
		}
		c.modern()
	})
	c := r.open(v4, `{}`)
	c.post(login(`1`)).check(t, http.StatusOK, echoed(`1`, `1`))
	for i := range 2 {
		if pause := came[i+1].Sub(came[i]); pause < 250*time.Millisecond {
			t.Errorf("the call is repeated after %v", pause)
		}
		if leg := r.up.await(t, mcp.ToolsCall, i+2); leg.Body.Has("inputResponses") || leg.param("requestState") != `"x"` {
			t.Errorf("the retry is %s", leg.body)
		}
	}
}

// A call that is cancelled while its client is asked is over: the question is
// taken back, and a late answer goes nowhere (G-20).
func TestCancelDuringRound(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle("tools/call login", asksOnce(`{"a":`+user+`}`, `"x"`))
	c := r.open(v4, `{"elicitation":{}}`)
	s := c.stream(http.MethodPost, login(`"call"`))
	id := s.question(mcp.Elicit, askUser)
	c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"call"}}`)
	if got := s.next(); !strings.Contains(got, `"method":"notifications/cancelled"`) || !strings.Contains(got, `"requestId":`+id) {
		t.Errorf("the stream brought %s", got)
	}
	c.answers(id, `{"action":"accept","content":{}}`)
	c.echoes(2)
	calls := r.up.all(mcp.ToolsCall)
	if len(calls) != 2 || calls[1].Body.Text("name") != "t" {
		t.Errorf("the server was sent %s", r.up.names())
	}
}

// A client's refusal to sample fails the call: there is no other way to tell
// the server.
func TestRoundThatTheClientRefuses(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle("tools/call login", asksOnce(`{"a":{"method":"roots/list"}}`, `"x"`))
	c := r.open(v4, `{"roots":{}}`)
	s := c.stream(http.MethodPost, login(`1`))
	id := s.question(mcp.RootsList, ``)
	c.post(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-1,"message":"not you"}}`)
	if got := s.next(); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "not you") {
		t.Errorf("the call is answered %s", got)
	}
	if n := r.up.count(mcp.ToolsCall); n != 1 {
		t.Errorf("the server was called %d times", n)
	}
}
