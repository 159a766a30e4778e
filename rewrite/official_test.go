package rewrite_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// official is the directory of the official schemas, beside the checkout.
const official = "../../shared/protocol/schema"

// definition names what the official schema calls a message.
func definition(tr traveller, m *mcp.Message) string {
	requests := map[string]string{
		mcp.ToolsCall: "CallToolRequest", mcp.Elicit: "ElicitRequest", mcp.CreateMessage: "CreateMessageRequest",
		mcp.Complete: "CompleteRequest", mcp.Initialize: "InitializeRequest", mcp.PromptsGet: "GetPromptRequest",
		mcp.Progress: "ProgressNotification", mcp.Cancelled: "CancelledNotification",
	}
	// ElicitResult is left out: its JSON form allows only integers where the
	// TypeScript form, which is the source, allows numbers.
	results := map[string]string{
		mcp.ToolsCall: "CallToolResult", mcp.ToolsList: "ListToolsResult", mcp.PromptsList: "ListPromptsResult",
		mcp.ResourcesList: "ListResourcesResult", mcp.TemplatesList: "ListResourceTemplatesResult",
		mcp.ResourcesRead: "ReadResourceResult", mcp.PromptsGet: "GetPromptResult", mcp.Initialize: "InitializeResult",
		mcp.CreateMessage: "CreateMessageResult", mcp.RootsList: "ListRootsResult",
		mcp.Complete: "CompleteResult",
	}
	if tr.method == mcp.Initialize && !m.Body.Has("protocolVersion") { // the handshake completes it
		return ""
	}
	if v, _ := m.Body.Get("arguments"); v.IsArray() { // the server's to judge
		return ""
	}
	switch m.Kind {
	case mcp.Request, mcp.Notification:
		return requests[tr.method]
	case mcp.Result:
		if m.Body.Has("task") { // a receipt, which the schema has under another name
			return ""
		}
		return results[tr.method]
	}
	return ""
}

// validators compiles the definitions of one version as they are asked for.
type validators struct {
	compiler *jsonschema.Compiler
	prefix   string
	known    map[string]bool
}

func newValidators(t *testing.T, v mcp.Version) *validators {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(official, string(v), "schema.json"))
	if os.IsNotExist(err) {
		t.Skipf("the official schemas are not beside the checkout (%s)", official)
	}
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out := &validators{compiler: jsonschema.NewCompiler(), known: map[string]bool{}}
	members := doc.(map[string]any)
	for _, name := range []string{"definitions", "$defs"} {
		if defs, ok := members[name].(map[string]any); ok {
			out.prefix = "mcp:schema#/" + name + "/"
			for def := range defs {
				out.known[def] = true
			}
		}
	}
	if err := out.compiler.AddResource("mcp:schema", doc); err != nil {
		t.Fatal(err)
	}
	return out
}

// check validates a message: as a whole where it is a request, and its result
// object where it is a result.
func (v *validators) check(t *testing.T, name string, m *mcp.Message) error {
	t.Helper()
	s, err := v.compiler.Compile(v.prefix + name)
	if err != nil {
		t.Fatal(err)
	}
	text := m.Bytes()
	if m.Kind == mcp.Result {
		text = m.Body.Raw()
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

// TestOfficialSchemas: on a strict route what comes out fulfils the official
// schema of its receiver.
func TestOfficialSchemas(t *testing.T) {
	all := travellers(t)
	versions := rewrite.Standard().Handshakes().Versions()
	o := mcp.DefaultOptions()
	o.Strict = true
	for _, receiver := range versions {
		schemas := newValidators(t, receiver)
		for _, sender := range versions {
			for _, tr := range all {
				client, server := receiver, sender
				if tr.to == mcp.Server {
					client, server = sender, receiver
				}
				m := delivered(travel(t, pipeline(client, server, o), tr, tr.message(t)), tr.to)
				if m == nil {
					continue
				}
				name := definition(tr, m)
				if !schemas.known[name] {
					continue
				}
				if err := schemas.check(t, name, m); err != nil {
					t.Errorf("%s to a %s peer, from %s: %v\nin  %s\nout %s", name, receiver, sender, err, tr.text, m.Bytes())
				}
			}
		}
	}
}
