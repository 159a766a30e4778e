package configs

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	Path string // as a file spells it: "routes[1].upstream_version"
	Text string // for a person; continues "PATH: "
}

// Key returns the last part of the path.
func (p Problem) Key() string { return p.Path[strings.LastIndexByte(p.Path, '.')+1:] }

// Problems is all that is wrong with a configuration.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = fmt.Sprintf("configs: %s: %s", one.Path, one.Text)
	}
	return strings.Join(lines, "\n")
}

func (p *Problems) add(path, format string, args ...any) {
	*p = append(*p, Problem{path, fmt.Sprintf(format, args...)})
}

// in adds what is wrong with a part.
func (p *Problems) in(part string, problems Problems) {
	for _, one := range problems {
		*p = append(*p, Problem{part + "." + one.Path, one.Text})
	}
}

// oneOf reports a value that is none of the allowed ones.
func (p *Problems) oneOf(path, value string, allowed []string) {
	if !slices.Contains(allowed, value) {
		p.add(path, "%q is not known; use one of: %s", value, strings.Join(allowed, ", "))
	}
}

// err returns p as an error, nil when nothing is wrong.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}
