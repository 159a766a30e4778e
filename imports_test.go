// Package mcpbridge_test holds the rules of DESIGN.md that a compiler does
// not: who may import whom, where versions are named, and which packages do
// no I/O.
package mcpbridge_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/mcpbridge/mcpbridge/"

// anything lets a room import all rooms and modules.
const anything = "*"

// table is the import table of DESIGN.md, section 3. Every room may import
// itself and the standard library. Names with a dot are modules.
func table() map[string][]string {
	const (
		zerolog    = "github.com/rs/zerolog"
		prometheus = "github.com/prometheus/client_golang"
	)
	return map[string][]string{
		"cmd/mcpbridge":   {anything},
		"bridge":          {"mcp", "negotiate", "rewrite", "transports", "internal/route", zerolog},
		"metrics":         {"mcp", "rewrite", "internal/route", prometheus},
		"configs":         {"mcp", "negotiate", "rewrite", "internal/route", "github.com/goccy/go-yaml"},
		"rewrite":         {"mcp"},
		"negotiate":       {"mcp"},
		"transports":      {"mcp", zerolog, "github.com/gorilla/websocket", "github.com/klauspost/compress", "github.com/rs/cors"},
		"mcp":             {},
		"internal/auth":   {"mcp", "github.com/go-jose/go-jose"},
		"internal/oauth":  {"mcp"},
		"internal/route":  {"mcp"},
		"internal/ask":    {"mcp"},
		"internal/admin":  {"mcp", "rewrite", "metrics", "configs", zerolog, prometheus},
		"internal/probe":  {"mcp", "rewrite", "negotiate", "transports"},
		"internal/trace":  {"mcp", "go.opentelemetry.io"},
		"internal/schema": {"mcp", "github.com/santhosh-tekuri/jsonschema"},
		"internal/golden": {anything},
		"deploy":          {},
	}
}

// testOnly lists packages that only tests and they themselves import.
func testOnly() []string { return []string{"internal/golden", "transports/transporttest"} }

// source is one Go file of this module.
type source struct {
	path string // slash-separated, from the module root
	fset *token.FileSet
	file *ast.File
}

func (s source) test() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s source) dir() string { return path.Dir(s.path) }

func (s source) at(n ast.Node) string { return s.fset.Position(n.Pos()).String() }

// room returns the room that a directory belongs to.
func room(dir string) string {
	parts := strings.Split(dir, "/")
	if (parts[0] == "internal" || parts[0] == "cmd") && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// sources parses all Go files of this module.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	walk := func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if foreign(name, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		s := source{path: filepath.ToSlash(name), fset: token.NewFileSet()}
		s.file, err = parser.ParseFile(s.fset, name, nil, 0)
		all = append(all, s)
		return err
	}
	if err := filepath.WalkDir(".", walk); err != nil {
		t.Fatal(err)
	}
	return all
}

// foreign reports a directory that holds no package of this module: other
// modules, and what the go tool skips.
func foreign(name, base string) bool {
	return name == "interop" || name == "bench" || base == "testdata" || base == "node_modules" ||
		name != "." && (base[0] == '.' || base[0] == '_')
}

func TestImportTable(t *testing.T) {
	allowed := table()
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		from := room(s.dir())
		rules, known := allowed[from]
		if !known {
			t.Errorf("%s: the room %q is not in the table of DESIGN.md", s.path, from)
			continue
		}
		for _, i := range s.file.Imports {
			target, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !permitted(s.dir(), from, target, rules) {
				t.Errorf("%s: %s must not import %s", s.at(i), from, target)
			}
		}
	}
}

// permitted reports whether a package in dir, of a room with these rules, may
// import target.
func permitted(dir, from, target string, rules []string) bool {
	local, ours := strings.CutPrefix(target, module)
	if first, _, _ := strings.Cut(target, "/"); !ours && !strings.Contains(first, ".") {
		return true // the standard library
	}
	if ours && slices.Contains(testOnly(), local) {
		return dir == local
	}
	if !ours {
		return slices.ContainsFunc(rules, func(r string) bool {
			return r == anything || target == r || strings.HasPrefix(target, r+"/")
		})
	}
	to := room(local)
	return to == from || slices.Contains(rules, anything) || slices.Contains(rules, to)
}

func TestPermitted(t *testing.T) {
	for _, tc := range []struct {
		dir, target string
		want        bool
	}{
		{"rewrite", "strings", true},
		{"rewrite", module + "mcp", true},
		{"rewrite", module + "negotiate", false},
		{"rewrite", module + "internal/golden", false},
		{"rewrite", "github.com/rs/zerolog", false},
		{"bridge", "github.com/rs/zerolog/log", true},
		{"bridge", "github.com/rs/zerologger", false},
		{"transports/streamable", module + "transports", true},
		{"transports/streamable", module + "transports/transporttest", false},
		{"transports/transporttest", module + "transports", true},
		{"metrics", module + "bridge", false},
		{"cmd/mcpbridge", "example.com/x", true},
		{"cmd/mcpbridge", module + "internal/golden", false},
		{"internal/golden", module + "bridge", true},
		{"mcp", module + "rewrite", false},
	} {
		from := room(tc.dir)
		if got := permitted(tc.dir, from, tc.target, table()[from]); got != tc.want {
			t.Errorf("%s -> %s: permitted = %v", tc.dir, tc.target, got)
		}
	}
}

// Only the rungs know which versions there are.
func TestVersionsAreNamedOnRungsOnly(t *testing.T) {
	version := regexp.MustCompile(`20[2-9]\d-[01]\d-[0-3]\d`)
	rung := regexp.MustCompile(`^rewrite/rev[^/]*\.go$|^cmd/mcpbridge/demo[^/]*\.go$|^configs/.*sample[^/]*\.go$`)
	for _, s := range sources(t) {
		if s.test() || rung.MatchString(s.path) || slices.Contains(testOnly(), s.dir()) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && version.MatchString(lit.Value) {
				t.Errorf("%s: the version %s is named outside rewrite/rev*.go", s.at(lit), version.FindString(lit.Value))
			}
			return true
		})
	}
}

// Decisions do no I/O, start no goroutine and read no clock or random source.
func TestDecisionsArePure(t *testing.T) {
	pure := []string{"mcp", "rewrite", "negotiate", "internal/route"}
	banned := []string{"os", "net", "log", "log/slog", "math/rand", "math/rand/v2", "crypto/rand", "os/exec"}
	clock := []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"}
	for _, s := range sources(t) {
		if s.test() || !slices.Contains(pure, room(s.dir())) {
			continue
		}
		for _, i := range s.file.Imports {
			if name, _ := strconv.Unquote(i.Path.Value); slices.Contains(banned, name) {
				t.Errorf("%s: %s does no I/O and must not import %s", s.at(i), room(s.dir()), name)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s: %s starts no goroutine", s.at(n), room(s.dir()))
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clock, n.Sel.Name) {
					t.Errorf("%s: %s reads no clock; time is handed in", s.at(n), room(s.dir()))
				}
			}
			return true
		})
	}
}
