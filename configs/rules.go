package configs

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Client is how some clients of a route are served.
type Client struct {
	Match            mcp.ClientMatch
	Options          mcp.Options
	RequestTimeout   time.Duration // 0 is the route's
	UpstreamVersions []mcp.Version // those offered to the server; empty is the route's
}

// clientRules is the list of exceptions of a route.
type clientRules struct {
	route    *Route
	versions []string
}

func (v clientRules) bind(r *reader, at string, n ast.Node) {
	v.route.Clients = nil
	for i, item := range r.sequence(at, n) {
		one := Client{Options: v.route.Options}
		one.fields(v.versions).bind(r, at+"["+strconv.Itoa(i)+"]", item)
		v.route.Clients = append(v.route.Clients, one)
	}
}

func (v clientRules) schema() schema {
	var one Client
	item := one.fields(v.versions).schema()
	item["required"] = []string{"match"}
	return schema{"type": "array", "items": item}
}

func (v clientRules) lines() []string { return []string{"[]"} }

func (c *Client) fields(versions []string) object {
	return append(object{
		{key: "match", doc: "Which clients are meant, by what they say of themselves; what is left out fits all.", value: object{
			{key: "name", value: text[mcp.Glob]{of: &c.Match.Name}, doc: "The name in clientInfo, with * and ?."},
			{key: "version", value: text[string]{of: &c.Match.Version}, doc: "The version in clientInfo, as \">=1.2 <2\" or 1.*."},
			{key: "protocol", value: text[string]{of: &c.Match.Protocol}, doc: "The protocol version, as comparisons of dates or 2025-*."},
		}},
		{key: "request_timeout", value: span{&c.RequestTimeout}, doc: "How long the server may be silent within a request."},
		{key: "upstream_versions", value: list[mcp.Version]{&c.UpstreamVersions, versions}, doc: "The protocol versions offered to the server, oldest first."},
	}, policy(&c.Options)...)
}

// toolRules is the list of fallbacks by tool.
type toolRules struct{ of *[]mcp.FallbackRule }

func (v toolRules) bind(r *reader, at string, n ast.Node) {
	var all []mcp.FallbackRule
	for i, item := range r.sequence(at, n) {
		one := mcp.FallbackRule{Fallback: mcp.DefaultOptions().Fallback}
		toolFields(&one).bind(r, at+"["+strconv.Itoa(i)+"]", item)
		all = append(all, one)
	}
	*v.of = all
}

func (v toolRules) schema() schema {
	item := toolFields(new(mcp.FallbackRule)).schema()
	item["required"] = []string{"name", "elicitation_fallback"}
	return schema{"type": "array", "items": item}
}

func (v toolRules) lines() []string { return []string{"[]"} }

func toolFields(one *mcp.FallbackRule) object {
	return object{
		{key: "name", value: text[mcp.Glob]{of: &one.Tool}, doc: "The tool, with * and ?."},
		{key: "elicitation_fallback", value: fallback{&one.Fallback}, doc: "What happens when it asks a client that cannot be asked."},
	}
}

// checkPolicy checks what decides about messages, of a route or of one of its
// exceptions.
func checkPolicy(p *Problems, o mcp.Options) {
	p.oneOf("inject_text", string(o.InjectText), mcp.InjectTextNames())
	p.oneOf("elicitation_fallback", string(o.Fallback.Action), mcp.FallbackNames())
	p.oneOf("loss", string(o.Loss), mcp.LossNames())
	if o.NotFoundCode != "" {
		p.oneOf("not_found_code", string(o.NotFoundCode), mcp.NotFoundCodeNames())
	}
	if o.ElicitationTimeout <= 0 {
		p.noTime("elicitation_timeout", o.ElicitationTimeout)
	}
	checkQuirks(p, o.Quirks)
	for i, rule := range o.FallbackRules {
		p.in("tools["+strconv.Itoa(i)+"]", fieldProblems(rule.Valid(), map[string]string{"tool": "name", "action": "elicitation_fallback"}))
	}
}

// fieldProblems makes problems of the error of a rule.
func fieldProblems(err error, keys map[string]string) Problems {
	var wrong *mcp.FieldError
	if !errors.As(err, &wrong) {
		return nil
	}
	return Problems{{keys[wrong.Field], wrong.Problem}}
}

// check tells what is wrong with an exception and is not of the route.
func (c Client) check(names []string, route Problems) Problems {
	var p Problems
	checkPolicy(&p, c.Options)
	p = slices.DeleteFunc(p, func(one Problem) bool { return slices.Contains(route, one) })
	p.in("match", fieldProblems(c.Match.Valid(), map[string]string{"name": "name", "version": "version", "protocol": "protocol"}))
	if c.RequestTimeout < 0 {
		p.noTime("request_timeout", c.RequestTimeout)
	}
	for _, v := range c.UpstreamVersions {
		p.oneOf("upstream_versions", string(v), names)
	}
	return p
}

func (p *Problems) noTime(path string, d time.Duration) {
	p.add(path, "%s is no time to wait; write a duration above zero, as 30s, 10m or 1h", d)
}
