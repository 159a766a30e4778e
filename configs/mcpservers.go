package configs

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// entries are MCP servers in the form that desktop clients share. Their keys
// differ from client to client: those that say how to reach a server are
// known in every spelling of the field, the others are the client's own
// affair and are passed over with a remark.
type entries struct{ *document }

func (v entries) bind(r *reader, at string, n ast.Node) {
	pairs, _ := r.mapping(at, n)
	for _, p := range pairs {
		e := entry{reader: r, path: joined(at, p.key), route: v.route(r)}
		e.route.Name = nameFor(p.key)
		if e.read(p.value) {
			v.add(e.route, e.path)
		}
	}
}

func (v entries) schema() schema {
	return schema{"type": "object", "additionalProperties": schema{"type": "object"}}
}

func (v entries) lines() []string { return []string{"{}"} }

// nameFor makes a name of any text.
func nameFor(key string) string {
	name := strings.Map(func(c rune) rune {
		if isRouteName("x" + string(c)) {
			return c
		}
		return '-'
	}, key)
	return strings.Trim(name, "-.")
}

// entry is one server of such a map.
type entry struct {
	*reader
	path  string
	route Route
	kind  string // the transport that it names
	at    ast.Node
	off   bool
}

// read takes what the entry says; false when there is nothing to serve.
func (e *entry) read(n ast.Node) bool {
	pairs, ok := e.mapping(e.path, n)
	if !ok {
		return false
	}
	before := len(e.problems)
	var idle []string
	for _, p := range pairs {
		if !e.take(p) {
			idle = append(idle, p.key)
		}
	}
	if e.off {
		e.remark("it is disabled, and not served")
		return false
	}
	e.applyKind(n)
	if len(idle) > 0 {
		slices.Sort(idle)
		e.remark("without effect here: " + strings.Join(idle, ", "))
	}
	return len(e.problems) == before
}

func (e *entry) remark(text string) { e.remarks = append(e.remarks, e.path+": "+text) }

// take reads one key; false when it is not known.
func (e *entry) take(p pair) bool {
	r, at := &e.route, joined(e.path, p.key)
	var v value
	switch fold(p.key) {
	case "command":
		v = program{&r.Command}
	case "args", "arguments":
		v = arguments{&r.Command}
	case "env", "environment":
		v = variables{&r.Command.Env}
	case "cwd", "workingdirectory":
		v = location{&r.Command.Dir}
	case "url", "serverurl", "endpoint", "uri":
		v = text[string]{of: &r.Upstream}
	case "httpurl":
		v, e.kind = text[string]{of: &r.Upstream}, "http"
	case "headers":
		v = headers{&r.Headers}
	case "type", "transport", "transporttype":
		v, e.at = text[string]{of: &e.kind}, p.node
	case "disabled":
		v = yesNo{&e.off}
	case "enabled":
		on := true
		yesNo{&on}.bind(e.reader, at, p.value)
		e.off = e.off || !on
		return true
	default:
		return false
	}
	v.bind(e.reader, at, p.value)
	return true
}

// applyKind makes the transport of the entry one of ours.
func (e *entry) applyKind(n ast.Node) {
	at := e.at
	if at == nil {
		at = n
	}
	switch r := &e.route; fold(e.kind) {
	case "":
	case "stdio", "local":
		if !r.Command.Given() {
			e.problem(e.path, at, "a server of the type %q needs a command", e.kind)
		}
	case "sse", "httpsse", "http+sse":
		e.needURL(at)
		r.UpstreamTransport = TransportSSE
	case "http", "streamablehttp", "streamable", "remote":
		e.needURL(at)
		if fold(e.kind) != "http" && fold(e.kind) != "remote" { // these are what people write of any URL
			r.UpstreamTransport = TransportStreamable
		}
	case "ws", "websocket":
		e.needURL(at)
		if r.Upstream != "" && !r.UpstreamSocket() {
			e.problem(e.path, at, "a server of the type %q has a ws:// or wss:// URL", e.kind)
		}
	default:
		e.problem(e.path, at, "the type %q is not known; use one of: stdio, http, streamable-http, sse, ws", e.kind)
	}
}

func (e *entry) needURL(at ast.Node) {
	if e.route.Upstream == "" {
		e.problem(e.path, at, "a server of the type %q needs a url", e.kind)
	}
}
