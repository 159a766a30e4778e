package bridge_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// asksWithin is a program of a handshake revision whose tool asks, and which
// says nothing of the call that it asks for.
func asksWithin() *program {
	calls := map[*programRun]mcp.ID{}
	return &program{
		answer: func(m *mcp.Message) (string, bool) { return handshaking(m), false },
		hear: func(r *programRun, m *mcp.Message) (done bool) {
			switch {
			case m.Method == mcp.ToolsCall && m.Body.Text("name") == "ask":
				calls[r] = m.ID
				r.say(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":` + elicit + `}`)
			case m.IsAnswer():
				r.say(`{"jsonrpc":"2.0","id":` + calls[r].String() + `,"result":{"content":[{"type":"text","text":` + string(mcp.Quote(string(m.Body.Raw()))) + `}]}}`)
			default:
				return false
			}
			return true
		},
	}
}

// asked returns the state of a round.
func asked(t *testing.T, text string) string {
	t.Helper()
	m, err := mcp.DecodeMessage([]byte(text))
	if err != nil || m.Kind != mcp.Result || m.Body.Text("resultType") != "input_required" {
		t.Fatalf("no round: %s", text)
	}
	return m.Body.Text("requestState")
}

// On a pipe a question does not say which call it is of, so each call that may
// ask has a process to itself, up to a number of them; then it waits, and is
// refused (C.2). Nobody's question reaches another's call.
func TestCallsThatAskHaveProcesses(t *testing.T) {
	p := asksWithin()
	before(t, p, func(t *testing.T, say func(string) string) {
		var states []string
		for i := range 4 {
			states = append(states, asked(t, say(ask(strconv.Itoa(i), ""))))
		}
		if n := starting(p.sent(), mcp.Initialize); n != 4 {
			t.Errorf("the runs were sent %q", p.sent())
		}
		if got := say(ask(`4`, "")); !strings.Contains(got, `"id":4,"error":{"code":-32603`) {
			t.Errorf("one too many is answered %s", got)
		}
		if got := say(standalone(`5`, mcp.ToolsCall, `"name":"t"`, `{}`)); !strings.Contains(got, `"text":"old"`) {
			t.Errorf("a call of who cannot be asked is answered %s", got)
		}
		for i, state := range states {
			answer := `,"inputResponses":{"in-1":{"action":"accept","content":{"n":` + strconv.Itoa(i) + `}}},"requestState":"` + state + `"`
			if got := say(ask(strconv.Itoa(10+i), answer)); !strings.Contains(got, `\"n\":`+strconv.Itoa(i)) {
				t.Errorf("the call %d is answered %s", i, got)
			}
		}
		if got := say(ask(`20`, "")); !strings.Contains(got, "input_required") || starting(p.sent(), mcp.Initialize) != 5 {
			t.Errorf("then a call is answered %s; the runs were sent %q", got, p.sent())
		}
	})
}

// starting counts the runs that began so.
func starting(runs []string, with string) int {
	n := 0
	for _, run := range runs {
		if strings.HasPrefix(run, with) {
			n++
		}
	}
	return n
}
