package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

// The quirks that whoever carries messages sees to.
const (
	// AnswerNeedsCapabilityWith200 is about the HTTP status of -32021.
	AnswerNeedsCapabilityWith200 = "answer-needs-capability-with-200"
	// AcceptRespelledIDs is about ids of answers.
	AcceptRespelledIDs = "accept-respelled-ids"
)

// Quirks returns the table of known misbehaving peers. docs/quirks.md is made
// of it. Peers that do not say by name what they are built with have no match
// here, and wait for an operator who knows them.
func Quirks() []Quirk {
	return []Quirk{
		{
			Name: AnswerNeedsCapabilityWith200, Of: mcp.Client,
			Doc:    "Clients on the Go SDK 1.7 give up their whole connection when a call is answered with status 400, which the stateless revision demands for error -32021. They get the same error with status 200, and lose only the call.",
			Report: "https://github.com/modelcontextprotocol/go-sdk/issues/1117",
			Peers:  []mcp.ClientMatch{{Name: "mcp-broker"}}, // built with it since Kuadrant/mcp-gateway#1218
		},
		{
			Name: "split-type-lists", Of: mcp.Client, repair: splitTypeLists,
			Doc:    `Clients drop a tool with a parameter whose type is a list, as ["number","null"]. They get the same as anyOf.`,
			Report: "https://github.com/baruchiro/paperless-mcp/issues/138",
			Peers:  []mcp.ClientMatch{{Name: "mcp-broker"}}, // the Kuadrant MCP gateway
		},
		{
			Name: "spell-out-resource-links", Of: mcp.Client, repair: degradeLinks,
			Doc:    "Clients throw a whole tool result away for a resource_link in it, although their version has such blocks. They get a text block that says the same, as older versions do.",
			Report: "https://github.com/kirodotdev/Kiro/issues/8960",
		},
		{
			Name: "drop-experimental-capabilities", Of: mcp.Server, Early: true, repair: dropExperimental,
			Doc:    "Servers on the Swift SDK up to 0.12.1 refuse a handshake with an experimental capability that is an object, as every one is. Such capabilities of the client are left out.",
			Report: "https://github.com/modelcontextprotocol/swift-sdk/issues/287",
		},
		{
			Name: AcceptRespelledIDs, Of: mcp.Server,
			Doc:    `Servers answer "1" to the request 1. The bridge's own ids are numbers, so that the answer belongs to that request; without this it would be dropped.`,
			Report: "https://github.com/modelcontextprotocol/python-sdk/pull/1720",
			Peers:  []mcp.ClientMatch{{Name: "*"}},
		},
	}
}
