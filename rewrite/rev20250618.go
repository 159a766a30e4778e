package rewrite

import (
	"slices"

	"github.com/mcpbridge/mcpbridge/mcp"
)

const v20250618 mcp.Version = "2025-06-18"

func rev20250618() Revision {
	return Revision{
		Version: v20250618,
		Traits:  mcp.Traits{Opening: mcp.Initialize, Sessions: true, VersionHeader: true},
		Changes: slices.Concat(elicitation(), structured(), titles()),
	}
}

// elicitation lists what the revision changed by adding elicitation.
func elicitation() []Change {
	return []Change{
		{
			Name: "answer-undeclared", Class: Repair, Stage: newUndeclared, Lacks: needsElicitation,
			Doc:    "Answers a server that asks what its client cannot answer: elicitation by the route's fallback, sampling and roots with an error.",
			Source: "client/elicitation \"Capabilities\" and \"Error Handling\"", Loss: "the question, unless the fallback explains it",
		},
		{
			Name: "cancel-failed-elicitation", Class: Repair, Stage: newFailedElicitation,
			Doc:    "Answers cancel for a client that declared elicitation and then refuses it or stays silent, and does not ask that client again.",
			Source: "client/elicitation \"Response Actions\"",
		},
		{
			Name: "normalize-elicitation-answer", Class: Repair, Repair: normalizeAnswer,
			Doc:    "Spells an elicitation answer as the schema does: decline for reject, cancel for what is no action, content only with accept.",
			Source: "schema ElicitResult",
		},
		{
			Name: "drop-elicitation-capability", Class: Breaking, Downgrade: dropElicitation, Upgrade: dropElicitation,
			Doc:    "Removes the elicitation capability toward servers that do not know it, some of which fail to read it, and from clients whose version does not have it.",
			Source: "schema ClientCapabilities.elicitation",
		},
	}
}

// structured lists what the revision changed by adding structured content.
func structured() []Change {
	return []Change{
		{
			Name: "inject-text", Class: Repair, Repair: injectText,
			Doc:    "Appends a text block with the JSON of structuredContent to a tool result that has no text.",
			Source: "server/tools \"Structured Content\"",
		},
		{
			Name: "wrap-structured-content", Class: Repair, Stage: newWrapping,
			Doc:    `Wraps structuredContent that is no object as {"result": value}, together with the tool's output schema, or removes it where the schema is not known.`,
			Source: "schema CallToolResult.structuredContent; SEP-2106", Loss: "the value, where no schema is known; its text stays",
		},
		{
			Name: "repair-output-schema", Class: Repair, Stage: newSchemaRepair,
			Doc:    "On routes that ask for it: makes structuredContent of text that fulfils the tool's output schema, and removes it from error results that break it.",
			Source: "server/tools \"Output Schema\"",
		},
		{
			Name: "strip-output-schema", Class: Repair, Stage: newSchemaStrip,
			Doc:    "On routes that ask for it: removes outputSchema of tools, for servers that never fulfil it and clients that reject such results. structuredContent stays.",
			Source: "server/tools \"Output Schema\"", Loss: "the schema",
		},
		{
			Name: "drop-structured-content", Class: Additive, Downgrade: dropStructured,
			Doc:    "Removes structuredContent once a text block says the same.",
			Source: "schema CallToolResult.structuredContent", Loss: "the structure; its text stays",
		},
		{
			Name: "drop-output-schema", Class: Additive, Downgrade: dropOutputSchema,
			Doc:    "Removes outputSchema of tools together with structuredContent: clients that validate would miss it.",
			Source: "schema Tool.outputSchema", Loss: "the schema",
		},
		{
			Name: "check-output-schema", Class: Repair, Check: checkOutputSchema,
			Doc:    "Removes an outputSchema that is no schema.",
			Source: "schema Tool.outputSchema",
		},
		{
			Name: "degrade-resource-link", Class: Breaking, Downgrade: degradeLinks,
			Doc:    "Turns a resource_link block of a tool result or prompt into a text block that says the same.",
			Source: "schema ResourceLink", Loss: "the link is text",
		},
	}
}

// titles lists what the revision changed in names, titles and metadata.
func titles() []Change {
	return []Change{
		{
			Name: "drop-implementation-title", Class: Breaking, Downgrade: dropTitle,
			Doc:    "Removes title from clientInfo and serverInfo; some older peers fail on a member they do not know.",
			Source: "schema Implementation", Loss: "the title of a peer",
		},
		{
			Name: "fold-title", Class: Additive, Downgrade: foldTitles,
			Doc:    "Moves the title of a tool into its annotations and that of resources, templates, prompts and arguments into an absent description.",
			Source: "schema BaseMetadata", Loss: "a title beside a description",
		},
		{
			Name: "check-title", Class: Repair, Check: checkTitles,
			Doc:    "Removes a title that is no string.",
			Source: "schema BaseMetadata",
		},
		{
			Name: "drop-nested-meta", Class: Additive, Downgrade: dropNestedMeta,
			Doc:    "Removes _meta of list items, content blocks, resource contents and roots; that of requests and results stays.",
			Source: "basic \"_meta\"", Loss: "_meta below the top",
		},
		{
			Name: "check-nested-meta", Class: Repair, Check: checkNestedMeta,
			Doc:    "Removes _meta that is no object.",
			Source: "basic \"_meta\"",
		},
		{
			Name: "drop-last-modified", Class: Additive, Downgrade: dropLastModified,
			Doc:    "Removes lastModified from annotations.",
			Source: "schema Annotations.lastModified", Loss: "the time",
		},
		{
			Name: "check-last-modified", Class: Repair, Check: checkLastModified,
			Doc:    "Removes lastModified where it is no time, for which clients reject the whole list.",
			Source: "schema Annotations.lastModified",
		},
		{
			Name: "drop-completion-context", Class: Additive, Downgrade: dropCompletionContext,
			Doc:    "Removes the context of a completion request and the title of its reference.",
			Source: "schema CompleteRequest.params.context", Loss: "the values that were chosen before",
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
