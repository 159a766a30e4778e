package configs

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// text is any text.
type text[T ~string] struct {
	of     *T
	format string // of JSON Schema; "" is none
}

func (v text[T]) bind(r *reader, at string, n ast.Node) {
	if s, ok := r.scalar(at, n); ok {
		*v.of = T(s)
	}
}

func (v text[T]) schema() schema {
	s := schema{"type": "string"}
	if v.format != "" {
		s["format"] = v.format
	}
	return s
}

func (v text[T]) lines() []string { return []string{quoted(string(*v.of))} }

// choice is one of a few words. Which are known is checked with the rest.
type choice[T ~string] struct {
	of    *T
	words []string
}

func (v choice[T]) bind(r *reader, at string, n ast.Node) { text[T]{of: v.of}.bind(r, at, n) }
func (v choice[T]) schema() schema                        { return schema{"type": "string", "enum": v.words} }
func (v choice[T]) lines() []string                       { return text[T]{of: v.of}.lines() }

// yesNo is true or false.
type yesNo struct{ of *bool }

func (v yesNo) bind(r *reader, at string, n ast.Node) {
	switch s, ok := r.scalar(at, n); {
	case !ok:
	case s == "true" || s == "false":
		*v.of = s == "true"
	default:
		r.problem(at, n, "%q is neither true nor false", s)
	}
}

func (v yesNo) schema() schema  { return schema{"type": "boolean"} }
func (v yesNo) lines() []string { return []string{strconv.FormatBool(*v.of)} }

// span is a duration.
type span struct{ of *time.Duration }

func (v span) bind(r *reader, at string, n ast.Node) {
	s, ok := r.scalar(at, n)
	if !ok {
		return
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		r.problem(at, n, "%q is no duration; write it with its unit, as 30s, 10m or 1h", s)
		return
	}
	*v.of = d
}

func (v span) schema() schema {
	return schema{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(h|m|s|ms))+$|^0$|\$\{`}
}

func (v span) lines() []string { return []string{Brief(*v.of)} }

// Brief writes a duration without the parts that are zero.
func Brief(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// octets is a size.
type octets struct{ of *Size }

func (v octets) bind(r *reader, at string, n ast.Node) {
	if s, ok := r.scalar(at, n); ok {
		if err := v.of.Set(s); err != nil {
			r.problem(at, n, "%v", err)
		}
	}
}

func (v octets) schema() schema {
	return schema{"type": []string{"string", "integer"}, "pattern": `^[0-9]+ *([KMG]i?B|B)?$|\$\{`, "minimum": 1}
}

func (v octets) lines() []string { return []string{v.of.String()} }

// count is a whole number.
type count struct{ of *int }

func (v count) bind(r *reader, at string, n ast.Node) {
	s, ok := r.scalar(at, n)
	if !ok {
		return
	}
	i, err := strconv.Atoi(s)
	if err != nil {
		r.problem(at, n, "%q is no whole number", s)
		return
	}
	*v.of = i
}

func (v count) schema() schema {
	return schema{"type": []string{"integer", "string"}, "pattern": `^-?[0-9]+$|\$\{`}
}

func (v count) lines() []string { return []string{strconv.Itoa(*v.of)} }

// list is some texts.
type list[T ~string] struct {
	of    *[]T
	words []string // known ones, for the schema
}

func (v list[T]) bind(r *reader, at string, n ast.Node) {
	all := []T{}
	for i, item := range r.sequence(at, n) {
		if s, ok := r.scalar(at+"["+strconv.Itoa(i)+"]", item); ok {
			all = append(all, T(s))
		}
	}
	*v.of = all
}

func (v list[T]) schema() schema {
	item := schema{"type": "string"}
	if v.words != nil {
		item["enum"] = v.words
	}
	return schema{"type": []string{"array", "string"}, "items": item}
}

func (v list[T]) lines() []string {
	all := make([]string, len(*v.of))
	for i, s := range *v.of {
		all[i] = quoted(string(s))
	}
	return []string{"[" + strings.Join(all, ", ") + "]"}
}

// headers are header fields by name.
type headers struct{ of *http.Header }

func (v headers) bind(r *reader, at string, n ast.Node) {
	pairs, ok := r.mapping(at, n)
	if !ok {
		return
	}
	all := http.Header{}
	for _, p := range pairs {
		path := joined(at, p.key)
		for _, item := range r.sequence(path, p.value) {
			value, ok := r.scalar(path, item)
			if !ok {
				continue
			}
			if name, value, err := ParseHeader(p.key + ": " + value); err != nil {
				r.problem(path, p.node, "%v", err)
			} else {
				all.Add(name, value)
			}
		}
	}
	*v.of = all
}

func (v headers) schema() schema {
	return schema{"type": "object", "additionalProperties": schema{"type": []string{"string", "array"}, "items": schema{"type": "string"}}}
}

func (v headers) lines() []string {
	if len(*v.of) == 0 {
		return []string{"{}"}
	}
	var all []string
	for name, values := range *v.of {
		all = append(all, name+": "+list[string]{of: &values}.lines()[0])
	}
	sort.Strings(all)
	return all
}

// variables are variables of an environment by name.
type variables struct{ of *[]string }

func (v variables) bind(r *reader, at string, n ast.Node) {
	pairs, ok := r.mapping(at, n)
	if !ok {
		return
	}
	all := []string{}
	for _, p := range pairs {
		if value, ok := r.scalar(joined(at, p.key), p.value); ok {
			all = append(all, p.key+"="+value)
		}
	}
	*v.of = all
}

func (v variables) schema() schema {
	return schema{"type": "object", "additionalProperties": schema{"type": []string{"string", "number", "boolean"}}}
}

func (v variables) lines() []string {
	if len(*v.of) == 0 {
		return []string{"{}"}
	}
	var all []string
	for _, one := range *v.of {
		name, value, _ := strings.Cut(one, "=")
		all = append(all, name+": "+quoted(value))
	}
	return all
}

// program is the first word of a command, or all of it as a list.
type program struct{ of *Command }

func (v program) bind(r *reader, at string, n ast.Node) {
	var words []string
	list[string]{of: &words}.bind(r, at, n)
	if len(words) > 0 {
		v.of.Args = slices.Concat(words, v.of.Args)
	}
}

func (v program) schema() schema {
	return schema{"type": []string{"string", "array"}, "items": schema{"type": "string"}}
}

func (v program) lines() []string {
	if !v.of.Given() {
		return []string{`""`}
	}
	return []string{quoted(v.of.Args[0])}
}

// arguments are what follows the program.
type arguments struct{ of *Command }

func (v arguments) bind(r *reader, at string, n ast.Node) {
	var words []string
	list[string]{of: &words}.bind(r, at, n)
	v.of.Args = slices.Concat(v.of.Args, words)
}

func (v arguments) schema() schema { return list[string]{}.schema() }

func (v arguments) lines() []string {
	rest := v.of.Args[min(1, len(v.of.Args)):]
	return list[string]{of: &rest}.lines()
}

// fallback is an action, or declare with an action.
type fallback struct{ of *mcp.Fallback }

func (v fallback) bind(r *reader, at string, n ast.Node) {
	if s, ok := r.scalar(at, n); ok {
		*v.of = ParseFallback(s)
	}
}

func (v fallback) schema() schema {
	words := mcp.FallbackNames()
	for _, action := range append([]string{""}, mcp.FallbackNames()...) {
		words = append(words, strings.TrimSuffix(Declare+":"+action, ":"))
	}
	return schema{"type": "string", "enum": words}
}

func (v fallback) lines() []string { return []string{fallbackText(*v.of)} }

func fallbackText(f mcp.Fallback) string {
	if f.Declare {
		return fmt.Sprintf("%s:%s", Declare, f.Action)
	}
	return string(f.Action)
}

// quoted writes a text as YAML, in quotes only where it needs some.
func quoted(s string) string {
	plain := s != "" && !strings.ContainsAny(s, "#:{}[]&*!|>'\"%@`,\\ \t\n") && !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "?")
	if plain && (s[0] < '0' || s[0] > '9') && s != "true" && s != "false" && s != "null" && s != "off" {
		return s
	}
	return strconv.Quote(s)
}

// location names a file or a directory; relative ones start beside the file.
type location struct{ of *string }

func (v location) bind(r *reader, at string, n ast.Node) {
	if s, ok := r.scalar(at, n); ok && s != "" {
		*v.of = r.expand.path(s)
		if r.expand.files != nil {
			text, _ := os.ReadFile(*v.of) // what is wrong with it is told by those who need it
			r.expand.files[*v.of] = Sum(text)
		}
	}
}

func (v location) schema() schema  { return schema{"type": "string"} }
func (v location) lines() []string { return []string{quoted(*v.of)} }
