package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

// isType reports whether a content block is of that type.
func isType(block *mcp.Object, name string) bool {
	if block == nil {
		return false
	}
	v, _ := block.Get("type")
	return v.Is(name)
}

// eachBlock visits the objects of a content array.
func eachBlock(content *mcp.Array, visit func(*mcp.Object)) {
	for i := range content.Len() {
		if block := content.Object(i); block != nil {
			visit(block)
		}
	}
}

// eachMessage visits the objects of a messages array.
func eachMessage(body *mcp.Object, visit func(*mcp.Object)) {
	if body == nil {
		return
	}
	messages := body.Array("messages")
	for i := range messages.Len() {
		if m := messages.Object(i); m != nil {
			visit(m)
		}
	}
}

// holdsType reports whether the content of a message, a block or an array of
// blocks, has a block of that type.
func holdsType(m *mcp.Object, name string) bool {
	if isType(m.Object("content"), name) {
		return true
	}
	found := false
	eachBlock(m.Array("content"), func(b *mcp.Object) { found = found || isType(b, name) })
	return found
}

// textBlock returns a new text block.
func textBlock(text mcp.Raw) *mcp.Object {
	b := mcp.NewObject()
	b.Set("type", mcp.Raw(`"text"`))
	b.Set("text", text)
	return b
}
