package configs

import (
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// reader reads a configuration file that has been parsed. It remembers where
// each value stood, and what is wrong.
type reader struct {
	file     string
	expand   expander
	anchors  map[string]ast.Node
	places   map[string]position // of paths
	problems []Fault
	remarks  []string
}

// position is a place in a file, counted from 1.
type position struct{ line, column int }

func positionOf(n ast.Node) position {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return position{1, 1}
	}
	at := n.GetToken().Position
	return position{at.Line, at.Column}
}

// problem notes what is wrong with a node.
func (r *reader) problem(path string, n ast.Node, format string, args ...any) {
	r.problems = append(r.problems, Fault{r.file, positionOf(n), Problem{path, fmt.Sprintf(format, args...)}})
}

// resolve follows anchors and aliases, and notes where the value stands.
func (r *reader) resolve(path string, n ast.Node) ast.Node {
	for range 8 { // an alias may name an anchor of an alias
		switch node := n.(type) {
		case *ast.AnchorNode:
			n = node.Value
		case *ast.AliasNode:
			name := node.Value.GetToken().Value
			target, known := r.anchors[name]
			if !known {
				r.problem(path, n, "nothing has the anchor &%s", name)
				return nil
			}
			n = target
		case *ast.TagNode:
			n = node.Value
		case *ast.MappingValueNode: // a mapping with one key
			return n
		default:
			return n
		}
	}
	r.problem(path, n, "aliases name each other in a circle")
	return nil
}

// pair is a key with its value.
type pair struct {
	key   string
	node  ast.Node // the key
	value ast.Node
}

// mapping reads a node that must have keys. ok is false when it has none.
func (r *reader) mapping(path string, n ast.Node) (pairs []pair, ok bool) {
	n = r.resolve(path, n)
	if n == nil {
		return nil, false
	}
	r.places[path] = positionOf(n)
	var values []*ast.MappingValueNode
	switch node := n.(type) {
	case *ast.MappingNode:
		values = node.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{node}
	case *ast.NullNode:
		return nil, true
	default:
		r.problem(path, n, "here must stand keys with their values, not %s", kindOf(n))
		return nil, false
	}
	for _, v := range values {
		if v.Key.Type() == ast.MergeKeyType {
			r.problem(path, v, "merging with << is not supported; write what routes share under defaults")
			continue
		}
		key := v.Key.GetToken().Value
		pairs = append(pairs, pair{key, v.Key, v.Value})
		r.places[joined(path, key)] = positionOf(v.Value)
	}
	return pairs, true
}

// sequence reads a node that is a list; one value alone is a list of one.
func (r *reader) sequence(path string, n ast.Node) []ast.Node {
	n = r.resolve(path, n)
	if n == nil {
		return nil
	}
	r.places[path] = positionOf(n)
	switch node := n.(type) {
	case *ast.SequenceNode:
		for i, item := range node.Values {
			r.places[path+"["+strconv.Itoa(i)+"]"] = positionOf(item)
		}
		return node.Values
	case *ast.NullNode:
		return nil
	}
	return []ast.Node{n}
}

// scalar reads the text of a node that must be one value, with its references
// filled in. ok is false when there is none: null leaves the default.
func (r *reader) scalar(path string, n ast.Node) (text string, ok bool) {
	n = r.resolve(path, n)
	if n == nil {
		return "", false
	}
	r.places[path] = positionOf(n)
	switch node := n.(type) {
	case *ast.NullNode:
		return "", false
	case *ast.StringNode:
		text = node.Value
	case *ast.LiteralNode:
		text = node.Value.Value
	case *ast.MappingNode, *ast.MappingValueNode, *ast.SequenceNode:
		r.problem(path, n, "here must stand one value, not %s", kindOf(n))
		return "", false
	default:
		return n.GetToken().Value, true // as it is written: 1.10 stays so
	}
	text, err := r.expand.text(text)
	if err != nil {
		r.problem(path, n, "%v", err)
		return "", false
	}
	return text, true
}

func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys"
	case *ast.SequenceNode:
		return "a list"
	}
	if t := n.GetToken(); t != nil && t.Type == token.NullType {
		return "nothing"
	}
	return "a single value"
}
