package configs

import (
	"encoding/json"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Schema returns the JSON Schema of configuration files, for editors. It is a
// little laxer than Load: it does not know what references will be filled in.
func Schema(known []mcp.Version) ([]byte, error) {
	d := &document{Server: DefaultServer(), known: known}
	s := d.fields().schema()
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "mcpbridge configuration"
	s["properties"].(schema)["$schema"] = schema{"type": "string"}
	s["patternProperties"] = schema{"^x-": schema{"description": "Whatever you like; anchors, for instance."}}
	s["anyOf"] = []schema{{"required": []string{"routes"}}, {"required": []string{"mcpServers"}}}
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}
