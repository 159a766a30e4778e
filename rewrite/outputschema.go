package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

// schemaRepair mends results that break the output schema of their tool, on
// routes that ask for it.
type schemaRepair struct {
	Passive
	validate func(schema, value mcp.Raw) error
	tools    map[string]mcp.Raw
	bytes    int
	calls    map[mcp.CallKey]string
}

func newSchemaRepair(f Facing, d Deps) Stage {
	if !f.Options.RepairOutputSchema || d.Validate == nil {
		return Passive{}
	}
	return &schemaRepair{validate: d.Validate, tools: map[string]mcp.Raw{}, calls: map[mcp.CallKey]string{}}
}

// maxSchemas bounds the bytes of the schemas remembered for one session.
const maxSchemas = 4 << 20

// ToServer implements Stage.
func (s *schemaRepair) ToServer(m *mcp.Message, out *Out) {
	if m.Kind == mcp.Request && m.Method == mcp.ToolsCall && m.Body != nil {
		s.calls[m.Call] = m.Body.Text("name")
	}
	if m.Method == mcp.Cancelled {
		delete(s.calls, m.Call)
	}
	out.Forward(m)
}

// ToClient implements Stage.
func (s *schemaRepair) ToClient(m *mcp.Message, out *Out) {
	switch {
	case m.Kind == mcp.Result && m.Method == mcp.ToolsList:
		eachBlock(m.Body.Array("tools"), s.learn)
	case m.IsAnswer():
		schema := s.tools[s.calls[m.Call]]
		delete(s.calls, m.Call)
		if m.Kind == mcp.Result && schema != nil {
			s.repair(m.Body, schema, out)
		}
	}
	out.Forward(m)
}

func (s *schemaRepair) learn(tool *mcp.Object) {
	name := tool.Text("name")
	if old := s.tools[name]; old != nil {
		s.bytes -= len(old)
		delete(s.tools, name)
	}
	schema, ok := tool.Get("outputSchema")
	if !ok || !schema.IsObject() || s.bytes+len(schema) > maxSchemas {
		return
	}
	s.bytes += len(schema)
	s.tools[name] = append(mcp.Raw(nil), schema...)
}

func (s *schemaRepair) repair(body *mcp.Object, schema mcp.Raw, out *Out) {
	v, has := body.Get("structuredContent")
	failed, _ := body.Get("isError")
	switch {
	case string(failed) == "true":
		if has && s.validate(schema, v) != nil {
			body.Delete("structuredContent")
			out.Rewritten()
			out.Lose("structuredContent of an error that breaks the tool's output schema")
		}
	case !has:
		if parsed := onlyText(body); parsed.IsObject() && s.validate(schema, parsed) == nil {
			body.Set("structuredContent", parsed.Compact())
			out.Rewritten()
		}
	}
}

// onlyText returns the JSON of the only block of a result, if it is text.
func onlyText(body *mcp.Object) mcp.Raw {
	content := body.Array("content")
	if content.Len() != 1 || !isType(content.Object(0), "text") {
		return nil
	}
	parsed, err := mcp.ParseRaw([]byte(content.Object(0).Text("text")))
	if err != nil {
		return nil
	}
	return parsed
}

// schemaStrip hides output schemas, on routes that ask for it. It stands
// nearer to the client than what learns from them.
type schemaStrip struct{ Passive }

func newSchemaStrip(f Facing, _ Deps) Stage {
	if !f.Options.StripOutputSchema {
		return Passive{}
	}
	return schemaStrip{}
}

// ToClient implements Stage.
func (schemaStrip) ToClient(m *mcp.Message, out *Out) {
	if m.Kind == mcp.Result && m.Method == mcp.ToolsList {
		eachBlock(m.Body.Array("tools"), func(tool *mcp.Object) {
			if tool.Delete("outputSchema") {
				out.Rewritten()
				out.Lose("outputSchema of a tool")
			}
		})
	}
	out.Forward(m)
}
