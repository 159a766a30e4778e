package transporttest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

func request(id int, params string) *mcp.Message {
	m := mcp.NewRequest(mcp.ToolsCall, mcp.MustObject(params))
	m.ID = mcp.IntID(int64(id))
	return m
}

// note returns a numbered notification with so many bytes of ballast.
func note(n, ballast int) *mcp.Message {
	o := mcp.MustObject(fmt.Sprintf(`{"n":%d}`, n))
	o.Set("ballast", mcp.Quote(strings.Repeat("x", ballast)))
	return mcp.NewNotification(mcp.LogMessage, o)
}

func number(m *mcp.Message) string {
	n, _ := m.Body.Get("n")
	return string(n)
}

// ask sends a request and returns all that came back.
func ask(t *testing.T, p Pair, m *mcp.Message) []*mcp.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var got []*mcp.Message
	if err := p.Client.Send(ctx, m, transports.Outgoing{Receive: func(m *mcp.Message) { got = append(got, m) }}); err != nil {
		t.Fatalf("sending: %v", err)
	}
	return got
}

// echo answers with the params it was sent.
func echo(_ context.Context, m *mcp.Message, send func(*mcp.Message) error) {
	if m.Kind == mcp.Request {
		_ = send(m.Answer(m.Params().Clone()))
	}
}

// sameValue compares JSON texts as they may travel: whitespace between tokens
// may change and Unicode line ends may become escapes, nothing else.
func sameValue(a, b mcp.Raw) bool { return bytes.Equal(canonical(a), canonical(b)) }

func canonical(r mcp.Raw) []byte {
	return []byte(strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`, "\u0085", `\u0085`).Replace(string(r.Compact())))
}

func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s did not happen", what)
	}
}
