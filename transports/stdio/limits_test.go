package stdio_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/stdio"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// What is above a limit is answered by name, and the rest goes on.
func TestLimitsOfLines(t *testing.T) {
	const size = 1000
	pad := func(n int) string {
		return `{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"` + strings.Repeat("x", n) + `"}}`
	}
	deep := func(n int) string {
		return `{"jsonrpc":"2.0","method":"x","params":{"a":` + strings.Repeat("[", n-2) + strings.Repeat("]", n-2) + `},"id":7}`
	}
	for limit, c := range map[string]struct{ under, over, says string }{
		mcp.LimitBody:  {pad(size - len(pad(0))), pad(size - len(pad(0)) + 5), "1000 bytes, the limit max_body"},
		mcp.LimitDepth: {deep(20), deep(21), "20 levels, the limit max_depth"},
	} {
		t.Run(limit, func(t *testing.T) {
			transporttest.Goroutines(t)
			var limits []string
			h := newHost(func(ctx context.Context, p *transports.Pipe, f *mcp.Frame, fault *mcp.Fault) transports.Reply {
				if fault != nil {
					limits = append(limits, fault.Limit)
				}
				return echoing(ctx, p, f, fault)
			})
			var out strings.Builder
			in := strings.Join([]string{c.under, c.over, pad(1)}, "\n") + "\n"
			if err := stdio.Serve(t.Context(), h, strings.NewReader(in), &out, stdio.ServerConfig{MaxMessage: size, MaxDepth: 20}); err != nil {
				t.Error(err)
			}
			<-h.closed
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if len(lines) != 3 || !strings.Contains(lines[0], `"result"`) || !strings.Contains(lines[2], `"result"`) {
				t.Fatalf("answered %s", out.String())
			}
			if !strings.HasPrefix(lines[1], `{"jsonrpc":"2.0","id":7,"error"`) || !strings.Contains(lines[1], c.says) {
				t.Errorf("answered %s", lines[1])
			}
			if len(limits) != 1 || limits[0] != limit {
				t.Errorf("told of %v", limits)
			}
		})
	}
}
