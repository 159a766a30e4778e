package configs

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/mcpbridge/mcpbridge/internal/route"
	"github.com/mcpbridge/mcpbridge/mcp"
)

// Upstream is one of several servers of a route.
type Upstream struct {
	route.Branch // its name, weight and rule
	// Server is the route as far as this server goes: what the upstream does not
	// say is as the route says. Branches completes it.
	Server Route
}

// Branches returns the upstreams of a route that has several, with all that
// applies to each; nil for a route with one.
func (r Route) Branches() []Upstream {
	all := slices.Clone(r.Upstreams)
	origins := map[string]bool{}
	for _, u := range all {
		origins[u.Server.origin()] = true
	}
	for i := range all {
		s := &all[i].Server
		s.Clients = r.Clients
		// Credentials are for one origin, unless the operator says that others get
		// them too.
		if len(origins) > 1 && !s.Command.Given() && s.EffectiveCredentials() == mcp.CredentialsForward && s.Credentials == "" {
			s.Credentials = mcp.CredentialsNone
		}
	}
	return all
}

// Servers returns each of the servers of a route as a route with one.
func (r Route) Servers() []Route {
	if len(r.Upstreams) == 0 {
		return []Route{r}
	}
	var all []Route
	for _, u := range r.Branches() {
		all = append(all, u.Server)
	}
	return all
}

// origin is where the credentials of a client would go.
func (r Route) origin() string {
	u, err := url.Parse(r.Upstream)
	if r.Command.Given() || err != nil {
		return ""
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// upstreams is the list of upstreams of a route.
type upstreams struct {
	route *Route
	known []mcp.Version
}

func (v upstreams) bind(r *reader, at string, n ast.Node) {
	v.route.Upstreams = []Upstream{}
	for i, item := range r.sequence(at, n) {
		path := at + "[" + strconv.Itoa(i) + "]"
		pairs, ok := r.mapping(path, item)
		if !ok {
			continue
		}
		one := v.one(slices.ContainsFunc(pairs, func(p pair) bool { return p.key == "command" }))
		one.fields(v.known).bind(r, path, item)
		if one.Name == "" {
			r.problem(path+".name", item, "the name is missing; an upstream in a list has one, for metrics and logs")
		}
		v.route.Upstreams = append(v.route.Upstreams, one)
	}
}

// one returns an upstream with what the route says, as far as it fits the kind
// of server.
func (v upstreams) one(command bool) Upstream {
	u := Upstream{Server: *v.route, Branch: route.Branch{Weight: 1}}
	s := &u.Server
	s.Upstreams, s.Clients, s.Upstream, s.Command, s.UpstreamMessageURL = nil, nil, "", Command{}, ""
	s.Headers = s.Headers.Clone()
	if command {
		s.Headers, s.Credentials, s.UpstreamTransport = http.Header{}, "", TransportAuto
		s.UpstreamCAFile, s.UpstreamCertFile, s.UpstreamKeyFile = "", "", ""
	} else {
		s.StdioMode, s.SharedInteractive = PerSession, InteractiveOff
	}
	return u
}

func (v upstreams) schema() schema {
	u := Upstream{Server: DefaultRoute()}
	item := u.fields(v.known).schema()
	item["required"] = []string{"name"}
	return schema{"type": "array", "items": item}
}

func (v upstreams) lines() []string { return []string{"[]"} }

// fields are the keys of one upstream: its own, and those of a route that are
// about the server.
func (u *Upstream) fields(known []mcp.Version) object {
	own := object{
		{key: "name", value: text[string]{of: &u.Name}, doc: "For metrics, logs and messages."},
		{key: "weight", value: count{&u.Weight}, doc: "Its share among the upstreams without match; 0 takes nobody."},
		{key: "match", doc: "Which clients it is for, and nobody else; the first upstream that fits counts. What is left out fits all.", value: object{
			{key: "name", value: text[mcp.Glob]{of: &u.Rule.Name}, doc: "The name in clientInfo, with * and ?."},
			{key: "version", value: text[string]{of: &u.Rule.Version}, doc: "The version in clientInfo, as \">=1.2 <2\" or 1.*."},
			{key: "protocol", value: text[string]{of: &u.Rule.Protocol}, doc: "The protocol version that the client asks for, as comparisons of dates or 2025-*."},
			{key: "header", value: patterns{&u.Rule.Header}, doc: "Headers of the request that opens the conversation, as {X-Canary: \"yes*\"}."},
		}},
	}
	ofServer := []string{
		"upstream", "command", "args", "env", "inherit_env", "cwd", "upstream_message_url", "stdio_mode", "shared_interactive",
		"upstream_transport", "upstream_era", "upstream_version", "upstream_ca_file", "upstream_cert_file", "upstream_key_file",
		"headers", "credentials", "forward_headers", "drop_headers", "client_versions", "connect_timeout", "request_timeout", "probe",
	}
	for _, f := range slices.Concat(u.Server.single(), u.Server.shared(known)) {
		if slices.Contains(ofServer, f.key) {
			own = append(own, f)
		}
	}
	return append(own, policy(&u.Server.Options)...)
}

// patterns are patterns by the name of a header.
type patterns struct{ of *map[string]mcp.Glob }

func (v patterns) bind(r *reader, at string, n ast.Node) {
	pairs, ok := r.mapping(at, n)
	if !ok {
		return
	}
	all := map[string]mcp.Glob{}
	for _, p := range pairs {
		if value, ok := r.scalar(joined(at, p.key), p.value); ok {
			all[http.CanonicalHeaderKey(p.key)] = mcp.Glob(value)
		}
	}
	*v.of = all
}

func (v patterns) schema() schema {
	return schema{"type": "object", "additionalProperties": schema{"type": []string{"string", "number", "boolean"}}}
}

func (v patterns) lines() []string { return []string{"{}"} }

// checkUpstreams checks a route that has several servers.
func (r Route) checkUpstreams(p *Problems, known []mcp.Version) {
	if r.Upstream != "" || r.Command.Given() {
		p.add("upstreams", "there is an upstream or a command beside them; put it among them")
	}
	if n := len(r.Upstreams); n > route.MaxBranches {
		p.add("upstreams", "%d are too many; a route has %d at most", n, route.MaxBranches)
	}
	var ofRoute Problems
	r.checkOne(&ofRoute, known)
	names, open := map[string]bool{}, false
	for i, u := range r.Branches() {
		at := "upstreams[" + strconv.Itoa(i) + "]"
		var own Problems
		u.check(&own)
		u.Server.Clients = nil
		u.Server.checkServer(&own)
		u.Server.checkOne(&own, known)
		if names[u.Name] {
			own.add("name", "%q is the name of another upstream of the route too; choose another", u.Name)
		}
		names[u.Name], open = true, open || u.Weight > 0 || u.Rule.Given()
		own = slices.DeleteFunc(own, func(one Problem) bool { return slices.Contains(ofRoute, one) }) // which are told once
		p.in(at, own)
	}
	if !open {
		p.add("upstreams", "none of them takes anybody; give at least one a weight above 0, or a match")
	}
}

// check checks what decides whom the upstream takes.
func (u Upstream) check(p *Problems) {
	if u.Name != "" && !isRouteName(u.Name) {
		p.add("name", "%q is no name; use letters, digits and any of ._~- in it", u.Name)
	}
	switch {
	case u.Weight < 0 || u.Weight > route.MaxWeight:
		p.add("weight", "%d is no weight; write a whole number from 0 to %d", u.Weight, route.MaxWeight)
	case u.Rule.Given() && u.Weight > 1:
		p.add("weight", "the upstream takes those who match and nobody else, so a weight means nothing; leave one of the two out")
	}
	if u.Rule.ClientMatch != (mcp.ClientMatch{}) {
		p.in("match", fieldProblems(u.Rule.Valid(), map[string]string{"name": "name", "version": "version", "protocol": "protocol"}))
	}
	for name, pattern := range u.Rule.Header {
		if !isToken(name) {
			p.add("match.header", "a name holds a character that no header name has")
		}
		if err := pattern.Valid(); err != nil {
			p.add("match.header."+name, "%v", err)
		}
	}
}
