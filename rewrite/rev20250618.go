package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

const v20250618 mcp.Version = "2025-06-18"

func rev20250618() Revision {
	return Revision{
		Version: v20250618,
		Traits:  mcp.Traits{Opening: mcp.Initialize, Sessions: true, VersionHeader: true},
		Changes: append(elicitation(), structured()...),
	}
}

// elicitation lists what the revision changed by adding elicitation, and its
// smaller changes.
func elicitation() []Change {
	return []Change{
		{
			Name: "answer-undeclared", Class: Repair, Stage: newUndeclared, Lacks: needsElicitation,
			Doc: "Answers a server that asks what its client cannot answer: elicitation by the route's fallback, sampling and roots with an error. client/elicitation \"Capabilities\" and \"Error Handling\".",
		},
		{
			Name: "cancel-failed-elicitation", Class: Repair, Stage: newFailedElicitation,
			Doc: "Answers cancel for a client that declared elicitation and then refuses it or stays silent, and does not ask that client again. client/elicitation \"Response Actions\".",
		},
		{
			Name: "normalize-elicitation-answer", Class: Repair, Repair: normalizeAnswer,
			Doc: "Spells an elicitation answer as the schema does: decline for reject, cancel for what is no action, content only with accept. Schema: ElicitResult.",
		},
		{
			Name: "drop-elicitation-capability", Class: Breaking, Downgrade: dropElicitation, Upgrade: dropElicitation,
			Doc: "Removes the elicitation capability toward servers that do not know it, some of which fail to read it, and from clients whose version does not have it. Schema: ClientCapabilities.elicitation.",
		},
		{
			Name: "drop-implementation-title", Class: Breaking, Downgrade: dropTitle,
			Doc: "Removes title from clientInfo and serverInfo; some older peers fail on a member they do not know. Schema: Implementation.",
		},
		{
			Name: "degrade-resource-link", Class: Breaking, Downgrade: degradeLinks,
			Doc: "Turns a resource_link block of a tool result or prompt into a text block that says the same. Schema: ResourceLink.",
		},
		{
			Name: "fold-title", Class: Additive, Downgrade: foldTitles,
			Doc: "Moves the title of a tool into its annotations and that of resources, templates, prompts and arguments into an absent description. Schema: BaseMetadata.",
		},
	}
}

// structured lists what the revision changed by adding structured content.
func structured() []Change {
	return []Change{
		{
			Name: "inject-text", Class: Repair, Repair: injectText,
			Doc: "Appends a text block with the JSON of structuredContent to a tool result that has no text. server/tools \"Structured Content\".",
		},
		{
			Name: "wrap-structured-content", Class: Repair, Stage: newWrapping,
			Doc: `Wraps structuredContent that is no object as {"result": value}, together with the tool's output schema, or removes it where the schema is not known. Schema: CallToolResult.structuredContent; SEP-2106.`,
		},
		{
			Name: "repair-output-schema", Class: Repair, Stage: newSchemaRepair,
			Doc: "On routes that ask for it: makes structuredContent of text that fulfils the tool's output schema, and removes it from error results that break it. server/tools \"Output Schema\".",
		},
		{
			Name: "drop-structured-content", Class: Additive, Downgrade: dropStructured,
			Doc: "Removes structuredContent once a text block says the same. Schema: CallToolResult.structuredContent.",
		},
		{
			Name: "drop-output-schema", Class: Additive, Downgrade: dropOutputSchema,
			Doc: "Removes outputSchema of tools together with structuredContent: clients that validate would miss it. Schema: Tool.outputSchema.",
		},
	}
}

func needsElicitation(m *mcp.Message) string {
	if m.Method == mcp.Elicit {
		return "elicitation"
	}
	return ""
}

func dropElicitation(e *Edit) {
	if e.Is(mcp.Request, mcp.Initialize) && e.Msg.Body != nil {
		e.remove(e.Msg.Body.Object("capabilities"), "elicitation")
	}
}

func dropTitle(e *Edit) { e.remove(implementation(e.Msg), "title") }

// implementation opens clientInfo or serverInfo of a handshake message.
func implementation(m *mcp.Message) *mcp.Object {
	switch {
	case m.Method != mcp.Initialize || m.Body == nil:
		return nil
	case m.Kind == mcp.Request:
		return m.Body.Object("clientInfo")
	case m.Kind == mcp.Result:
		return m.Body.Object("serverInfo")
	}
	return nil
}

func dropStructured(e *Edit) {
	body := e.toolResult()
	if body == nil || !body.Has("structuredContent") {
		return
	}
	if v, _ := body.Get("structuredContent"); !v.IsNull() && !saysSame(body, v) {
		appendText(body, v)
	}
	e.remove(body, "structuredContent")
	e.Lose("structuredContent is left as text")
}

func dropOutputSchema(e *Edit) {
	if e.Is(mcp.Result, mcp.ToolsList) {
		eachBlock(e.Msg.Body.Array("tools"), func(tool *mcp.Object) {
			if tool.Has("outputSchema") {
				e.remove(tool, "outputSchema")
				e.Lose("outputSchema of a tool")
			}
		})
	}
}
