package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

func foldTitles(e *Edit) {
	if e.Msg.Kind != mcp.Result || listMember(e.Msg.Method) == "" {
		return
	}
	eachBlock(e.Msg.Body.Array(listMember(e.Msg.Method)), func(item *mcp.Object) {
		if e.Msg.Method == mcp.ToolsList {
			titleToAnnotation(e, item)
			return
		}
		titleToDescription(e, item)
		eachBlock(item.Array("arguments"), func(a *mcp.Object) { titleToDescription(e, a) })
	})
}

// titleToAnnotation: 2025-03-26 clients show annotations.title.
func titleToAnnotation(e *Edit, tool *mcp.Object) {
	title, ok := tool.Get("title")
	if !ok {
		return
	}
	if !title.IsString() {
		e.remove(tool, "title")
		return
	}
	annotations := tool.Object("annotations")
	if annotations == nil {
		annotations = mcp.NewObject()
		tool.SetObject("annotations", annotations)
	}
	if !annotations.Has("title") {
		annotations.Set("title", title)
	}
	e.remove(tool, "title")
}

// titleToDescription never touches the name: clients key on it.
func titleToDescription(e *Edit, item *mcp.Object) {
	title, ok := item.Get("title")
	if !ok {
		return
	}
	if title.IsString() && !item.Has("description") {
		item.Set("description", title)
	}
	e.remove(item, "title")
}
