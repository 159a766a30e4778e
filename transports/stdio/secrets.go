package stdio

import (
	"slices"
	"strings"
)

// shortestSecret is the length below which a value is left alone: it would
// blot out half the log and is no credential.
const shortestSecret = 6

// secrets returns what replaces the values that an operator gave the child by
// their names, since a child may print what it was given. Of the variables
// that it inherits those are secret that were asked for by name, or sound so.
func (c Command) secrets(env []string) *strings.Replacer {
	var pairs [][2]string
	safe := harmless()
	for _, variable := range env {
		name, value := cutVariable(variable)
		given := slices.Contains(c.Env, variable) || c.inherits(name) || !isHarmless(name, safe) && soundsSecret(name)
		if given && len(value) >= shortestSecret {
			pairs = append(pairs, [2]string{value, "[$" + name + "]"})
		}
	}
	// Of two that begin alike the longer one must be found first.
	slices.SortStableFunc(pairs, func(a, b [2]string) int { return len(b[0]) - len(a[0]) })
	var flat []string
	for _, p := range pairs {
		flat = append(flat, p[0], p[1])
	}
	return strings.NewReplacer(flat...)
}

func soundsSecret(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"TOKEN", "SECRET", "PASSW", "KEY", "CREDENTIAL", "AUTH"},
		func(word string) bool { return strings.Contains(name, word) })
}
