package mcp

import (
	"fmt"
	"path"
	"strings"
)

// Glob is a pattern for a whole name: * stands for any text, ? for one
// character, [a-z] for one of a set, \\ takes the next character as it is. A
// slash is a character like any other. Case matters.
type Glob string

// slash takes the place of / where path.Match would treat it apart.
var slash = strings.NewReplacer("/", "\x00")

// Match reports whether a name fits. A pattern that is not valid fits none.
func (g Glob) Match(name string) bool {
	ok, err := path.Match(slash.Replace(string(g)), slash.Replace(name))
	return ok && err == nil
}

// Valid reports a pattern that can be no pattern.
func (g Glob) Valid() error {
	if _, err := path.Match(slash.Replace(string(g)), ""); err != nil {
		return fmt.Errorf("%q is no pattern: a [ has no ], or a \\ has nothing after it", string(g))
	}
	return nil
}
