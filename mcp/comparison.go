package mcp

import (
	"cmp"
	"fmt"
	"strings"
)

// comparison is a list of bounds that must all hold: ">=1.2 <2". Blanks or
// commas stand between them.
type comparison []bound

type bound struct {
	operator string
	value    string
	scale    scale
}

// scale is how values are read and ordered.
type scale struct {
	kind    string // for messages
	reads   func(string) bool
	compare func(a, b string) int
}

// numbers orders versions of programs: dotted numbers, optionally with a v
// before them. What follows a hyphen makes it earlier than the numbers alone,
// as in 2.0.0-rc.1, and what follows a plus sign is of no account
// (semver.org). Missing numbers are 0.
var numbers = scale{"a version of dotted numbers, as 1.2.3", isNumbers, compareNumbers}

// dates orders protocol versions.
var dates = scale{"a date of the form YYYY-MM-DD", func(s string) bool { return Version(s).IsDate() }, cmp.Compare[string]}

// operators, the longer first.
func operators() []string { return []string{">=", "<=", "!=", ">", "<", "="} }

// isComparison tells a comparison from a pattern.
func isComparison(text string) bool {
	text = strings.TrimLeft(text, " ,")
	for _, op := range operators() {
		if strings.HasPrefix(text, op) {
			return true
		}
	}
	return false
}

// maxBounds is how many bounds one comparison may have.
const maxBounds = 16

func parseComparison(text string, s scale) (comparison, error) {
	var out comparison
	for rest := strings.TrimLeft(text, " ,"); rest != ""; rest = strings.TrimLeft(rest, " ,") {
		b := bound{scale: s}
		for _, op := range operators() {
			if strings.HasPrefix(rest, op) {
				b.operator = op
				break
			}
		}
		if b.operator == "" {
			return nil, fmt.Errorf("%q has no operator before %q: use one of %s", text, rest, strings.Join(operators(), " "))
		}
		rest = strings.TrimLeft(rest[len(b.operator):], " ")
		end := strings.IndexAny(rest, " ,<>=!")
		if end < 0 {
			end = len(rest)
		}
		b.value, rest = rest[:end], rest[end:]
		if !s.reads(b.value) {
			return nil, fmt.Errorf("%q in %q is not %s", b.value, text, s.kind)
		}
		if out = append(out, b); len(out) > maxBounds {
			return nil, fmt.Errorf("%q has more than %d bounds", text, maxBounds)
		}
	}
	return out, nil
}

// holds reports whether a value is within all bounds. One that cannot be read
// is within none.
func (c comparison) holds(value string) bool {
	for _, b := range c {
		if !b.scale.reads(value) || !b.holds(b.scale.compare(value, b.value)) {
			return false
		}
	}
	return true
}

func (b bound) holds(order int) bool {
	switch b.operator {
	case ">=":
		return order >= 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case "<":
		return order < 0
	case "!=":
		return order != 0
	}
	return order == 0
}

// maxVersionText bounds what is read of a version that a peer gives itself.
const maxVersionText = 256

// isNumbers reports whether a text is a version of dotted numbers.
func isNumbers(text string) bool {
	if len(text) > maxVersionText {
		return false
	}
	release, _ := splitVersion(text)
	for part := range strings.SplitSeq(release, ".") {
		if part == "" || strings.Trim(part, "0123456789") != "" {
			return false
		}
	}
	return true
}

// splitVersion takes a version apart; early is what follows the hyphen.
func splitVersion(text string) (release, early string) {
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "v"), "+")
	release, early, _ = strings.Cut(text, "-")
	return release, early
}

func compareNumbers(a, b string) int {
	x, earlyX := splitVersion(a)
	y, earlyY := splitVersion(b)
	if order := compareDotted(x, y, "0"); order != 0 {
		return order
	}
	switch {
	case earlyX == earlyY:
		return 0
	case earlyX == "":
		return 1
	case earlyY == "":
		return -1
	}
	return compareDotted(earlyX, earlyY, "")
}

// compareDotted compares part by part; a missing part counts as missing says.
func compareDotted(a, b, missing string) int {
	for a != "" || b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		if order := comparePart(cmp.Or(x, missing), cmp.Or(y, missing)); order != 0 {
			return order
		}
	}
	return 0
}

// comparePart compares numbers of any length by their value and other words
// by their letters; a number is less than a word, and nothing less than either.
func comparePart(a, b string) int {
	aNumber, bNumber := isDigits(a), isDigits(b)
	switch {
	case aNumber && bNumber:
		a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	case a == "" || b == "" || aNumber == bNumber:
		return cmp.Compare(a, b)
	case aNumber:
		return -1
	}
	return 1
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
