package bridge

import (
	"context"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// undiscovered finds out what a stateless server has that does not answer
// server/discover: it is asked for each of its lists, and has what it lists.
// What nobody said it can do, such as telling of changes, it cannot. The answer
// is that which a discovery would have had; a server that lists nothing is none,
// and its refusal of the discovery is the error.
func (c *conversation) undiscovered(ctx context.Context, client mcp.Peer, version mcp.Version, refusal *mcp.Message) (*mcp.Message, error) {
	f := c.facing(client, mcp.Peer{Version: version})
	capabilities, meta := mcp.NewObject(), mcp.NewObject()
	for _, l := range []struct{ method, capability string }{
		{mcp.ToolsList, "tools"}, {mcp.PromptsList, "prompts"}, {mcp.ResourcesList, "resources"},
	} {
		m := mcp.NewRequest(l.method, stamps(version, client.Info, rewrite.StampedCapabilities(f)))
		m.Header = c.headers.get()
		answer, _, err := c.ask(ctx, m, true)
		if err != nil {
			return nil, err
		}
		if answer.Kind != mcp.Result {
			continue
		}
		capabilities.Set(l.capability, mcp.Raw("{}"))
		if info, ok := answer.Meta().Get(mcp.MetaServerInfo); ok {
			meta.Set(mcp.MetaServerInfo, info)
		}
	}
	if capabilities.Len() == 0 {
		return nil, refusedWith("upstreamCode", refusal.Code())
	}
	body := mcp.NewObject()
	body.Set("supportedVersions", mcp.Strings([]string{string(version)}))
	body.SetObject("capabilities", capabilities)
	body.SetObject("_meta", meta)
	return &mcp.Message{Kind: mcp.Result, Method: mcp.Discover, Body: body}, nil
}
