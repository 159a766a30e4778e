package configs

import (
	"strconv"

	"github.com/goccy/go-yaml/ast"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// quirkRules is the list of words on repairs for misbehaving peers, or off.
type quirkRules struct{ of *mcp.Quirks }

const quirksOff = "off"

func (v quirkRules) bind(r *reader, at string, n ast.Node) {
	switch r.resolve(at, n).(type) {
	case nil:
		return
	case *ast.SequenceNode, *ast.MappingNode, *ast.MappingValueNode, *ast.NullNode:
	default:
		if s, ok := r.scalar(at, n); ok && s != quirksOff {
			r.problem(at, n, "%q is neither off nor a list of quirks", s)
		}
		*v.of = mcp.Quirks{Off: true}
		return
	}
	*v.of = mcp.Quirks{}
	for i, item := range r.sequence(at, n) {
		one := mcp.QuirkRule{Enabled: true}
		quirkFields(&one).bind(r, at+"["+strconv.Itoa(i)+"]", item)
		v.of.Rules = append(v.of.Rules, one)
	}
}

func (v quirkRules) schema() schema {
	item := quirkFields(new(mcp.QuirkRule)).schema()
	item["required"] = []string{"name"}
	return schema{"anyOf": []schema{{"const": quirksOff}, {"type": "array", "items": item}}}
}

func (v quirkRules) lines() []string { return []string{"[]"} }

func quirkFields(one *mcp.QuirkRule) object {
	return object{
		{key: "name", value: choice[string]{&one.Quirk, rewrite.QuirkNames()}, doc: "The quirk, as in docs/quirks.md."},
		{key: "client", value: peerFields(&one.Client, "clientInfo"), doc: "For which clients; without it, all."},
		{key: "server", value: peerFields(&one.Server, "serverInfo"), doc: "For which servers; without it, whatever the route's is."},
		{key: "enabled", value: yesNo{&one.Enabled}, doc: "Whether it acts; without it, it does."},
	}
}

func peerFields(m *mcp.ClientMatch, info string) object {
	return object{
		{key: "name", value: text[mcp.Glob]{of: &m.Name}, doc: "The name in " + info + ", with * and ?."},
		{key: "version", value: text[string]{of: &m.Version}, doc: "The version in " + info + ", as \">=1.2 <2\" or 1.*."},
		{key: "protocol", value: text[string]{of: &m.Protocol}, doc: "The protocol version, as comparisons of dates or 2025-*."},
	}
}

func checkQuirks(p *Problems, all mcp.Quirks) {
	same := map[string]string{"name": "name", "server": "server"}
	for _, side := range []string{"client.", "server."} {
		for _, key := range []string{"name", "version", "protocol"} {
			same[side+key] = side + key
		}
	}
	for i, rule := range all.Rules {
		p.in("quirks["+strconv.Itoa(i)+"]", fieldProblems(rewrite.ValidQuirk(rule), same))
	}
}
