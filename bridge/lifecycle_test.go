package bridge_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// initialize opens a session without completing its handshake.
func (r *rig) initialize(version, capabilities string) *client {
	r.t.Helper()
	c := r.client()
	got := c.post(initializeWith(`0`, version, capabilities))
	if c.session = got.header.Get(mcp.HeaderSession); c.session == "" {
		r.t.Fatalf("initialize: %d %s", got.status, got.body)
	}
	return c
}

// Messages of a client may overtake each other; the server gets them in the
// order of the handshake, and initialized once (report 124). The scripted
// server fails the test otherwise.
func TestReport124RequestOvertakesInitialized(t *testing.T) {
	r := newRig(t, nil)
	release := make(chan struct{})
	r.up.handle(mcp.Initialized, func(c *call) {
		c.wait(release)
		c.w.WriteHeader(http.StatusAccepted)
	})
	c := r.initialize(v4, `{}`)
	list := hosted(c, request(`1`, mcp.ToolsList, `{}`))
	r.up.await(t, mcp.Initialized, 1)
	note := hosted(c, initialized)
	if got := c.post(request(`"p"`, mcp.Ping, `{}`)); got.body != pong(`"p"`) {
		t.Errorf("ping is answered %d %s", got.status, got.body)
	}
	if n := r.up.count("") - r.up.count(mcp.Initialize) - r.up.count(mcp.Initialized); n != 0 {
		t.Errorf("the upstream got %s", r.up.names())
	}
	close(release)
	if got := <-list; !strings.Contains(got.body, `"id":1,"result"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := <-note; got.status != http.StatusAccepted {
		t.Errorf("%d %s", got.status, got.body)
	}
	r.up.await(t, mcp.ToolsList, 1)
	if n := r.up.count(mcp.Initialized); n != 1 {
		t.Errorf("%d times initialized", n)
	}
}

func TestReport124ManyAtOnce(t *testing.T) {
	r := newRig(t, nil)
	c := r.initialize(v3, `{}`)
	var answers []<-chan reply
	for i := range 20 {
		answers = append(answers, hosted(c, toolCall(fmt.Sprint(i), "t", `1`)), hosted(c, initialized))
	}
	for i := range 20 {
		if got := <-answers[2*i]; got.body != echoed(fmt.Sprint(i), `1`) {
			t.Errorf("%d %s", got.status, got.body)
		}
		if got := <-answers[2*i+1]; got.status != http.StatusAccepted {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if n := r.up.count(mcp.Initialized); n != 1 {
		t.Errorf("%d times initialized", n)
	}
}

// A client that never says initialized is served all the same.
func TestReport124NeverInitialized(t *testing.T) {
	for name, body := range map[string]string{"a call": toolCall(`1`, "t", `1`), "a batch": batch(toolCall(`1`, "t", `1`), initialized)} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			c := r.initialize(v2, `{}`)
			if got := c.post(body, "Accept", "application/json"); !strings.Contains(got.body, echoed(`1`, `1`)) {
				t.Errorf("%d %s", got.status, got.body)
			}
			if n := r.up.count(mcp.Initialized); n != 1 {
				t.Errorf("%d times initialized", n)
			}
		})
	}
}

// A server that does not take initialized gets the calls all the same.
func TestInitializedIsRefused(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle(mcp.Initialized, func(c *call) { c.reply(500, "text/plain", "no") })
	c := r.open(v4, `{}`)
	c.works()
	r.heard.await(t, "failed server status_5xx", 1)
}

// A question that a server asks too early waits until the client is ready.
func TestQuestionBeforeInitialized(t *testing.T) {
	r := newRig(t, nil)
	r.up.opens(func(c *call) {
		_, _ = c.post(mcp.RootsList, `{}`)
		r.up.initialize(c)
	})
	c := r.initialize(v4, `{"roots":{}}`)
	get := c.stream(http.MethodGet, "")
	r.up.handle("tools/call n", func(c *call) {
		_ = c.notify(mcp.LogMessage, `{"level":"info","data":1}`)
		c.text("n")
	})
	if n := r.up.count(mcp.Initialized); n != 0 {
		t.Errorf("%d times initialized", n)
	}
	c.accepted(initialized)
	question := get.next()
	if !strings.Contains(question, `"method":"roots/list"`) {
		t.Errorf("the stream brought %s", question)
	}
	c.accepted(answerTo(t, question, `"result":{"roots":[]}`))
	r.up.await(t, "", 4)
}

// Lists of what a server does not have are empty, and it is not asked (report
// 127); what it has it answers itself.
func TestReport127UndeclaredLists(t *testing.T) {
	r := newRig(t, nil)
	r.up.capabilities = `{"tools":{}}`
	c := r.open(v4, `{}`)
	for method, result := range map[string]string{
		mcp.ResourcesList: `{"resources":[]}`, mcp.PromptsList: `{"prompts":[]}`, mcp.TemplatesList: `{"resourceTemplates":[]}`,
	} {
		if got := c.post(request(`4`, method, `{}`)); got.body != `{"jsonrpc":"2.0","id":4,"result":`+result+`}` {
			t.Errorf("%s: %s", method, got.body)
		}
	}
	if got := c.post(request(`5`, mcp.ResourcesRead, `{"uri":"a:1"}`)); !strings.Contains(got.body, `-32601`) || r.up.count(mcp.ResourcesRead) != 1 {
		t.Errorf("%s", got.body)
	}
	if n := r.up.count(""); n != 4 {
		t.Errorf("the upstream got %s", r.up.names())
	}
}

// Vendor methods and notifications cross as they are (T54), results stay what
// they are (T55).
func TestT54UnknownMethods(t *testing.T) {
	r := newRig(t, nil)
	r.up.version = v1
	r.up.handle("acme/query", func(c *call) { c.result(`{}`) })
	c := r.open(v4, `{}`)
	const params = `{"type":"audio","title":"x","icons":[]}`
	if got := c.post(request(`54`, "acme/query", params)); got.body != pong(`54`) {
		t.Errorf("%s", got.body)
	}
	c.accepted(`{"jsonrpc":"2.0","method":"notifications/acme","params":` + params + `}`)
	for _, what := range []string{"acme/query", "notifications/acme"} {
		if got := r.up.await(t, what, 1); string(got.Body.Raw()) != params {
			t.Errorf("the server got %s", got.body)
		}
	}
}
