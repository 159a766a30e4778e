package main

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// withDefaults has a default of every primitive type.
func withDefaults() *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: "Leave it as it is.", RequestedSchema: json.RawMessage(`{"type":"object","properties":{
		"name": {"type": "string", "default": "John Doe"},
		"age": {"type": "integer", "default": 30},
		"score": {"type": "number", "default": 95.5},
		"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
		"verified": {"type": "boolean", "default": true}
	}}`)}
}

// withChoices has every kind of enumeration.
func withChoices() *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: "Choose.", RequestedSchema: json.RawMessage(`{"type":"object","properties":{
		"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
		"titledSingle": {"type": "string", "oneOf": [{"const": "value1", "title": "One"}, {"const": "value2", "title": "Two"}, {"const": "value3", "title": "Three"}]},
		"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]},
		"untitledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
		"titledMulti": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"anyOf": [
			{"const": "value1", "title": "One"}, {"const": "value2", "title": "Two"}, {"const": "value3", "title": "Three"}]}}
	}}`)}
}
