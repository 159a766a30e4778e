package stdio

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// salvage looks for the id of a message of which only the head and the tail
// are there, or which is damaged in between, and reports whether it is an
// answer. The id is zero when it cannot be told.
func salvage(head, tail []byte) (id mcp.ID, answer bool) {
	e := sketch(head)
	if e.id.IsZero() {
		e.id = trailingID(tail)
	}
	return e.id, e.answer && !e.call
}

// outline is what can be seen of a message's envelope.
type outline struct {
	id           mcp.ID
	answer, call bool // it has a result or an error; it has a method
}

// sketch reads the top-level members of an object up to the damage.
func sketch(text []byte) (o outline) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	d.UseNumber() // ids keep their digits
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return o
	}
	for {
		t, err := d.Token()
		if err != nil {
			return o
		}
		name, _ := t.(string)
		o.answer = o.answer || name == "result" || name == "error"
		o.call = o.call || name == "method"
		first, err := skipValue(d)
		if err != nil {
			return o
		}
		if name == "id" && o.id.IsZero() {
			o.id = idOf(first)
		}
	}
}

// skipValue reads one value and returns its first token.
func skipValue(d *json.Decoder) (first json.Token, err error) {
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = t
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth <= 0 {
			return first, nil
		}
	}
}

func idOf(t json.Token) mcp.ID {
	var id mcp.ID
	switch t := t.(type) {
	case json.Number:
		id, _ = mcp.ParseID(mcp.Raw(t))
	case string:
		id = mcp.TextID(t)
	}
	return id
}

// trailingID reads the id that ends an object: many servers write it last. A
// comma before its name cannot stand in a string there, since the bracket at
// the end closes the outermost object.
func trailingID(tail []byte) mcp.ID {
	m := regexp.MustCompile(`,\s*"id"\s*:\s*(-?\d+|"(?:[^"\\]|\\.)*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`).FindSubmatch(tail)
	if m == nil {
		return mcp.ID{}
	}
	id, _ := mcp.ParseID(bytes.Clone(m[1]))
	return id
}
