package rewrite

import (
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func degradeLinks(e *Edit) {
	degrade := func(b *mcp.Object) {
		if isType(b, "resource_link") {
			linkToText(b)
			e.Changed()
			e.Lose("a resource link became text")
		}
	}
	switch {
	case e.Is(mcp.Result, mcp.ToolsCall), e.Is(mcp.Result, mcp.TasksResult):
		eachBlock(e.Msg.Body.Array("content"), degrade)
	case e.Is(mcp.Result, mcp.PromptsGet):
		eachMessage(e.Msg.Body, func(m *mcp.Object) { degrade(m.Object("content")) })
	}
}

// linkToText writes the link's members as lines. Audience and priority stay,
// as annotations of the text.
func linkToText(b *mcp.Object) {
	name, title := b.Text("name"), b.Text("title")
	if title != "" && title != name {
		name = title + " (" + name + ")"
	}
	lines := []string{"Resource link: " + name, "URI: " + b.Text("uri")}
	for _, f := range []struct{ label, member string }{{"MIME type", "mimeType"}, {"Size", "size"}, {"Description", "description"}} {
		v, ok := b.Get(f.member)
		text, isText := v.Text()
		switch {
		case !ok || v.IsNull():
		case f.member == "size":
			lines = append(lines, "Size: "+string(v)+" bytes")
		case isText:
			lines = append(lines, f.label+": "+text)
		}
	}
	for _, name := range []string{"uri", "name", "title", "description", "mimeType", "size", "icons", "_meta"} {
		b.Delete(name)
	}
	b.Set("type", mcp.Raw(`"text"`))
	b.Set("text", mcp.Quote(strings.Join(lines, "\n")))
	if a := b.Object("annotations"); a != nil && a.Delete("lastModified") && a.Len() == 0 {
		b.Delete("annotations")
	}
}
