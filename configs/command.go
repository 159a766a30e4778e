package configs

import (
	"path/filepath"
	"strings"
)

// Command starts an MCP server that speaks on its standard streams. The zero
// value is none.
type Command struct {
	Args       []string // the program and its arguments
	Env        []string // variables to set, as NAME=VALUE
	InheritEnv []string // variables to pass on, by name; InheritAll is all
	Dir        string   // its working directory; "" is the bridge's own
}

// InheritAll, among the variables to inherit, passes on all.
const InheritAll = "all"

// StdioMode says how many processes serve the sessions of a command.
type StdioMode string

// The modes.
const (
	PerSession StdioMode = "per-session" // each session has its own
	Shared     StdioMode = "shared"      // one serves all; it can ask nobody anything
)

// StdioModes returns the modes, the default first.
func StdioModes() []string { return []string{string(PerSession), string(Shared)} }

// Given reports whether there is a command.
func (c Command) Given() bool { return len(c.Args) > 0 }

// UpstreamName returns what logs and messages call the upstream: its URL, or
// the program, without what may be a credential.
func (r Route) UpstreamName() string {
	if r.Command.Given() {
		return filepath.Base(r.Command.Args[0])
	}
	if len(r.Upstreams) > 0 {
		names := make([]string, len(r.Upstreams))
		for i, u := range r.Upstreams {
			names[i] = u.Name + " " + u.Server.UpstreamName()
		}
		return strings.Join(names, ", ")
	}
	return Redacted(r.Upstream)
}

// checkServer checks that there is one way to reach a server, and only what
// belongs to that way.
func (r Route) checkServer(p *Problems) {
	p.oneOf("stdio_mode", string(r.StdioMode), StdioModes())
	if !r.Command.Given() {
		checkUpstream(p, r.Upstream)
		r.checkNoCommand(p)
		return
	}
	r.checkCommand(p)
	switch {
	case r.Upstream != "":
		p.add("upstream", "there is a command too; give one of them")
	case len(r.Headers) > 0:
		p.add("headers", "a command takes no headers; give it a variable instead")
	case r.Credentials != "":
		p.add("credentials", "a command takes none; give it a variable instead")
	case r.UpstreamTransport != TransportAuto:
		p.add("upstream_transport", "a command speaks on its standard streams; leave it out")
	case r.UpstreamMessageURL != "":
		p.add("upstream_message_url", "a command has no URL; leave it out")
	}
}

func (r Route) checkNoCommand(p *Problems) {
	for _, one := range []struct {
		field string
		given bool
	}{
		{"env", len(r.Command.Env) > 0}, {"inherit_env", len(r.Command.InheritEnv) > 0}, {"cwd", r.Command.Dir != ""},
		{"stdio_mode", r.StdioMode == Shared},
	} {
		if one.given {
			p.add(one.field, "there is no command to which it could apply")
		}
	}
}

// checkCommand never repeats a variable's value.
func (r Route) checkCommand(p *Problems) {
	if r.Command.Args[0] == "" {
		p.add("command", "the name of the program is empty")
	}
	for _, v := range r.Command.Env {
		name, value, ok := strings.Cut(v, "=")
		switch {
		case !ok:
			p.add("env", "a variable is written as NAME=VALUE; the = is missing; to pass on one of the bridge's own, inherit it")
		case !isVariable(name):
			p.add("env", "the text before the = is not the name of a variable")
		case strings.ContainsRune(value, 0):
			p.add("env", "the value of %s holds a NUL", name)
		}
	}
	for _, name := range r.Command.InheritEnv {
		if !isVariable(name) {
			p.add("inherit_env", "%q is not the name of a variable", name)
		}
	}
}

func isVariable(name string) bool { return name != "" && !strings.ContainsAny(name, "=\x00 \t\n") }
