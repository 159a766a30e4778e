package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

// wrapping makes objects of structured content that is none.
type wrapping struct {
	Passive
	nulls bool                   // null is a value of its server
	tools map[string]bool        // by name: does its output schema need wrapping
	calls map[mcp.CallKey]string // the tool that a call under way calls
}

func newWrapping(f Facing, _ Deps) Stage {
	if f.Client.Version >= v20260728 { // any JSON value is one there
		return Passive{}
	}
	return &wrapping{nulls: f.Server.Version >= v20260728, tools: map[string]bool{}, calls: map[mcp.CallKey]string{}}
}

// maxTools bounds what is remembered of one server's tools.
const maxTools = 10000

// ToServer remembers which tool a call calls.
func (s *wrapping) ToServer(m *mcp.Message, out *Out) {
	if m.Kind == mcp.Request && m.Method == mcp.ToolsCall && m.Body != nil {
		s.calls[m.Call] = m.Body.Text("name")
	}
	if m.Method == mcp.Cancelled {
		delete(s.calls, m.Call)
	}
	out.Forward(m)
}

// ToClient wraps schemas in lists and values in results.
func (s *wrapping) ToClient(m *mcp.Message, out *Out) {
	switch {
	case m.Kind == mcp.Result && m.Method == mcp.ToolsList:
		eachBlock(m.Body.Array("tools"), func(tool *mcp.Object) { s.learn(tool, out) })
	case m.IsAnswer():
		name, called := s.calls[m.Call]
		delete(s.calls, m.Call)
		if called && m.Kind == mcp.Result {
			s.wrap(m.Body, name, out)
		}
	}
	out.Forward(m)
}

func (s *wrapping) learn(tool *mcp.Object, out *Out) {
	name := tool.Text("name")
	schema, ok := tool.Get("outputSchema")
	needs := ok && needsWrapping(schema)
	if _, known := s.tools[name]; known || ok && len(s.tools) < maxTools {
		s.tools[name] = needs
	}
	if needs {
		tool.Set("outputSchema", wrapSchema(schema))
		out.Rewritten()
	}
}

// needsWrapping: before 2026-07-28 the root type must be exactly "object".
// true and false are schemas, other values are none.
func needsWrapping(schema mcp.Raw) bool {
	if o, ok := mcp.ParseObject(schema); ok {
		return o.Text("type") != "object"
	}
	return string(schema) == "true" || string(schema) == "false"
}

// wrap: once a tool's schema is wrapped every value of it is, objects too.
// Before 2026-07-28 null means absent.
func (s *wrapping) wrap(body *mcp.Object, tool string, out *Out) {
	v, ok := body.Get("structuredContent")
	needs, known := s.tools[tool]
	switch {
	case !ok:
	case v.IsNull() && !s.nulls:
		body.Delete("structuredContent")
		out.Rewritten()
	case needs:
		wrapped := mcp.NewObject()
		wrapped.Set("result", v)
		body.SetObject("structuredContent", wrapped)
		out.Rewritten()
	case !v.IsObject() && !known:
		body.Delete("structuredContent")
		out.Rewritten()
		out.Lose("structuredContent that is no object, of a tool whose schema is not known")
	case !v.IsObject():
		body.Delete("structuredContent")
		out.Rewritten()
		out.Lose("structuredContent that is no object, of a tool whose schema promises one")
	}
}

// wrapSchema puts a schema below properties.result, keeping the dialect at
// the root and local references pointing where they did.
func wrapSchema(schema mcp.Raw) mcp.Raw {
	wrapped := mcp.MustObject(`{"type":"object"}`)
	inner, ok := mcp.ParseObject(schema)
	if ok {
		inner = inner.Clone()
		if dialect, has := inner.Get("$schema"); has {
			wrapped.Set("$schema", dialect)
			inner.Delete("$schema")
		}
		schema = rebase(inner.Raw(), 0)
	} else if asObject := map[string]mcp.Raw{"true": mcp.Raw("{}"), "false": mcp.Raw(`{"not":{}}`)}[string(schema)]; asObject != nil {
		schema = asObject
	}
	properties := mcp.NewObject()
	properties.Set("result", schema)
	wrapped.SetObject("properties", properties)
	wrapped.Set("required", mcp.Raw(`["result"]`))
	return wrapped.Raw()
}

// maxSchemaDepth bounds how deep references are looked for.
const maxSchemaDepth = 64

// rebase points local references below the new place of their schema. Values
// are data, not schema, and a schema with its own URI is its own root.
func rebase(schema mcp.Raw, depth int) mcp.Raw {
	o, ok := mcp.ParseObject(schema)
	if !ok || depth > maxSchemaDepth {
		return schema
	}
	if id := o.Text("$id"); id != "" && id[0] != '#' {
		return schema
	}
	changes := map[string]mcp.Raw{}
	o.Each(func(name string, v mcp.Raw) bool {
		switch name {
		case "const", "enum", "default", "examples":
			return true
		case "$ref", "$dynamicRef":
			if ref, _ := v.Text(); ref == "#" || len(ref) > 1 && ref[:2] == "#/" {
				changes[name] = mcp.Quote("#/properties/result" + ref[1:])
			}
			return true
		}
		changes[name] = rebaseValue(v, depth+1)
		return true
	})
	for name, v := range changes {
		o.Set(name, v)
	}
	return o.Raw()
}

func rebaseValue(v mcp.Raw, depth int) mcp.Raw {
	list, ok := mcp.ParseArray(v)
	if !ok {
		return rebase(v, depth)
	}
	for i := range list.Len() {
		list.Set(i, rebase(list.At(i), depth))
	}
	return list.Raw()
}
