package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// field is a key of a configuration file. One list of fields serves the
// loading of files, their schema and the sample with every default.
type field struct {
	key, doc string
	value    value
	// own says that the key belongs to one route only, and not among the
	// defaults of all.
	own bool
	// late says that the value builds on those of the other keys.
	late bool
}

// value is what stands at a key.
type value interface {
	// bind takes the value from a file. What is wrong goes to the reader.
	bind(r *reader, at string, n ast.Node)
	// schema describes the value as JSON Schema does.
	schema() schema
	// lines writes the value that it has now as YAML: one line continues the
	// key, several stand below it.
	lines() []string
}

// schema is a JSON Schema.
type schema map[string]any

// object is a value with keys of its own.
type object []field

func (o object) bind(r *reader, at string, n ast.Node) {
	pairs, ok := r.mapping(at, n)
	if !ok {
		return
	}
	for _, late := range []bool{false, true} {
		for _, p := range pairs {
			if o.isLate(p.key) == late {
				o.bindOne(r, at, p)
			}
		}
	}
}

func (o object) isLate(key string) bool {
	return slices.ContainsFunc(o, func(f field) bool { return f.key == key && f.late })
}

func (o object) bindOne(r *reader, at string, p pair) {
	i := slices.IndexFunc(o, func(f field) bool { return f.key == p.key })
	if i < 0 {
		r.problem(joined(at, p.key), p.node, "%s", o.unknown(p.key))
		return
	}
	o[i].value.bind(r, joined(at, p.key), p.value)
}

// unknown says what a key may have been meant to be.
func (o object) unknown(key string) string {
	if near := o.near(key); near != "" {
		return fmt.Sprintf("there is no such key; did you mean %s?", near)
	}
	return "there is no such key; the keys here are: " + strings.Join(o.keys(), ", ")
}

// near returns the key that is spelled almost like this, "" for none.
func (o object) near(key string) (best string) {
	least := 3
	for _, f := range o {
		if d := distance(fold(key), fold(f.key)); d < least {
			best, least = f.key, d
		}
	}
	return best
}

func (o object) keys() []string {
	keys := make([]string, len(o))
	for i, f := range o {
		keys[i] = f.key
	}
	return keys
}

// fold makes keys equal that differ in spelling only.
func fold(key string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(key))
}

// distance counts the edits that make one word of another (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := last
			if a[i] != b[j] {
				change++
			}
			last = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func (o object) schema() schema {
	properties := schema{}
	for _, f := range o {
		s := f.value.schema()
		s["description"] = f.doc
		properties[f.key] = s
	}
	return schema{"type": []string{"object", "null"}, "additionalProperties": false, "properties": properties}
}

func (o object) lines() []string {
	var all []string
	for _, f := range o {
		all = append(all, f.written()...)
	}
	return all
}

// written is a field with what it is good for. A key that is not there means
// something else than an empty one, so it is a comment.
func (f field) written() []string {
	var all []string
	doc := f.doc
	if words, ok := f.value.schema()["enum"].([]string); ok {
		doc += " One of: " + strings.Join(words, ", ") + "."
	}
	for _, line := range wrapped(doc, 92) {
		all = append(all, "# "+line)
	}
	value := f.value.lines()
	if _, nested := f.value.(object); !nested && len(value) == 1 {
		line := f.key + ": " + value[0]
		if value[0] == `""` || value[0] == "[]" || value[0] == "{}" {
			line = "#" + line
		}
		return append(all, line)
	}
	all = append(all, f.key+":")
	for _, line := range value {
		all = append(all, "  "+line)
	}
	return all
}

// wrapped breaks a text into lines.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

func joined(at, key string) string { return strings.TrimPrefix(cmp.Or(at, "")+"."+key, ".") }
