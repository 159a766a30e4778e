package rewrite

import (
	"strings"
	"unicode/utf8"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// maxNote bounds an explanation in bytes.
const maxNote = 1024

// explain tells, for the model behind the client, what the server asked and
// which fields it wanted, so that they can be given in the next call.
func explain(m *mcp.Message) mcp.Raw {
	var b strings.Builder
	b.WriteString("The server wanted to ask the user, but this client cannot show such questions, so nobody was asked")
	if q := m.Body.Text("message"); q != "" {
		b.WriteString(`. It asked: "` + clip(q, 400) + `"`)
	}
	if fields := fieldNames(m.Body); len(fields) > 0 {
		b.WriteString(". Fields: " + clip(strings.Join(fields, ", "), 400))
	}
	b.WriteString(". If the tool takes these values as arguments, give them in the next call.")
	return mcp.Quote(clip(b.String(), maxNote))
}

func fieldNames(params *mcp.Object) []string {
	if params == nil {
		return nil
	}
	schema := params.Object("requestedSchema")
	if schema == nil {
		return nil
	}
	required := map[string]bool{}
	list := schema.Array("required")
	for i := range list.Len() {
		name, _ := list.At(i).Text()
		required[name] = true
	}
	var out []string
	schema.Object("properties").Each(func(name string, v mcp.Raw) bool {
		out = append(out, describeField(name, v, required[name]))
		return len(out) < 32
	})
	return out
}

func describeField(name string, v mcp.Raw, required bool) string {
	p, _ := mcp.ParseObject(v)
	var facts []string
	if t := p.Text("type"); t != "" {
		facts = append(facts, t)
	}
	if choices, ok := p.Get("enum"); ok {
		facts = append(facts, "one of "+string(choices.Compact()))
	}
	if required {
		facts = append(facts, "required")
	}
	if len(facts) == 0 {
		return name
	}
	return name + " (" + strings.Join(facts, ", ") + ")"
}

// clip cuts s to at most n bytes, at a rune.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const ellipsis = "…"
	n -= len(ellipsis)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + ellipsis
}

// appendNotes adds explanations to a tool result. Other results have no place
// for them, and an error is the server's own word. It reports whether it did.
func appendNotes(m *mcp.Message, notes []mcp.Raw) bool {
	if m.Kind != mcp.Result || m.Method != mcp.ToolsCall {
		return false
	}
	content := m.Body.Array("content")
	if content == nil {
		content = mcp.NewArray()
		m.Body.SetArray("content", content)
	}
	for _, note := range notes {
		content.AddObject(textBlock(note))
	}
	return true
}
