package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

const v20241105 mcp.Version = "2024-11-05"

// rev20241105 is the oldest rung. Its changes mend what is wrong in every
// revision.
func rev20241105() Revision {
	return Revision{
		Version: v20241105,
		Traits:  mcp.Traits{Opening: mcp.Initialize, Sessions: true},
		Changes: []Change{
			{
				Name: "mend-content", Class: Repair, Repair: mendContent,
				Doc:    "Makes content blocks of what some servers put in a tool result instead: a string, a single object, text that is no string, blocks of a type that no revision knows.",
				Source: "schema CallToolResult.content",
			},
			{
				Name: "fill-content", Class: Repair, Repair: fillContent,
				Doc:    "Gives a tool result without a content array an empty one: every revision requires it.",
				Source: "schema CallToolResult.content",
			},
			{
				Name: "mend-nulls", Class: Repair, Repair: mendNulls,
				Doc:    "Writes a null list as an empty one and removes optional members that are null, for which strict clients drop the whole answer.",
				Source: "schema ListToolsResult and its like",
			},
			{
				Name: "mend-arguments", Class: Repair, Repair: mendArguments,
				Doc:    "Writes empty arguments as an object where a client wrote an empty array, and leaves out arguments that are null.",
				Source: "schema CallToolRequest.params.arguments",
			},
			{
				Name: "mend-schemas", Class: Repair, Repair: mendSchemas,
				Doc:    "Gives a tool the object schema that every revision requires of its input, and writes true and false among the properties of a schema as objects.",
				Source: "schema Tool.inputSchema; server/tools \"Tool\"",
			},
			{
				Name: "mend-audience", Class: Repair, Repair: mendAudience,
				Doc:    "Removes values of audience that no revision knows, for which clients reject the whole answer.",
				Source: "schema Annotations.audience", Loss: "the unknown value",
			},
			{
				Name: "mend-capabilities", Class: Repair, Repair: mendCapabilities,
				Doc:    "Writes a capability that is true as an empty object, and removes one that is no object otherwise.",
				Source: "schema ClientCapabilities, ServerCapabilities",
			},
			{
				Name: "drop-empty-cursor", Class: Repair, Repair: dropEmptyCursor,
				Doc:    `Removes nextCursor "" and null from a list: clients take them for one more page and never end.`,
				Source: "server/utilities/pagination \"Response Format\"",
			},
			{
				Name: "answer-undeclared-lists", Class: Repair, Stage: newEmptyLists,
				Doc:    "Answers a list request for a capability the server did not declare with an empty list: many clients ask regardless and take -32601 for a failed connection.",
				Source: "basic/lifecycle \"Capability Negotiation\"",
			},
			{
				Name: "flatten-lists", Class: Repair, Stage: newFlattening,
				Doc:    "On routes that ask for it: gathers all pages of a list into one answer, for clients that read only the first; a page that fails fails the list.",
				Source: "server/utilities/pagination", Loss: "pages after one that leads back to an earlier one",
			},
		},
	}
}

// fillContent: the member is required whatever else the result has.
func fillContent(e *Edit) {
	body := e.toolResult()
	if body == nil {
		return
	}
	if v, ok := body.Get("content"); !ok || v.IsNull() {
		body.Set("content", mcp.Raw("[]"))
		e.Changed()
	}
}

func dropEmptyCursor(e *Edit) {
	if e.Msg.Kind != mcp.Result || e.To != mcp.Client || listMember(e.Msg.Method) == "" {
		return
	}
	// A stateless server's "" is a cursor like any other.
	if v, ok := e.Msg.Body.Get("nextCursor"); ok && (v.IsNull() || v.Is("") && e.Sender < v20260728) {
		e.remove(e.Msg.Body, "nextCursor")
	}
}

// listMember names the member of a list result that holds the list; "" for a
// method that lists nothing.
func listMember(method string) string {
	switch method {
	case mcp.ToolsList:
		return "tools"
	case mcp.PromptsList:
		return "prompts"
	case mcp.ResourcesList:
		return "resources"
	case mcp.TemplatesList:
		return "resourceTemplates"
	}
	return ""
}

// emptyLists answers list requests for what the server does not have.
type emptyLists struct {
	Passive
	server mcp.Peer
}

func newEmptyLists(f Facing, _ Deps) Stage {
	if f.Client.Version >= v20260728 { // which is told that there is no such method
		return Passive{}
	}
	return &emptyLists{server: f.Server}
}

// ToServer implements Stage.
func (s *emptyLists) ToServer(m *mcp.Message, out *Out) {
	member := listMember(m.Method)
	capability := member
	if m.Method == mcp.TemplatesList {
		capability = "resources"
	}
	if m.Kind != mcp.Request || member == "" || s.server.Capabilities.Has(capability) {
		out.Forward(m)
		return
	}
	result := mcp.NewObject()
	result.Set(member, mcp.Raw("[]"))
	out.Rewritten()
	out.Answer(m.Answer(result))
}
