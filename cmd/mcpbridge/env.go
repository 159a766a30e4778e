package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// hasVariable reports a flag that an environment variable mirrors: all but
// help, and the names that only ease moving from other bridges.
func hasVariable(f *pflag.Flag) bool { return f.Name != "help" && !f.Hidden }

// variable returns the environment variable that mirrors a flag.
func variable(flag string) string {
	return "MCPBRIDGE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// showVariables puts the variable of each flag into its help.
func showVariables(fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) {
		if hasVariable(f) {
			f.Usage += " [" + variable(f.Name) + "]"
		}
	})
}

// How strongly a flag was given.
const (
	byDefault = iota
	byVariable
	byFlag
)

// given knows which flags were given and where.
type given struct {
	flags     *pflag.FlagSet
	variables map[string]bool // flags set from the environment, by name
}

// readVariables sets flags that are not on the command line from the
// environment. An empty variable counts as absent.
func readVariables(fs *pflag.FlagSet, lookup func(string) (string, bool)) (given, error) {
	g := given{flags: fs, variables: make(map[string]bool)}
	problems := g.conflicts()
	fs.VisitAll(func(f *pflag.Flag) {
		if !hasVariable(f) || g.spelled(f.Name) != "" {
			return
		}
		name := variable(f.Name)
		value, _ := lookup(name)
		if value == "" || name == "MCPBRIDGE_PORT" && isServiceLink(value) {
			return
		}
		if err := setFromVariable(f, value); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
		}
		g.variables[f.Name] = true
	})
	return g, errors.Join(problems...)
}

// isServiceLink recognizes what Kubernetes sets in every pod beside a service
// that is called mcpbridge: MCPBRIDGE_PORT=tcp://10.0.0.1:8080.
func isServiceLink(value string) bool { return strings.Contains(value, "://") }

// setFromVariable sets a flag; one that can be repeated takes a line each.
func setFromVariable(f *pflag.Flag, value string) error {
	var number *strconv.NumError
	switch f.Value.Type() {
	case "stringArray":
		return setLines(f, value)
	case "bool":
		if f.Value.Set(value) != nil {
			return fmt.Errorf("%q is neither true nor false", value)
		}
		return nil
	}
	err := f.Value.Set(value)
	if errors.As(err, &number) {
		return fmt.Errorf("%q is not a number that fits", value)
	}
	return err
}

func setLines(f *pflag.Flag, value string) error {
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := f.Value.Set(line); err != nil {
			return err
		}
	}
	return nil
}

// strength tells how strongly a flag was given.
func (g given) strength(flag string) int {
	switch {
	case g.spelled(flag) != "":
		return byFlag
	case g.variables[flag]:
		return byVariable
	}
	return byDefault
}

// source names the place where a flag got its value, for messages.
func (g given) source(flag string) string {
	if g.strength(flag) == byVariable {
		return variable(flag)
	}
	return "--" + cmp.Or(g.spelled(flag), flag)
}
