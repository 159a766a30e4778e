package rewrite

import (
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// needsSamplingTools names the feature that a sampling request needs when it
// gives the model tools. A request that gives none in effect, and shows none
// in its messages, needs nothing.
func needsSamplingTools(m *mcp.Message) string {
	if m.Method != mcp.CreateMessage || m.Kind != mcp.Request || m.Body == nil {
		return ""
	}
	if holdsToolBlocks(m.Body) || givesTools(m.Body) {
		return "sampling.tools"
	}
	return ""
}

func givesTools(params *mcp.Object) bool {
	if choice := params.Object("toolChoice"); choice != nil && choice.Text("mode") == "none" {
		return false
	}
	if v, ok := params.Get("tools"); ok {
		return !isEmptyArray(v)
	}
	return params.Has("toolChoice")
}

func holdsToolBlocks(params *mcp.Object) bool {
	found := false
	eachMessage(params, func(m *mcp.Object) {
		found = found || holdsType(m, "tool_use") || holdsType(m, "tool_result")
	})
	return found
}

// dropNoTools removes tools that the model may not use anyway.
func dropNoTools(e *Edit) {
	if e.Is(mcp.Request, mcp.CreateMessage) && e.Msg.Body != nil && needsSamplingTools(e.Msg) == "" {
		e.remove(e.Msg.Body, "tools", "toolChoice")
	}
}

// splitSamplingContent: before 2025-11-25 a message holds one block. Several
// become several messages of the same role, in order.
func splitSamplingContent(e *Edit) {
	if !e.Is(mcp.Request, mcp.CreateMessage) || e.Msg.Body == nil {
		return
	}
	messages := e.Msg.Body.Array("messages")
	split := false
	out := mcp.NewArray()
	for i := range messages.Len() {
		message := messages.Object(i)
		if message == nil || message.Array("content") == nil {
			out.Add(messages.At(i))
			continue
		}
		split = true
		for _, content := range oneByOne(message.Array("content")) {
			single := message.Clone()
			single.Set("content", content)
			out.AddObject(single)
		}
	}
	if split {
		e.Msg.Body.SetArray("messages", out)
		e.Changed()
	}
}

func oneByOne(content *mcp.Array) []mcp.Raw {
	if content.Len() == 0 {
		return []mcp.Raw{mcp.Raw(`{"type":"text","text":""}`)}
	}
	var out []mcp.Raw
	for i := range content.Len() {
		out = append(out, content.At(i))
	}
	return out
}

// joinSamplingContent makes one block of a client's answer. Texts are joined;
// what is no text is named where it stood.
func joinSamplingContent(e *Edit) {
	if !e.Is(mcp.Result, mcp.CreateMessage) {
		return
	}
	if isType(e.Msg.Body.Object("content"), "tool_use") {
		e.refuseContent()
		return
	}
	content := e.Msg.Body.Array("content")
	if content == nil {
		return
	}
	e.Changed()
	if content.Len() == 1 && !isType(content.Object(0), "tool_use") {
		e.Msg.Body.Set("content", content.At(0))
		return
	}
	var parts []string
	texts := 0
	for i := range content.Len() {
		block := content.Object(i)
		if isType(block, "text") {
			parts = append(parts, block.Text("text"))
			texts++
			continue
		}
		name := "content"
		if block != nil {
			name = block.Text("type")
		}
		parts = append(parts, "["+name+" omitted]")
		e.Lose("a block of a sampling answer")
	}
	if texts == 0 {
		e.refuseContent()
		return
	}
	e.Msg.Body.SetObject("content", textBlock(mcp.Quote(strings.Join(parts, "\n"))))
}

func (e *Edit) refuseContent() {
	e.Refuse(mcp.Errorf(mcp.CodeInternal, "the client answered with content that the server's protocol version cannot carry"))
}

// unwrapSamplingContent: also 2025-11-25 servers that gave no tools mostly
// read a single block only.
func unwrapSamplingContent(e *Edit) {
	if !e.Is(mcp.Result, mcp.CreateMessage) || e.To != mcp.Server {
		return
	}
	content := e.Msg.Body.Array("content")
	if content.Len() == 1 && !isType(content.Object(0), "tool_use") {
		e.Msg.Body.Set("content", content.At(0))
		e.Changed()
	}
}
