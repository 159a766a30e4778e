package configs

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Loaded is a configuration that came from a file.
type Loaded struct {
	Config
	// Files are those that the configuration was read from, the file itself and
	// what it names, with the Sum of what each held then.
	Files map[string]string
	// Remarks say what the file holds that has no effect.
	Remarks []string
}

// Sum tells one content of a file from another; "" is that of one that cannot
// be read.
func Sum(text []byte) string {
	if text == nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// Fault is a Problem with its place in a file.
type Fault struct {
	File string
	at   position
	Problem
}

func (f Fault) Error() string {
	place := fmt.Sprintf("%s:%d:%d: ", f.File, f.at.line, f.at.column)
	if f.Path == "" {
		return place + f.Text
	}
	return place + f.Path + ": " + f.Text
}

// Faults is all that is wrong with a file, in its order.
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// maxFile is the largest configuration file, in bytes.
const maxFile = 4 << 20

// Load reads a configuration file in YAML or JSON: one of this program, or one
// with the mcpServers of other programs, or both. lookup finds the variables
// of the environment that it refers to. over, of which none is needed, changes
// what the file says before it is checked, as flags do that win over it. An
// error in what the file says is Faults.
func Load(file string, lookup func(name string) (string, bool), known []mcp.Version, over ...func(*Server) error) (*Loaded, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, withoutOp(err, file)
	}
	return parse(file, raw, lookup, known, over...)
}

func parse(file string, raw []byte, lookup func(name string) (string, bool), known []mcp.Version, over ...func(*Server) error) (*Loaded, error) {
	r := &reader{
		file: file, expand: newExpander(filepath.Dir(file), lookup),
		anchors: map[string]ast.Node{}, places: map[string]position{},
	}
	r.expand.files[file] = Sum(raw)
	body, err := r.parse(raw)
	if err != nil {
		return nil, err
	}
	d := &document{Server: DefaultServer(), known: known}
	d.bind(r, body)
	if err := r.err(); err != nil {
		return nil, err
	}
	for _, change := range over {
		if err := change(&d.Server); err != nil {
			return nil, err
		}
	}
	out := &Loaded{Config: Config{Server: d.Server, Routes: d.routes}, Files: r.expand.files, Remarks: r.remarks}
	var problems Problems
	if errors.As(out.Validate(known), &problems) {
		for _, p := range problems {
			r.problems = append(r.problems, Fault{file, r.place(d.origin(p.Path)), Problem{d.origin(p.Path), p.Text}})
		}
	}
	return out, r.err()
}

// parse returns the one document of a file, nil when it is empty.
func (r *reader) parse(raw []byte) (ast.Node, error) {
	fault := func(n ast.Node, text string) error {
		return Faults{{File: r.file, at: positionOf(n), Problem: Problem{"", text}}}
	}
	if len(raw) > maxFile {
		return nil, fault(nil, "the file is too large for a configuration")
	}
	f, err := parser.ParseBytes(raw, 0)
	if err != nil {
		var worded yaml.Error
		if !errors.As(err, &worded) {
			return nil, fault(nil, "this is neither YAML nor JSON: "+err.Error())
		}
		one := Fault{File: r.file, at: position{1, 1}, Problem: Problem{"", "this is neither YAML nor JSON: " + worded.GetMessage()}}
		if t := worded.GetToken(); t != nil && t.Position != nil {
			one.at = position{t.Position.Line, t.Position.Column}
		}
		return nil, Faults{one}
	}
	var body ast.Node
	for _, doc := range f.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType:
		case body != nil:
			return nil, fault(doc.Body, "a second document begins; a configuration is one")
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return nil, fault(nil, "the file is empty; it needs routes, or mcpServers")
	}
	ast.Walk(anchors(r.anchors), body)
	return body, nil
}

// anchors collects the anchors of a document.
type anchors map[string]ast.Node

// Visit implements ast.Visitor.
func (a anchors) Visit(n ast.Node) ast.Visitor {
	if anchor, ok := n.(*ast.AnchorNode); ok {
		a[anchor.Name.GetToken().Value] = anchor.Value
	}
	return a
}

// place returns where a path stands, or the nearest above it that does.
func (r *reader) place(path string) position {
	for path != "" {
		if at, ok := r.places[path]; ok {
			return at
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return position{1, 1}
}

func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.at.line, b.at.line), cmp.Compare(a.at.column, b.at.column))
	})
	return Faults(r.problems)
}

// document is a file on its way to a configuration.
type document struct {
	Server
	known    []mcp.Version
	defaults ast.Node
	routes   []Route
	origins  []string // paths of the routes in the file
}

// origin returns where in the file the path of a configuration stands.
func (d *document) origin(path string) string {
	for i, origin := range d.origins {
		if rest, ok := strings.CutPrefix(path, routeAt(i)); ok && (rest == "" || rest[0] == '.') {
			return origin + rest
		}
	}
	return path
}

// fields are the keys at the top of a file. Routes are bound after the
// defaults, wherever these stand.
func (d *document) fields() object {
	base := DefaultRoute()
	return append(d.Server.fields(),
		field{key: "defaults", doc: "What applies to each route that says nothing else.", value: deferred{base.shared(d.known), &d.defaults}},
		field{key: "routes", doc: "The MCP servers, and where clients find them.", value: routes{d}},
		field{key: "mcpServers", doc: "MCP servers as the configuration of desktop clients names them: each becomes a route at /NAME.", value: entries{d}},
	)
}

func (d *document) bind(r *reader, body ast.Node) {
	var late, rest []pair
	pairs, _ := r.mapping("", body)
	for _, p := range pairs {
		switch p.key {
		case "defaults":
			d.defaults = p.value
		case "routes", "mcpServers":
			late = append(late, p)
		case "servers": // as some clients call it
			p.key = "mcpServers"
			late = append(late, p)
		default:
			rest = append(rest, p)
		}
	}
	d.bindTop(r, rest, len(late) > 0 && late[0].key == "mcpServers")
	if d.defaults != nil { // what is wrong with them is told once
		base := DefaultRoute()
		base.shared(d.known).bind(r, "defaults", d.defaults)
	}
	top := d.fields()
	for _, p := range late {
		top.bindOne(r, "", p)
	}
}

// bindTop binds the keys at the top of a file. One that belongs to another
// program may hold more than its servers.
func (d *document) bindTop(r *reader, pairs []pair, foreign bool) {
	top := d.fields()
	for _, p := range pairs {
		switch {
		case strings.HasPrefix(p.key, "x-"), p.key == "$schema":
		case foreign && top.near(p.key) == "":
			r.remarks = append(r.remarks, p.key+": without effect here")
		default:
			top.bindOne(r, "", p)
		}
	}
}

// deferred is a value that is bound where it is used.
type deferred struct {
	object
	of *ast.Node
}

func (v deferred) bind(_ *reader, _ string, n ast.Node) { *v.of = n }

// route returns a route with the defaults of the file.
func (d *document) route(r *reader) Route {
	base := DefaultRoute()
	base.Name, base.Path, base.SSEPath, base.MessagePath, base.WSPath = "", "", "", "", ""
	if d.defaults != nil {
		quiet := *r // its problems were told
		quiet.problems = nil
		base.shared(d.known).bind(&quiet, "defaults", d.defaults)
	}
	return base
}

// routes is the list of routes.
type routes struct{ *document }

func (v routes) bind(r *reader, at string, n ast.Node) {
	for i, item := range r.sequence(at, n) {
		path := at + "[" + strconv.Itoa(i) + "]"
		one := v.route(r)
		one.fields(v.known).bind(r, path, item)
		if one.Name == "" {
			r.problem(path+".name", item, "the name is missing; a route has one")
		}
		v.add(one, path)
	}
}

func (d *document) add(one Route, path string) {
	var more []string
	if one.Auth.Certificates != CertificatesNone {
		more = append(more, d.ClientCAFile)
	}
	one.material = one.digest(more...)
	for i := range one.Upstreams {
		one.Upstreams[i].Server.material = one.Upstreams[i].Server.digest()
	}
	d.routes = append(d.routes, one.Placed())
	d.origins = append(d.origins, path)
}

func (v routes) schema() schema {
	one := DefaultRoute()
	item := one.fields(v.known).schema()
	item["required"] = []string{"name"}
	return schema{"type": "array", "items": item}
}

func (v routes) lines() []string { return []string{"[]"} }
