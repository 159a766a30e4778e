package rewrite

import (
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// dropFormExtras: the mode of a form and the dialect of its schema.
func dropFormExtras(e *Edit) {
	if !e.Is(mcp.Request, mcp.Elicit) || e.Msg.Body == nil {
		return
	}
	if e.Msg.Body.Text("mode") == "form" {
		e.remove(e.Msg.Body, "mode")
	}
	e.remove(e.Msg.Body.Object("requestedSchema"), "$schema")
}

// nameEnums writes a titled choice as enum and enumNames. Left as oneOf it
// would validate as free text, and the choice would be lost in silence.
func nameEnums(e *Edit) {
	if !e.Is(mcp.Request, mcp.Elicit) || e.Msg.Body == nil {
		return
	}
	schema := e.Msg.Body.Object("requestedSchema")
	if schema == nil {
		return
	}
	p := schema.Object("properties")
	var names []string
	p.Each(func(name string, _ mcp.Raw) bool { names = append(names, name); return true })
	for _, name := range names {
		field := p.Object(name)
		if field == nil || field.Text("type") != "string" {
			continue
		}
		if consts, titles := choices(field.Array("oneOf")); consts != nil {
			replace(field, "oneOf", "enum", consts)
			field.Set("enumNames", titles)
			e.Changed()
		}
	}
}

// choices reads [{const, title}] into two arrays; nil for anything else.
func choices(list *mcp.Array) (consts, titles mcp.Raw) {
	if list.Len() == 0 {
		return nil, nil
	}
	c, n := mcp.NewArray(), mcp.NewArray()
	for i := range list.Len() {
		option, _ := mcp.ParseObject(list.At(i))
		value, has := option.Get("const")
		if !has || !value.IsString() {
			return nil, nil
		}
		title, titled := option.Get("title")
		if !titled || !title.IsString() {
			title = value
		}
		c.Add(value)
		n.Add(title)
	}
	return c.Raw(), n.Raw()
}

// replace puts a member in the place of another.
func replace(o *mcp.Object, old, name string, v mcp.Raw) {
	o.Delete(old)
	o.Set(name, v)
}

// explainURLs: an older client shows only the message of an error.
func explainURLs(e *Edit) {
	if e.Msg.Kind != mcp.Failure || e.To != mcp.Client || e.Msg.Code() != mcp.CodeNeedsURL {
		return
	}
	message := e.Msg.Body.Text("message")
	data := e.Msg.Body.Object("data")
	if data == nil {
		return
	}
	var b strings.Builder
	b.WriteString(message)
	eachBlock(data.Array("elicitations"), func(q *mcp.Object) {
		if note := q.Text("message") + ": " + q.Text("url"); !strings.Contains(message, note) {
			b.WriteString(" " + note)
		}
	})
	if b.Len() > len(message) {
		e.Msg.Body.Set("message", mcp.Quote(b.String()))
		e.Changed()
	}
}

func dropElicitationComplete(e *Edit) {
	if e.Is(mcp.Notification, mcp.ElicitationComplete) {
		e.Drop()
	}
}

// dropBareCancel: without a request to name, older peers cannot read it.
func dropBareCancel(e *Edit) {
	if e.Is(mcp.Notification, mcp.Cancelled) && e.Msg.Call == 0 && !e.Msg.Body.Has("requestId") {
		e.Drop()
	}
}
