// Package schema checks JSON values against JSON Schemas that servers publish.
// It opens no file and fetches no URL: a reference out of the schema is an
// error.
package schema

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// location names the schema under check; nothing is ever loaded from it.
const location = "mcpbridge:schema"

// closed refuses to load anything.
type closed struct{}

func (closed) Load(url string) (any, error) {
	return nil, errors.New("references to other documents are not followed")
}

// Validate returns nil when value fulfils schema, and an error when it does
// not or when the schema itself cannot be used.
func Validate(schema, value mcp.Raw) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("schema: reading the schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(closed{})
	if err := c.AddResource(location, doc); err != nil {
		return fmt.Errorf("schema: adding the schema: %w", err)
	}
	compiled, err := c.Compile(location)
	if err != nil {
		return fmt.Errorf("schema: compiling the schema: %w", err)
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return fmt.Errorf("schema: reading the value: %w", err)
	}
	if err := compiled.Validate(instance); err != nil {
		return fmt.Errorf("schema: the value does not fulfil the schema: %w", err)
	}
	return nil
}
