package bridge_test

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// What a stateless server sends on its pipe outside of answers reaches the client
// too, also after its process was started again.
func TestNoticesOfAStatelessProcess(t *testing.T) {
	crashes := false
	p := &program{
		answer: func(m *mcp.Message) (string, bool) {
			if m.Method == mcp.Discover {
				return `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`, false
			}
			return standing(m), crashes
		},
		hear: func(r *programRun, m *mcp.Message) (done bool) {
			if token, ok := m.ProgressToken(); ok && !crashes {
				r.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token.String() + `,"progress":1}}`)
			}
			return false
		},
	}
	before(t, p, func(t *testing.T, say func(string) string) {
		call := func(id int) string {
			text := standalone(strconv.Itoa(id), mcp.ToolsCall, `"name":"t"`, `{}`)
			return say(strings.Replace(text, `"_meta":{`, `"_meta":{"progressToken":"mine",`, 1))
		}
		for id, want := range []string{`"progressToken":"mine"`, `"error"`, `"progressToken":"mine"`} {
			crashes = want == `"error"`
			if got := call(id); !strings.Contains(got, want) {
				t.Errorf("request %d brought %s first; the runs were sent %q", id, got, p.sent())
			}
			if !crashes {
				if got := say(`{"jsonrpc":"2.0","method":"notifications/nothing"}`); !strings.Contains(got, `"text":"new"`) {
					t.Errorf("request %d is answered %s", id, got)
				}
			}
			synctest.Wait()
		}
	})
}

// A stateless client that calls one tool after the other finds one process, however
// soon after an answer it calls again.
func TestCallsInARowShareAProcess(t *testing.T) {
	p := &program{answer: func(m *mcp.Message) (string, bool) { return handshaking(m), false }}
	before(t, p, func(t *testing.T, say func(string) string) {
		for i := range 100 {
			if got := say(standalone(strconv.Itoa(i), mcp.ToolsCall, `"name":"t"`, `{"elicitation":{"form":{}}}`)); !strings.Contains(got, `"text":"old"`) {
				t.Fatalf("answered %s", got)
			}
		}
		if openings := starting(p.sent(), mcp.Initialize); openings != 1 {
			t.Errorf("%d processes were opened for calls in a row", openings)
		}
	})
}
