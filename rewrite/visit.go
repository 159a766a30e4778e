package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

// The walks below follow the paths on which protocol types stand. They never
// look into opaque payloads: arguments, structured content, schemas, _meta.

// eachListed visits the items of a list result.
func eachListed(m *mcp.Message, visit func(*mcp.Object)) {
	if member := listMember(m.Method); m.Kind == mcp.Result && member != "" {
		eachBlock(m.Body.Array(member), visit)
	}
}

// eachContent visits every content block of a message, wherever the message
// has some: tool results, prompts, sampling both ways.
func eachContent(m *mcp.Message, visit func(*mcp.Object)) {
	switch {
	case m.Kind == mcp.Result && (m.Method == mcp.ToolsCall || m.Method == mcp.TasksResult):
		eachBlock(m.Body.Array("content"), visit)
	case m.Kind == mcp.Result && m.Method == mcp.PromptsGet, m.Kind == mcp.Request && m.Method == mcp.CreateMessage:
		eachMessage(m.Body, func(msg *mcp.Object) { eachOf(msg, visit) })
	case m.Kind == mcp.Result && m.Method == mcp.CreateMessage:
		eachOf(m.Body, visit)
	}
}

// eachOf visits the content of one message: a block, or an array of blocks.
func eachOf(message *mcp.Object, visit func(*mcp.Object)) {
	if block := message.Object("content"); block != nil {
		visit(block)
		return
	}
	eachBlock(message.Array("content"), visit)
}

// eachAnnotated visits what may carry annotations of content: resources,
// templates, content blocks.
func eachAnnotated(m *mcp.Message, visit func(*mcp.Object)) {
	if m.Method == mcp.ResourcesList || m.Method == mcp.TemplatesList {
		eachListed(m, visit)
	}
	eachContent(m, visit)
}

// eachMeta visits what gained a _meta of its own in 2025-06-18.
func eachMeta(m *mcp.Message, visit func(*mcp.Object)) {
	eachListed(m, visit)
	eachContent(m, func(block *mcp.Object) {
		visit(block)
		if resource := block.Object("resource"); resource != nil {
			visit(resource)
		}
	})
	switch {
	case m.Kind == mcp.Result && m.Method == mcp.ResourcesRead:
		eachBlock(m.Body.Array("contents"), visit)
	case m.Kind == mcp.Result && m.Method == mcp.RootsList:
		eachBlock(m.Body.Array("roots"), visit)
	}
}

// eachIconed visits what may carry icons outside of a handshake.
func eachIconed(m *mcp.Message, visit func(*mcp.Object)) {
	eachListed(m, visit)
	eachContent(m, func(block *mcp.Object) {
		if isType(block, "resource_link") {
			visit(block)
		}
	})
}
