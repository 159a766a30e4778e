package rewrite

import (
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func dropToolAnnotations(e *Edit) {
	if e.Msg.Method == mcp.ToolsList {
		eachListed(e.Msg, func(tool *mcp.Object) {
			if tool.Has("annotations") {
				e.remove(tool, "annotations")
				e.Lose("annotations of a tool")
			}
		})
	}
}

// checkToolAnnotations: newer clients reject the whole list for one bad hint.
func checkToolAnnotations(e *Edit) {
	if e.Msg.Method != mcp.ToolsList {
		return
	}
	eachListed(e.Msg, func(tool *mcp.Object) {
		v, ok := tool.Get("annotations")
		if !ok {
			return
		}
		a := tool.Object("annotations")
		if !v.IsObject() {
			e.remove(tool, "annotations")
			return
		}
		had := a.Len()
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if h, has := a.Get(hint); has && string(h) != "true" && string(h) != "false" {
				e.remove(a, hint)
			}
		}
		e.keepStrings(a, "title")
		if had > 0 && a.Len() == 0 {
			e.remove(tool, "annotations")
		}
	})
}

// keepStrings removes members that are there and no strings.
func (e *Edit) keepStrings(o *mcp.Object, members ...string) {
	for _, name := range members {
		if v, ok := o.Get(name); ok && !v.IsString() {
			e.remove(o, name)
		}
	}
}

// keepObjects removes members that are there and no objects.
func (e *Edit) keepObjects(o *mcp.Object, members ...string) {
	for _, name := range members {
		if v, ok := o.Get(name); ok && !v.IsObject() {
			e.remove(o, name)
		}
	}
}

func dropProgressMessage(e *Edit) {
	if e.Msg.Method == mcp.Progress && e.Msg.Body.Has("message") {
		e.remove(e.Msg.Body, "message")
		e.Lose("the message of a progress notification")
	}
}

func checkProgressMessage(e *Edit) {
	if e.Msg.Method == mcp.Progress {
		e.keepStrings(e.Msg.Body, "message")
	}
}

func dropLastModified(e *Edit) {
	eachAnnotated(e.Msg, func(o *mcp.Object) { e.removeAnnotation(o, "lastModified") })
}

// removeAnnotation removes one annotation, and annotations that are left
// empty by it.
func (e *Edit) removeAnnotation(o *mcp.Object, name string) {
	a := o.Object("annotations")
	if a == nil || !a.Has(name) {
		return
	}
	e.remove(a, name)
	if a.Len() == 0 {
		e.remove(o, "annotations")
	}
}

// checkLastModified: clients reject the whole list for a time that is none.
func checkLastModified(e *Edit) {
	eachAnnotated(e.Msg, func(o *mcp.Object) {
		a := o.Object("annotations")
		if a == nil || !a.Has("lastModified") {
			return
		}
		if _, err := time.Parse(time.RFC3339, a.Text("lastModified")); err != nil {
			e.removeAnnotation(o, "lastModified")
		}
	})
}

// mendAudience keeps the values that every revision's schema knows; clients
// reject the whole answer for another.
func mendAudience(e *Edit) {
	eachAnnotated(e.Msg, func(o *mcp.Object) {
		a := o.Object("annotations")
		if a == nil || !a.Has("audience") {
			return
		}
		list := a.Array("audience")
		if list == nil {
			e.removeAnnotation(o, "audience")
			return
		}
		for i := list.Len() - 1; i >= 0; i-- {
			if v := list.At(i); !v.Is("user") && !v.Is("assistant") {
				list.Remove(i)
				e.Changed()
			}
		}
		if list.Len() == 0 {
			e.removeAnnotation(o, "audience")
		}
	})
}
