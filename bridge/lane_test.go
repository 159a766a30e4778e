package bridge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/internal/schema"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// interactive runs a test before a process that many clients share and that
// may ask them. Its calls wait for the test. Time passes when all sides wait.
func interactive(t *testing.T, change func(*bridge.Settings), test func(p *process, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t)
		p.hold = true
		s := bridge.Settings{
			Ladder: rewrite.Standard(), Era: negotiate.Legacy, Dial: func() transports.Upstream { return transports.NewPiped(p) },
			Shared: true, SharedInteractive: true, Upstream: "one", Deps: rewrite.Deps{Validate: schema.Validate},
			Options: mcp.DefaultOptions(), RequestTimeout: 30 * time.Minute, Observer: newWitness(), Log: zerolog.Nop(),
		}
		if change != nil {
			change(&s)
		}
		b := bridge.New(s)
		t.Cleanup(func() {
			if err := b.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		test(p, &rig{t: t, bridge: b})
	})
}

// opened returns a client on a pipe, which is ready for use.
func (r *rig) opened(capabilities string) *piper {
	r.t.Helper()
	c := r.pipe()
	c.say(initializeWith(`0`, v4, capabilities))
	if got := c.hear(); !strings.Contains(got, `"result"`) {
		r.t.Fatalf("initialize is answered %s", got)
	}
	c.say(initialized)
	return c
}

// calls begins a call of a tool, under the tool's name as its id.
func (p *piper) calls(name string) {
	p.t.Helper()
	p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":%q}}`, name, name))
	synctest.Wait()
}

// quiet fails the test if the client has something to read.
func (p *piper) quiet() {
	p.t.Helper()
	synctest.Wait()
	if d, ok := p.stream.Next(); ok {
		p.t.Errorf("the client got %s", d.Message.Bytes())
	}
}

// asks sends a question of the process.
func (p *process) asks(id, method, params string) {
	p.say(`{"jsonrpc":"2.0","id":"` + id + `","method":"` + method + `","params":` + params + `}`)
	synctest.Wait()
}

// answers answers a call.
func (p *process) answers(name string) {
	p.done(name)
	synctest.Wait()
}

// got fails the test unless the process has received a line that often.
func (p *process) got(n int, line string) {
	p.t.Helper()
	synctest.Wait()
	if have := p.heard(line); have != n {
		p.t.Errorf("the process received %s %d times, not %d:\n%s", line, have, n, strings.Join(p.lines, "\n"))
	}
}

// asked reads a question and answers it.
func (p *piper) asked(method, tail string) {
	p.t.Helper()
	question := p.hear()
	if !strings.Contains(question, `"method":"`+method+`"`) {
		p.t.Fatalf("the client got %s", question)
	}
	p.say(answerTo(p.t, question, tail))
	synctest.Wait()
}

const (
	accept  = `"result":{"action":"accept","content":{"ok":true}}`
	canAsk  = `{"elicitation":{},"sampling":{},"roots":{}}`
	outcome = `{"jsonrpc":"2.0","id":%q,"result":{"content":[{"type":"text","text":%q}]}}`
)

func (p *piper) wantOutcome(name string) {
	p.t.Helper()
	p.want(fmt.Sprintf(outcome, name, name))
}

func spoken(id, tail string) string { return `{"jsonrpc":"2.0","id":"` + id + `",` + tail + `}` }

// Calls take turns; what the server asks meanwhile is for the one whose turn
// it is. Lists wait for nobody.
func TestLaneAttributesQuestions(t *testing.T) {
	interactive(t, nil, func(p *process, r *rig) {
		a, b := r.opened(canAsk), r.opened(canAsk)
		a.calls("a")
		b.calls("b")
		p.got(0, "tools/call b")
		b.say(`{"jsonrpc":"2.0","id":"l","method":"tools/list"}`)
		b.want(`{"jsonrpc":"2.0","id":"l","result":{"tools":[]}}`)
		p.asks("q1", mcp.Elicit, elicit)
		a.asked(mcp.Elicit, accept)
		p.got(1, spoken("q1", accept))
		p.answers("a")
		a.wantOutcome("a")
		p.got(1, "tools/call b")
		p.asks("q2", mcp.RootsList, `{}`)
		b.asked(mcp.RootsList, `"result":{"roots":[]}`)
		p.got(1, spoken("q2", `"result":{"roots":[]}`))
		p.answers("b")
		b.wantOutcome("b")
		a.quiet()
		if p.declared != `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}` || p.runs != 1 {
			t.Errorf("declared %s in %d runs", p.declared, p.runs)
		}
	})
}

// What belongs to no call is answered as the operator chose; what the client
// cannot be asked, too, and its result tells of it.
func TestLaneFallback(t *testing.T) {
	for action, tail := range map[mcp.FallbackAction]string{
		mcp.FallbackExplain: `"result":{"action":"cancel"}`, mcp.FallbackDecline: `"result":{"action":"decline"}`,
		mcp.FallbackError: `"error":{"code":-32601,"message":"many clients share this server: it is not clear which of them this is for"}`,
	} {
		interactive(t, func(s *bridge.Settings) { s.Options.Fallback.Action = action }, func(p *process, r *rig) {
			a := r.opened(canAsk)
			p.asks("q1", mcp.Elicit, elicit)
			p.got(1, spoken("q1", tail))
			p.asks("q2", mcp.RootsList, `{}`)
			p.got(1, spoken("q2", `"error":{"code":-32601,"message":"many clients share this server: it is not clear which of them this is for"}`))
			a.quiet()
		})
	}
	interactive(t, nil, func(p *process, r *rig) {
		a, b := r.opened(canAsk), r.opened(`{}`)
		b.calls("b")
		p.asks("q", mcp.Elicit, elicit)
		p.got(1, spoken("q", `"result":{"action":"cancel"}`))
		p.answers("b")
		if got := b.hear(); !strings.Contains(got, "Sure?") {
			t.Errorf("the client got %s", got)
		}
		a.quiet()
	})
}

// What a server asks as soon as it is initialized is no question of the first
// call.
func TestLaneAfterTheHandshake(t *testing.T) {
	interactive(t, nil, func(p *process, r *rig) {
		p.startup = `{"jsonrpc":"2.0","id":"s","method":"roots/list"}`
		a := r.pipe()
		a.say(initializeWith(`0`, v3, canAsk))
		a.say(initialized)
		a.calls("a")
		a.hear()
		p.got(1, spoken("s", `"error":{"code":-32601,"message":"many clients share this server: it is not clear which of them this is for"}`))
		a.say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		p.got(0, mcp.RootsChanged)
		p.answers("a")
		a.wantOutcome("a")
	})
}

// A call that waits for its turn can be withdrawn: the server hears neither.
func TestLaneCancellation(t *testing.T) {
	interactive(t, nil, func(p *process, r *rig) {
		a, b, c := r.opened(canAsk), r.opened(canAsk), r.opened(canAsk)
		a.calls("a")
		b.calls("b")
		c.calls("c")
		b.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b"}}`)
		p.answers("a")
		a.wantOutcome("a")
		p.answers("c")
		c.wantOutcome("c")
		p.got(0, "tools/call b")
		p.got(0, mcp.Cancelled)
		b.quiet()
	})
}

// A client that vanishes frees the lane, and its question is answered. Until
// the server is through with its call, no other client is asked.
func TestLaneOfAClientThatVanished(t *testing.T) {
	interactive(t, nil, func(p *process, r *rig) {
		a, b, gone := r.opened(canAsk), r.opened(canAsk), r.opened(canAsk)
		a.calls("a")
		gone.calls("gone")
		b.calls("b")
		gone.session.Close()
		p.asks("q1", mcp.Elicit, elicit)
		a.hear()
		a.session.Close()
		p.got(1, spoken("q1", `"result":{"action":"cancel"}`))
		p.got(1, mcp.Cancelled)
		p.got(0, "tools/call gone")
		p.got(1, "tools/call b")
		p.asks("q2", mcp.Elicit, elicit)
		p.got(1, spoken("q2", `"result":{"action":"cancel"}`))
		b.quiet()
		p.answers("a")
		p.asks("q3", mcp.Elicit, elicit)
		b.asked(mcp.Elicit, accept)
		p.got(1, spoken("q3", accept))
		p.answers("b")
		b.wantOutcome("b")
	})
}

// A doubt lasts as long as the server may take for a request; the client that
// gave its call up may be asked all the same.
func TestLaneDoubts(t *testing.T) {
	interactive(t, nil, func(p *process, r *rig) {
		a, b := r.opened(canAsk), r.opened(canAsk)
		a.calls("a1")
		a.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a1"}}`)
		a.calls("a2")
		p.asks("q1", mcp.Elicit, elicit)
		a.asked(mcp.Elicit, accept)
		p.got(1, spoken("q1", accept))
		p.answers("a2")
		a.wantOutcome("a2")
		time.Sleep(31 * time.Minute) // of the bubble
		b.calls("b")
		p.asks("q2", mcp.Elicit, elicit)
		b.asked(mcp.Elicit, accept)
		p.got(1, spoken("q2", accept))
		p.answers("b")
		b.wantOutcome("b")
	})
}

// A question that nobody answers, a call that the server does not, and a wait
// for them have an end.
func TestLaneTimeouts(t *testing.T) {
	interactive(t, nil, func(p *process, r *rig) {
		a, b, c := r.opened(canAsk), r.opened(canAsk), r.opened(canAsk)
		a.calls("a")
		b.calls("b")
		p.asks("q", mcp.Elicit, elicit)
		a.hear()
		time.Sleep(11 * time.Minute) // of the bubble
		p.got(1, spoken("q", `"result":{"action":"cancel"}`))
		p.answers("a")
		if got := a.hear(); !strings.Contains(got, mcp.Cancelled) {
			t.Errorf("the client got %s", got)
		}
		a.wantOutcome("a")
		p.got(1, "tools/call b")
		c.calls("c")
		time.Sleep(20 * time.Minute)
		p.asks("q2", mcp.RootsList, `{}`) // it is not silent
		b.asked(mcp.RootsList, `"result":{"roots":[]}`)
		time.Sleep(11 * time.Minute)
		if got := c.hear(); !strings.Contains(got, "busy with other calls for too long") {
			t.Errorf("the client got %s", got)
		}
		time.Sleep(20 * time.Minute)
		if got := b.hear(); !strings.Contains(got, "did not answer within") {
			t.Errorf("the client got %s", got)
		}
		a.calls("again")
		p.answers("again")
		a.wantOutcome("again")
	})
}

// What a server takes back, and that a page is done with, is told to the client
// that was asked, and to no other.
func TestLaneAfterAQuestion(t *testing.T) {
	interactive(t, nil, func(p *process, r *rig) {
		p.version = v4
		const both = `{"elicitation":{"form":{},"url":{}}}`
		a, b := r.opened(both), r.opened(both)
		a.calls("a")
		p.asks("q1", mcp.Elicit, `{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"e"}`)
		a.asked(mcp.Elicit, `"result":{"action":"accept"}`)
		p.got(1, spoken("q1", `"result":{"action":"accept"}`))
		p.asks("q2", mcp.Elicit, elicit)
		question := a.hear()
		p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q2"}}`)
		if got := a.hear(); !strings.Contains(got, mcp.Cancelled) || !strings.Contains(got, `"requestId":`+idOf(t, question)) {
			t.Errorf("the client got %s", got)
		}
		a.say(answerTo(t, question, accept))
		p.got(0, spoken("q2", accept))
		p.answers("a")
		a.wantOutcome("a")
		b.calls("b")
		p.say(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}`)
		a.want(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}`)
		p.say(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"other"}}`)
		p.answers("b")
		b.wantOutcome("b")
		a.quiet()
	})
}

// The lane of a process that died is free, and what it left open forgotten.
func TestLaneRevival(t *testing.T) {
	interactive(t, nil, func(p *process, r *rig) {
		a, b := r.opened(canAsk), r.opened(canAsk)
		a.calls("a")
		p.asks("q", mcp.Elicit, elicit)
		question := a.hear()
		b.calls("b")
		p.die()
		if got := a.hear(); !strings.Contains(got, `"id":"a","error"`) {
			t.Errorf("the client got %s", got)
		}
		p.got(1, "tools/call b")
		p.asks("q", mcp.Elicit, elicit)
		a.say(answerTo(t, question, accept)) // to one that is no more
		p.got(0, spoken("q", accept))
		b.asked(mcp.Elicit, `"result":{"action":"decline"}`)
		p.got(1, spoken("q", `"result":{"action":"decline"}`))
		p.answers("b")
		b.wantOutcome("b")
		if p.runs != 2 {
			t.Errorf("%d runs", p.runs)
		}
	})
}

// A stateless client's call is held while it gathers the answer; the others
// wait for it as for any call.
func TestLaneOfAParkedCall(t *testing.T) {
	interactive(t, nil, func(p *process, r *rig) {
		a, b := r.pipe(), r.opened(canAsk)
		a.say(standalone(`1`, mcp.ToolsCall, `"name":"a"`, `{"elicitation":{"form":{}}}`))
		synctest.Wait()
		b.calls("b")
		p.asks("q", mcp.Elicit, elicit)
		round, err := mcp.DecodeMessage([]byte(a.hear()))
		if err != nil || round.Body.Text("resultType") != "input_required" {
			t.Fatalf("the client got %v, %v", round, err)
		}
		p.got(0, "tools/call b")
		a.say(standalone(`2`, mcp.ToolsCall, `"name":"a","inputResponses":{"in-1":{"action":"accept","content":{"ok":true}}},"requestState":`+
			string(mcp.Quote(round.Body.Text("requestState"))), `{"elicitation":{"form":{}}}`))
		p.got(1, spoken("q", accept))
		p.answers("a")
		if got := a.hear(); !strings.Contains(got, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"a"}]`) {
			t.Errorf("the client got %s", got)
		}
		p.answers("b")
		b.wantOutcome("b")
	})
}
