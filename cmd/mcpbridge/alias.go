package main

import (
	"fmt"

	"github.com/spf13/pflag"
)

// alias is another bridge's name for a flag. It is a hidden flag of its own
// instead of a normalized name, so that messages name what was written, and
// that both at once are noticed.
type alias struct{ name, of string }

// aliases lists the other names, the way they were meant to be written.
func aliases() []alias {
	return []alias{
		{"ssePath", "sse-path"},
		{"messagePath", "message-path"},
		{"streamableHttpPath", "path"},
		{"healthEndpoint", "health-path"},
		{"logLevel", "log-level"},
		{"upstreamProtocol", "upstream-era"},
		// These take their values in another form.
		{"sessionTimeout", "session-timeout"},
		{"baseUrl", "base-path"},
		{"cors", "allow-origin"},
	}
}

// defineAliases gives the flags that are there their other names; those that
// were defined by hand are left alone.
func defineAliases(fs *pflag.FlagSet) {
	for _, a := range aliases() {
		own := fs.Lookup(a.of)
		if own == nil || fs.Lookup(a.name) != nil {
			continue
		}
		other := *own
		other.Name, other.Hidden = a.name, true
		fs.AddFlag(&other)
	}
	fs.SetNormalizeFunc(unhyphen)
}

// unhyphen knows the names that supergateway takes with hyphens too. It leaves
// alone what is a flag of its own that way.
func unhyphen(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "output-transport":
		name = "outputTransport"
	case "base-url":
		name = "baseUrl"
	case "health-endpoint":
		name = "healthEndpoint"
	case "streamable-http":
		name = "streamableHttp"
	case "streamable-http-path":
		name = "streamableHttpPath"
	case "oauth2-bearer":
		name = "oauth2Bearer"
	case "protocol-version":
		name = "protocolVersion"
	}
	return pflag.NormalizedName(name)
}

// spelled returns by which of its names a flag stands on the command line, ""
// if by none.
func (g given) spelled(flag string) string {
	if g.flags.Changed(flag) {
		return flag
	}
	for _, a := range aliases() {
		if a.of == flag && g.flags.Changed(a.name) {
			return a.name
		}
	}
	return ""
}

// conflicts reports flags that were given by both names.
func (g given) conflicts() (problems []error) {
	for _, a := range aliases() {
		if g.flags.Changed(a.of) && g.flags.Changed(a.name) {
			problems = append(problems, fmt.Errorf("--%s and --%s say the same; give one of them", a.of, a.name))
		}
	}
	return problems
}
