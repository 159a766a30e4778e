package websocket

import (
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// A message that is too large ends the connection, with the code for that;
// another connection goes on.
func TestLimitBody(t *testing.T) {
	transporttest.Goroutines(t)
	const limit = 1000
	hits := make(chan string, 10)
	e := newEchoing(t, ServerConfig{MaxMessage: limit, Limited: func(limit string) { hits <- limit }})
	p, other := socketTo(t, e.site), socketTo(t, e.site)
	p.send(text(ask(0, limit-len(ask(0, 0)))))
	p.expect(opText, told(0, limit-len(ask(0, 0))))
	if len(hits) > 0 {
		t.Errorf("%s is hit below it", <-hits)
	}
	p.send(text(ask(0, limit-len(ask(0, 0))+1)))
	p.expectClose(1009)
	if hit := <-hits; hit != mcp.LimitBody {
		t.Errorf("hit %s", hit)
	}
	other.send(text(ask(1, 0)))
	other.expect(opText, told(1, 0))
}

// One that is nested too deep is answered, and the connection goes on.
func TestLimitDepth(t *testing.T) {
	transporttest.Goroutines(t)
	e := newEchoing(t, ServerConfig{MaxDepth: mcp.MinDepth})
	p := socketTo(t, e.site)
	deep := func(levels int) string {
		return `{"jsonrpc":"2.0","method":"x","params":{"n":` + strings.Repeat("[", levels-2) + strings.Repeat("]", levels-2) + `},"id":1}`
	}
	p.send(text(deep(mcp.MinDepth)))
	if got, err := p.next(); err != nil || !strings.Contains(got.payload, `"result"`) {
		t.Errorf("at the limit: %s, %v", got.payload, err)
	}
	p.send(text(deep(mcp.MinDepth + 1)))
	if got, err := p.next(); err != nil || !strings.Contains(got.payload, `"id":1,"error"`) || !strings.Contains(got.payload, "16 levels, the limit max_depth") {
		t.Errorf("above the limit: %s, %v", got.payload, err)
	}
	p.send(text(ask(1, 0)))
	p.expect(opText, told(1, 0))
}
