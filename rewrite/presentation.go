package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

func dropNestedMeta(e *Edit) {
	eachMeta(e.Msg, func(o *mcp.Object) { e.remove(o, "_meta") })
}

func checkNestedMeta(e *Edit) {
	eachMeta(e.Msg, func(o *mcp.Object) { e.keepObjects(o, "_meta") })
}

// dropSamplingMeta: only the messages; their content has its own rule.
func dropSamplingMeta(e *Edit) {
	if e.Is(mcp.Request, mcp.CreateMessage) {
		eachMessage(e.Msg.Body, func(m *mcp.Object) { e.remove(m, "_meta") })
	}
}

// checkTitles: an untyped private member of that name is no title.
func checkTitles(e *Edit) {
	eachListed(e.Msg, func(item *mcp.Object) {
		e.keepStrings(item, "title")
		eachBlock(item.Array("arguments"), func(a *mcp.Object) { e.keepStrings(a, "title") })
	})
	if info := implementation(e.Msg); info != nil {
		e.keepStrings(info, "title")
	}
}

// checkOutputSchema: what the root of a schema may be is a repair of its own;
// here it must only be a schema.
func checkOutputSchema(e *Edit) {
	if e.Msg.Method == mcp.ToolsList {
		eachListed(e.Msg, func(tool *mcp.Object) {
			if v, ok := tool.Get("outputSchema"); ok && !v.IsObject() {
				e.remove(tool, "outputSchema")
			}
		})
	}
}

func dropCompletionContext(e *Edit) {
	if !e.Is(mcp.Request, mcp.Complete) || e.Msg.Body == nil {
		return
	}
	if e.Msg.Body.Has("context") {
		e.remove(e.Msg.Body, "context")
		e.Lose("the context of a completion")
	}
	e.remove(e.Msg.Body.Object("ref"), "title")
}

func dropIcons(e *Edit) {
	eachIconed(e.Msg, func(o *mcp.Object) {
		if o.Has("icons") {
			e.remove(o, "icons")
			e.Lose("icons")
		}
	})
}

// checkIcons: clients reject the whole list for one icon that is none.
func checkIcons(e *Edit) {
	check := func(o *mcp.Object) {
		if o.Has("icons") && !validIcons(o.Array("icons")) {
			e.remove(o, "icons")
		}
	}
	eachIconed(e.Msg, check)
	if info := implementation(e.Msg); info != nil {
		check(info)
		e.keepStrings(info, "description", "websiteUrl")
	}
}

func validIcons(list *mcp.Array) bool {
	if list == nil {
		return false
	}
	for i := range list.Len() {
		icon, ok := mcp.ParseObject(list.At(i))
		if !ok {
			return false
		}
		src, _ := icon.Get("src")
		if !src.IsString() || !validSizes(icon) || !validTheme(icon) {
			return false
		}
	}
	return true
}

func validSizes(icon *mcp.Object) bool {
	if !icon.Has("sizes") {
		return true
	}
	sizes := icon.Array("sizes")
	if sizes == nil {
		return false
	}
	for i := range sizes.Len() {
		if !sizes.At(i).IsString() {
			return false
		}
	}
	return true
}

func validTheme(icon *mcp.Object) bool {
	v, ok := icon.Get("theme")
	return !ok || v.Is("light") || v.Is("dark")
}

// dropExecution: an older server cannot run tasks, whatever its member of that
// name means, and an older client has no use for it.
func dropExecution(e *Edit) {
	if e.Msg.Method == mcp.ToolsList {
		eachListed(e.Msg, func(tool *mcp.Object) { e.remove(tool, "execution") })
	}
}
