package rewrite

import (
	"bytes"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// mendSchemas: every revision wants inputSchema to be an object schema, and
// official schemas and SDKs want objects for its properties; one tool that
// differs costs the client the whole list.
func mendSchemas(e *Edit) {
	if !e.Is(mcp.Result, mcp.ToolsList) {
		return
	}
	eachListed(e.Msg, func(tool *mcp.Object) {
		input := tool.Object("inputSchema")
		if input == nil {
			tool.Set("inputSchema", mcp.Raw(`{"type":"object"}`))
			e.Changed()
			return
		}
		if v, _ := input.Get("type"); !v.Is("object") {
			input.Set("type", mcp.Raw(`"object"`))
			e.Changed()
		}
		e.mendProperties(input)
		if output := tool.Object("outputSchema"); output != nil {
			e.mendProperties(output)
		}
	})
}

func (e *Edit) mendProperties(schema *mcp.Object) {
	for _, name := range []string{"properties", "required"} {
		if v, ok := schema.Get(name); ok && v.IsNull() {
			e.remove(schema, name)
		}
	}
	p := schema.Object("properties")
	if p == nil || e.Receiver >= v20260728 { // which takes any schema there
		return
	}
	changes := map[string]mcp.Raw{}
	p.Each(func(name string, v mcp.Raw) bool {
		switch string(v) {
		case "true":
			changes[name] = mcp.Raw("{}")
		case "false":
			changes[name] = mcp.Raw(`{"not":{}}`)
		}
		return true
	})
	for name, v := range changes {
		p.Set(name, v)
		e.Changed()
	}
}

// nameDialect: from 2025-11-25 a schema without a dialect is 2020-12, which
// reads some older constructs otherwise.
func nameDialect(e *Edit) {
	switch {
	case e.Is(mcp.Result, mcp.ToolsList):
		eachListed(e.Msg, func(tool *mcp.Object) {
			e.nameDialectOf(tool.Object("inputSchema"))
			e.nameDialectOf(tool.Object("outputSchema"))
		})
	case e.Is(mcp.Request, mcp.Elicit) && e.Msg.Body != nil:
		e.nameDialectOf(e.Msg.Body.Object("requestedSchema"))
	}
}

const draft07 = `"http://json-schema.org/draft-07/schema#"`

func (e *Edit) nameDialectOf(schema *mcp.Object) {
	if schema == nil || schema.Has("$schema") || !olderDialect(schema.Raw(), 0) {
		return
	}
	schema.Set("$schema", mcp.Raw(draft07))
	e.Changed()
}

// olderDialect reports whether a schema uses what 2020-12 reads otherwise:
// items as a list, additionalItems, dependencies, exclusive bounds that are
// booleans. Member names below properties are not keywords.
func olderDialect(schema mcp.Raw, depth int) bool {
	o, ok := mcp.ParseObject(schema)
	if !ok || depth > maxSchemaDepth || !mentionsOlder(schema) {
		return false
	}
	found := false
	o.Each(func(name string, v mcp.Raw) bool {
		switch name {
		case "additionalItems", "dependencies":
			found = true
		case "items":
			found = v.IsArray() || olderDialect(v, depth+1)
		case "exclusiveMinimum", "exclusiveMaximum":
			found = string(v) == "true" || string(v) == "false"
		case "properties", "patternProperties", "definitions", "$defs":
			children, _ := mcp.ParseObject(v)
			children.Each(func(_ string, child mcp.Raw) bool {
				found = found || olderDialect(child, depth+1)
				return !found
			})
		case "allOf", "anyOf", "oneOf":
			list, _ := mcp.ParseArray(v)
			for i := range list.Len() {
				found = found || olderDialect(list.At(i), depth+1)
			}
		case "not", "if", "then", "else", "contains", "additionalProperties", "propertyNames":
			found = olderDialect(v, depth+1)
		}
		return !found
	})
	return found
}

// mentionsOlder spares the walk for the many schemas without such a word.
func mentionsOlder(schema mcp.Raw) bool {
	for _, word := range []string{"items", "dditionalItems", "dependencies", "exclusiveM"} {
		if bytes.Contains(schema, []byte(word)) {
			return true
		}
	}
	return false
}
