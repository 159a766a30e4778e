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
func (c Config) UpstreamName() string {
	if c.Command.Given() {
		return filepath.Base(c.Command.Args[0])
	}
	return Redacted(c.Upstream)
}

// checkServer checks that there is one way to reach a server, and only what
// belongs to that way.
func (c Config) checkServer(p *Problems) {
	p.oneOf("stdio_mode", string(c.StdioMode), StdioModes())
	if !c.Command.Given() {
		checkUpstream(p, c.Upstream)
		c.checkNoCommand(p)
		return
	}
	c.checkCommand(p)
	switch {
	case c.Upstream != "":
		p.add("upstream", "there is a command too; give one of them")
	case len(c.Headers) > 0:
		p.add("header", "a command takes no headers; give it a variable instead")
	case c.Credentials != "":
		p.add("credentials", "a command takes none; give it a variable instead")
	case c.UpstreamTransport != TransportAuto:
		p.add("upstream_transport", "a command speaks on its standard streams; leave it out")
	case c.UpstreamMessageURL != "":
		p.add("upstream_message_url", "a command has no URL; leave it out")
	}
}

func (c Config) checkNoCommand(p *Problems) {
	for field, given := range map[string]bool{
		"env": len(c.Command.Env) > 0, "inherit_env": len(c.Command.InheritEnv) > 0, "cwd": c.Command.Dir != "",
		"stdio_mode": c.StdioMode == Shared,
	} {
		if given {
			p.add(field, "there is no command to which it could apply")
		}
	}
}

// checkCommand never repeats a variable's value.
func (c Config) checkCommand(p *Problems) {
	if c.Command.Args[0] == "" {
		p.add("command", "the name of the program is empty")
	}
	for _, v := range c.Command.Env {
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
	for _, name := range c.Command.InheritEnv {
		if !isVariable(name) {
			p.add("inherit_env", "%q is not the name of a variable", name)
		}
	}
}

func isVariable(name string) bool { return name != "" && !strings.ContainsAny(name, "=\x00 \t\n") }
