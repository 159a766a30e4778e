package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

// mendNulls: a null is how some languages write an empty list or an absent
// member. No revision allows it in these places, and strict clients drop the
// whole answer for it.
func mendNulls(e *Edit) {
	if e.Msg.Kind != mcp.Result || e.To != mcp.Client {
		return
	}
	member := listMember(e.Msg.Method)
	switch e.Msg.Method {
	case mcp.PromptsGet:
		member = "messages"
	case mcp.ResourcesRead:
		member = "contents"
	}
	if member == "" {
		return
	}
	if v, ok := e.Msg.Body.Get(member); ok && v.IsNull() {
		e.Msg.Body.Set(member, mcp.Raw("[]"))
		e.Changed()
	}
	list := e.Msg.Body.Array(member)
	for i := list.Len() - 1; i >= 0; i-- {
		if list.At(i).IsNull() {
			list.Remove(i)
			e.Changed()
		}
	}
	eachBlock(list, func(item *mcp.Object) { e.removeNulls(item) })
}

// removeNulls removes the optional members of the protocol that are null.
func (e *Edit) removeNulls(o *mcp.Object) {
	for _, name := range []string{
		"title", "description", "annotations", "outputSchema", "icons", "execution", "_meta",
		"mimeType", "size", "arguments", "text", "blob",
	} {
		if v, ok := o.Get(name); ok && v.IsNull() {
			e.remove(o, name)
		}
	}
}

// mendArguments: an empty array is how PHP writes an empty object, and null
// how Go writes a map that was never made.
func mendArguments(e *Edit) {
	if e.Msg.Kind != mcp.Request || e.To != mcp.Server || e.Msg.Body == nil {
		return
	}
	if v, ok := e.Msg.Body.Get("_meta"); ok && isEmptyArray(v) {
		e.remove(e.Msg.Body, "_meta")
	}
	if e.Msg.Method != mcp.ToolsCall && e.Msg.Method != mcp.PromptsGet {
		return
	}
	switch v, ok := e.Msg.Body.Get("arguments"); {
	case !ok:
	case v.IsNull():
		e.remove(e.Msg.Body, "arguments")
	case isEmptyArray(v):
		e.Msg.Body.Set("arguments", mcp.Raw("{}"))
		e.Changed()
	}
}

func isEmptyArray(v mcp.Raw) bool {
	list, ok := mcp.ParseArray(v)
	return ok && list.Len() == 0
}

// mendCapabilities: capabilities are objects; true says what {} says.
func mendCapabilities(e *Edit) {
	if e.Msg.Method != mcp.Initialize || e.Msg.Body == nil {
		return
	}
	c := e.Msg.Body.Object("capabilities")
	for _, name := range []string{
		"elicitation", "sampling", "roots", "tasks", "experimental",
		"tools", "prompts", "resources", "logging", "completions",
	} {
		v, ok := c.Get(name)
		switch {
		case !ok || v.IsObject():
		case string(v) == "true":
			c.Set(name, mcp.Raw("{}"))
			e.Changed()
		default:
			e.remove(c, name)
		}
	}
}

// mendContent makes content blocks of what servers put in their place.
func mendContent(e *Edit) {
	body := e.toolResult()
	if body == nil {
		return
	}
	switch v, _ := body.Get("content"); {
	case v.IsString():
		list := mcp.NewArray()
		list.AddObject(textBlock(v))
		body.SetArray("content", list)
		e.Changed()
	case v.IsObject():
		list := mcp.NewArray()
		list.Add(v)
		body.SetArray("content", list)
		e.Changed()
	}
	content := body.Array("content")
	for i := range content.Len() {
		e.mendBlock(content, i)
	}
}

func (e *Edit) mendBlock(content *mcp.Array, i int) {
	raw := content.At(i)
	block := content.Object(i)
	switch {
	case block == nil:
		content.SetObject(i, textBlock(asText(raw)))
		e.Changed()
	case isType(block, "text"):
		if v, _ := block.Get("text"); !v.IsString() {
			block.Set("text", asText(v))
			e.Changed()
		}
	case !knownBlock(block.Text("type")):
		v, ok := block.Get(block.Text("type")) // {"type":"json","json":…}
		if !ok {
			v = raw
		}
		content.SetObject(i, textBlock(asText(v)))
		e.Changed()
	}
}

// asText returns a JSON string that says what v says.
func asText(v mcp.Raw) mcp.Raw {
	switch {
	case v.IsString():
		return v
	case v == nil || v.IsNull():
		return mcp.Raw(`""`)
	}
	return mcp.QuoteRaw(v.Compact())
}

func knownBlock(name string) bool {
	switch name {
	case "text", "image", "audio", "resource", "resource_link":
		return true
	}
	return false
}
