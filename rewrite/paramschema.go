package rewrite

import (
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// annotation is the keyword by which a schema names a header.
const annotation = "x-mcp-header"

// namedParam is an argument that travels in a header too.
type namedParam struct {
	path   []string
	header string
}

// namedParams reads the annotations of a tool's schema; ok is false when one
// of them is wrong, for which clients over HTTP must not use the tool.
func namedParams(schema *mcp.Object) (params []namedParam, ok bool) {
	if schema == nil {
		return nil, true
	}
	r := &paramReader{seen: map[string]bool{}, ok: true}
	r.schema(schema.Raw(), nil, true, 0)
	return r.params, r.ok && len(r.params) <= maxNames
}

type paramReader struct {
	params []namedParam
	seen   map[string]bool
	ok     bool
}

// schema walks one schema. reached says that only properties lead here from
// the root: elsewhere an annotation names no single argument.
func (r *paramReader) schema(raw mcp.Raw, path []string, reached bool, depth int) {
	if depth > maxSchemaDepth || !strings.Contains(string(raw), annotation) {
		return
	}
	if list, isList := mcp.ParseArray(raw); isList {
		for i := range list.Len() {
			r.schema(list.At(i), path, false, depth+1)
		}
		return
	}
	o, isObject := mcp.ParseObject(raw)
	if !isObject {
		return
	}
	if v, has := o.Get(annotation); has {
		r.annotate(o, v, path, reached)
	}
	o.Each(func(name string, v mcp.Raw) bool {
		r.keyword(name, v, path, reached, depth)
		return r.ok
	})
}

// keyword walks what may hold schemas. Values and names are no schemas.
func (r *paramReader) keyword(name string, v mcp.Raw, path []string, reached bool, depth int) {
	switch name {
	case annotation, "const", "enum", "default", "examples", "required", "type", "title", "description":
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		children, _ := mcp.ParseObject(v)
		children.Each(func(child string, schema mcp.Raw) bool {
			r.schema(schema, append(path[:len(path):len(path)], child), reached && name == "properties", depth+1)
			return r.ok
		})
	default:
		r.schema(v, path, false, depth+1)
	}
}

func (r *paramReader) annotate(o *mcp.Object, v mcp.Raw, path []string, reached bool) {
	header, isText := v.Text()
	kind := o.Text("type")
	lower := strings.ToLower(header)
	if !isText || !token(header) || !reached || len(path) == 0 || r.seen[lower] ||
		kind != "string" && kind != "integer" && kind != "boolean" {
		r.ok = false
		return
	}
	r.seen[lower] = true
	r.params = append(r.params, namedParam{path: path, header: header})
}
