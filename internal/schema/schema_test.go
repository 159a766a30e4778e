package schema_test

import (
	"testing"

	"github.com/mcpbridge/mcpbridge/internal/schema"
	"github.com/mcpbridge/mcpbridge/mcp"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name, schema, value string
		ok                  bool
	}{
		{"fulfils", `{"type":"object","required":["a"]}`, `{"a":9007199254740993}`, true},
		{"misses a member", `{"type":"object","required":["a"]}`, `{}`, false},
		{"local reference", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"integer"}}}`, `1`, true},
		{"file reference", `{"$ref":"file:///etc/passwd"}`, `1`, false},
		{"remote reference", `{"$ref":"http://127.0.0.1:1/x"}`, `1`, false},
		{"relative reference", `{"$ref":"other.json"}`, `1`, false},
		{"draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}]}`, `[1]`, false},
		{"no schema", `{"type":17}`, `1`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := schema.Validate(mcp.Raw(c.schema), mcp.Raw(c.value))
			if (err == nil) != c.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}
