package configs_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/goccy/go-yaml"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/mcp"
)

var update = flag.Bool("update", false, "rewrite the sample with every default")

var published = []mcp.Version{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

// The sample names every key with its default, so that it means what an empty
// route means.
func TestSampleWithEveryDefault(t *testing.T) {
	const file = "mcpbridge.yaml"
	want := configs.Sample(published)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the keys say; run go test ./configs -update (%v)", file, err)
	}
	full, err := configs.Load(file, environment, published)
	if err != nil {
		t.Fatal(err)
	}
	brief, err := load(t, "brief.yaml", "routes: [{name: example, upstream: \"http://127.0.0.1:3000/mcp\"}]\n")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(full.Config, brief.Config) {
		t.Errorf("the sample changes something:\n%+v\n%+v", full.Config, brief.Config)
	}
}

// Every sample is a valid configuration, by the loader and by the schema that
// editors use.
func TestSamples(t *testing.T) {
	schema := compiled(t)
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("samples: %v, %v", files, err)
	}
	json, _ := filepath.Glob("*.json") // the pattern is right
	for _, file := range append(files, json...) {
		t.Run(file, func(t *testing.T) {
			if _, err := configs.Load(file, anything, published); err != nil {
				t.Error(err)
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(file, "mcpservers") {
				return // it belongs to other programs
			}
			if err := schema.Validate(decoded(t, raw)); err != nil {
				t.Errorf("by the schema: %v", err)
			}
		})
	}
}

// anything finds every variable.
func anything(name string) (string, bool) { return "value-of-" + name + "-that-is-long-enough", true }

// What the loader does not know, the schema does not know either.
func TestSchemaRefuses(t *testing.T) {
	schema := compiled(t)
	for _, text := range []string{
		"listen: a:1", "routes: [{upstream: http://a/}]", "routes: [{name: a, upstream: http://a/, colour: red}]",
		"routes: [{name: a, strict: 3}]", "routes: [{name: a, loss: maybe}]", "routes: [{name: a, request_timeout: 10}]",
		"routes: [{name: a, max_body: huge}]", "routes: [{name: a}]\nlog: {levle: info}",
	} {
		if schema.Validate(decoded(t, []byte(text))) == nil {
			t.Errorf("accepted: %s", text)
		}
	}
	if err := schema.Validate(decoded(t, []byte(whole))); err != nil && !strings.Contains(err.Error(), "strict") {
		t.Errorf("refused: %v", err) // but for a reference in place of a boolean
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := configs.Schema(published)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("config.json", document); err != nil {
		t.Fatal(err)
	}
	return c.MustCompile("config.json")
}

func decoded(t *testing.T, raw []byte) (v interface{}) {
	t.Helper()
	text, err := yaml.YAMLToJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
