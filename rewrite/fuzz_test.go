package rewrite_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/internal/golden"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// FuzzPipeline: whatever a peer says, between whichever versions, nothing panics,
// and what comes out is JSON that can be read as what it went out as.
func FuzzPipeline(f *testing.F) {
	for i, c := range cases(f) {
		for _, tr := range messagesOf(c) {
			f.Add(tr.text, tr.method, tr.to == mcp.Client, uint8(i))
		}
	}
	versions := rewrite.Standard().Versions()
	f.Fuzz(func(t *testing.T, text, method string, toClient bool, pick uint8) {
		m, err := mcp.DecodeMessage([]byte(text))
		if err != nil {
			return
		}
		tr := traveller{text: text, method: method, to: mcp.Server}
		if toClient {
			tr.to = mcp.Client
		}
		if !m.IsAnswer() {
			tr.method = m.Method
		}
		o := mcp.DefaultOptions()
		n := len(versions)
		o.Strict = int(pick)/(n*n)%2 == 1
		p := pipeline(versions[int(pick)%n], versions[int(pick)/n%n], o)
		out := travel(t, p, tr, tr.message(t))
		out.Actions = append(out.Actions, p.Expire(time.Time{}.Add(time.Hour)).Actions...)
		for _, a := range out.Actions {
			if a.Msg == nil {
				continue
			}
			written := a.Msg.Bytes()
			if !json.Valid(written) {
				t.Fatalf("%q becomes %q", text, written)
			}
			if again, err := mcp.DecodeMessage(written); !a.Msg.ID.IsZero() && (err != nil || again.Kind != a.Msg.Kind) {
				t.Errorf("%q becomes %q: %v", text, written, err)
			}
		}
	})
}

// messagesOf returns the messages of a transcript.
func messagesOf(c *golden.Case) []traveller {
	var all []traveller
	methods := map[string]string{} // of what awaits an answer, by leg and id
	for _, b := range c.Blocks {
		collect(&all, methods, b.Step)
		for _, line := range b.Outputs {
			note(methods, line)
		}
	}
	return all
}
