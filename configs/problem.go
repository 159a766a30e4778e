package configs

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	Field string // as a configuration spells it: "upstream_version"
	Text  string // for a person; continues "FIELD: "
}

// Problems is all that is wrong with a configuration.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = fmt.Sprintf("configs: %s: %s", one.Field, one.Text)
	}
	return strings.Join(lines, "\n")
}

func (p *Problems) add(field, format string, args ...any) {
	*p = append(*p, Problem{field, fmt.Sprintf(format, args...)})
}

// oneOf reports a value that is none of the allowed ones.
func (p *Problems) oneOf(field, value string, allowed []string) {
	if !slices.Contains(allowed, value) {
		p.add(field, "%q is not known; use one of: %s", value, strings.Join(allowed, ", "))
	}
}

// err returns p as an error, nil when nothing is wrong.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}
