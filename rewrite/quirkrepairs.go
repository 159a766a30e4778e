package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

// splitTypeLists looks at the parameters of tools alone, as the clients do that
// it is for.
func splitTypeLists(e *Edit) {
	if !e.Is(mcp.Result, mcp.ToolsList) || e.To != mcp.Client {
		return
	}
	eachListed(e.Msg, func(tool *mcp.Object) {
		for _, name := range []string{"inputSchema", "outputSchema"} {
			if schema := tool.Object(name); schema != nil {
				e.splitProperties(schema.Object("properties"))
			}
		}
	})
}

func (e *Edit) splitProperties(properties *mcp.Object) {
	if properties == nil {
		return
	}
	var listed []string
	properties.Each(func(name string, v mcp.Raw) bool {
		if schema, ok := mcp.ParseObject(v); ok && schema.Array("type") != nil {
			listed = append(listed, name)
		}
		return true
	})
	for _, name := range listed {
		if splitType(properties.Object(name)) {
			e.Changed()
		}
	}
}

// splitType says by anyOf what a list of types says. An anyOf that is there
// already must hold too.
func splitType(schema *mcp.Object) bool {
	types := schema.Array("type")
	choices := mcp.NewArray()
	for i := range types.Len() {
		if !types.At(i).IsString() {
			return false
		}
		one := mcp.NewObject()
		one.Set("type", types.At(i))
		choices.AddObject(one)
	}
	switch {
	case types.Len() == 0:
		return false
	case types.Len() == 1:
		schema.Set("type", types.At(0))
		return true
	case !schema.Has("anyOf"):
		schema.Delete("type")
		schema.SetArray("anyOf", choices)
		return true
	}
	all := schema.Array("allOf")
	if all == nil {
		if schema.Has("allOf") {
			return false
		}
		all = mcp.NewArray()
		schema.SetArray("allOf", all)
	}
	both := mcp.NewObject()
	both.SetArray("anyOf", choices)
	all.AddObject(both)
	schema.Delete("type")
	return true
}

// dropExperimental leaves what such servers can read: texts.
func dropExperimental(e *Edit) {
	if !e.Is(mcp.Request, mcp.Initialize) || e.To != mcp.Server || e.Msg.Body == nil {
		return
	}
	c := e.Msg.Body.Object("capabilities")
	if c == nil {
		return
	}
	experimental := c.Object("experimental")
	if experimental == nil {
		return
	}
	var objects []string
	experimental.Each(func(name string, v mcp.Raw) bool {
		if !v.IsString() {
			objects = append(objects, name)
		}
		return true
	})
	e.remove(experimental, objects...)
}
