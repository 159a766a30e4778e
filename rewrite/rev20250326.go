package rewrite

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/mcpbridge/mcpbridge/mcp"
)

const v20250326 mcp.Version = "2025-03-26"

func rev20250326() Revision {
	return Revision{
		Version: v20250326,
		Traits:  mcp.Traits{Opening: mcp.Initialize, Sessions: true, Batches: true},
		Changes: []Change{
			{
				Name: "degrade-audio", Class: Breaking, Downgrade: degradeAudio,
				Doc:    "Turns an audio block of a tool result or prompt into an embedded resource with the same bytes; refuses it in sampling, where no block could hold it.",
				Source: "schema AudioContent", Loss: "audio is a resource; in sampling an error",
			},
			{
				Name: "drop-tool-annotations", Class: Additive, Downgrade: dropToolAnnotations,
				Doc:    "Removes the hints of tools.",
				Source: "schema ToolAnnotations", Loss: "hints",
			},
			{
				Name: "check-tool-annotations", Class: Repair, Check: checkToolAnnotations,
				Doc:    "Removes annotations of a tool that the schema does not allow, for which clients reject the whole list; older servers use the name for other things.",
				Source: "schema ToolAnnotations",
			},
			{
				Name: "drop-progress-message", Class: Additive, Downgrade: dropProgressMessage,
				Doc:    "Removes the message of a progress notification.",
				Source: "schema ProgressNotification.params.message", Loss: "the message",
			},
			{
				Name: "check-progress-message", Class: Repair, Check: checkProgressMessage,
				Doc:    "Removes a message of a progress notification that is no string.",
				Source: "schema ProgressNotification.params.message",
			},
			{
				Name: "translate-completions", Class: Breaking, Downgrade: dropCompletions, Upgrade: addCompletions,
				Doc:    "Removes the completions capability for clients that do not know it, and adds it for newer clients of a server that has prompts or resources, since completion was not gated before.",
				Source: "server/utilities/completion \"Capabilities\"",
			},
		},
	}
}

func degradeAudio(e *Edit) {
	switch {
	case e.Is(mcp.Result, mcp.ToolsCall), e.Is(mcp.Result, mcp.TasksResult):
		eachBlock(e.Msg.Body.Array("content"), func(b *mcp.Object) { embedAudio(e, b) })
	case e.Is(mcp.Result, mcp.PromptsGet):
		eachMessage(e.Msg.Body, func(m *mcp.Object) { embedAudio(e, m.Object("content")) })
	case e.Is(mcp.Request, mcp.CreateMessage):
		eachMessage(e.Msg.Body, func(m *mcp.Object) {
			if holdsType(m, "audio") {
				e.Refuse(mcp.Errorf(mcp.CodeInvalidParams, "audio content is not supported by the client's protocol version"))
			}
		})
	case e.Is(mcp.Result, mcp.CreateMessage):
		if holdsType(e.Msg.Body, "audio") {
			e.Refuse(mcp.Errorf(mcp.CodeInternal, "the client answered with audio content, which the server's protocol version cannot carry"))
		}
	}
}

// embedAudio keeps the bytes and names them by their digest, so that the same
// audio gets the same URI on every passage.
func embedAudio(e *Edit, block *mcp.Object) {
	if !isType(block, "audio") {
		return
	}
	data, ok := block.Get("data")
	if !ok {
		data = mcp.Quote("") // the new block must have some
	}
	digest := sha256.Sum256(data)
	resource := mcp.NewObject()
	resource.Set("uri", mcp.Quote("urn:mcpbridge:audio:"+hex.EncodeToString(digest[:16])))
	if mime, ok := block.Get("mimeType"); ok {
		resource.Set("mimeType", mime)
	}
	resource.Set("blob", data)
	block.Set("type", mcp.Raw(`"resource"`))
	block.SetObject("resource", resource)
	e.remove(block, "data", "mimeType")
	e.Changed()
	e.Lose("audio became an embedded resource")
}

func dropCompletions(e *Edit) {
	if e.Is(mcp.Result, mcp.Initialize) {
		e.remove(e.Msg.Body.Object("capabilities"), "completions")
	}
}

func addCompletions(e *Edit) {
	if !e.Is(mcp.Result, mcp.Initialize) {
		return
	}
	c := e.Msg.Body.Object("capabilities")
	if c == nil || c.Has("completions") || !c.Has("prompts") && !c.Has("resources") {
		return
	}
	c.Set("completions", mcp.Raw("{}"))
	e.Changed()
}
