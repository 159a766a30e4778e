package configs

import (
	"cmp"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Declare, before an action or alone, makes the bridge declare form
// elicitation upstream.
const Declare = "declare"

// ParseFallback reads an action, "declare" or "declare:ACTION". An unknown
// action is left for Validate to refuse.
func ParseFallback(s string) mcp.Fallback {
	first, action, _ := strings.Cut(s, ":")
	if first != Declare {
		return mcp.Fallback{Action: mcp.FallbackAction(s)}
	}
	return mcp.Fallback{Declare: true, Action: cmp.Or(mcp.FallbackAction(action), mcp.FallbackExplain)}
}
