package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

// injectText appends the structured content as text. Text stands last, so it
// never comes between blocks that belong together.
func injectText(e *Edit) {
	if e.Options.InjectText == mcp.InjectNever {
		return
	}
	body := e.toolResult()
	if body == nil {
		return
	}
	v, ok := body.Get("structuredContent")
	if !ok || v.IsNull() && e.Sender < v20260728 { // before, null was no value
		return
	}
	if hasText(body) && (e.Options.InjectText == mcp.InjectMissing || saysSame(body, v)) {
		return
	}
	appendText(body, v)
	e.Changed()
}

func hasText(body *mcp.Object) bool {
	found := false
	eachBlock(body.Array("content"), func(b *mcp.Object) { found = found || isType(b, "text") })
	return found
}

// saysSame reports whether a text block is JSON that means the same as v.
func saysSame(body *mcp.Object, v mcp.Raw) bool {
	found := false
	eachBlock(body.Array("content"), func(b *mcp.Object) {
		if found || !isType(b, "text") {
			return
		}
		parsed, err := mcp.ParseRaw([]byte(b.Text("text")))
		found = err == nil && mcp.Equivalent(parsed, v)
	})
	return found
}

func appendText(body *mcp.Object, v mcp.Raw) {
	content := body.Array("content")
	if content == nil {
		content = mcp.NewArray()
		body.SetArray("content", content)
	}
	content.AddObject(textBlock(mcp.QuoteRaw(v.Compact())))
}
