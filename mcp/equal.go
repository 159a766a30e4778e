package mcp

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Equivalent reports whether two JSON values mean the same: member order,
// whitespace and the spelling of numbers and strings do not count. Numbers
// compare as decimals, never as floats. Values that are nested deeply and are
// not spelt alike count as different: each level is read once more.
func Equivalent(a, b Raw) bool { return equivalent(a, b, 0) }

const maxEquivalentDepth = 32

func equivalent(a, b Raw, depth int) bool {
	switch {
	case string(a) == string(b):
		return true
	case depth == maxEquivalentDepth:
		return false
	case a.IsObject() && b.IsObject():
		return equivalentObjects(a, b, depth)
	case a.IsArray() && b.IsArray():
		return equivalentArrays(a, b, depth)
	case a.IsString() && b.IsString():
		s, _ := a.Text()
		return b.Is(s)
	}
	return isNumber(a) && isNumber(b) && decimal(a) == decimal(b)
}

func equivalentObjects(a, b Raw, depth int) bool {
	x, _ := ParseObject(a)
	y, _ := ParseObject(b)
	if x.Len() != y.Len() {
		return false
	}
	byName := make(map[string]Raw, y.Len())
	y.Each(func(name string, v Raw) bool { byName[name] = v; return true })
	same := len(byName) == y.Len() && x.Duplicate() == ""
	x.Each(func(name string, v Raw) bool {
		other, ok := byName[name]
		same = same && ok && equivalent(v, other, depth+1)
		return same
	})
	return same
}

func equivalentArrays(a, b Raw, depth int) bool {
	x, _ := ParseArray(a)
	y, _ := ParseArray(b)
	if x.Len() != y.Len() {
		return false
	}
	for i := range x.Len() {
		if !equivalent(x.At(i), y.At(i), depth+1) {
			return false
		}
	}
	return true
}

func isNumber(r Raw) bool { c := r.first(); return c == '-' || isDigit(c) }

// decimal returns a spelling of a number that is the same for equal numbers:
// sign, significant digits, exponent.
func decimal(r Raw) string {
	text, negative := strings.CutPrefix(strings.ToLower(string(r)), "-")
	mantissa, expText, _ := strings.Cut(text, "e")
	whole, frac, _ := strings.Cut(mantissa, ".")
	exp := 0
	if expText != "" {
		n, err := strconv.ParseInt(expText, 10, 32) // far from where sums overflow
		if err != nil {
			return string(r) // beyond any exponent we could compare
		}
		exp = int(n)
	}
	digits := strings.TrimLeft(whole+frac, "0")
	exp -= len(frac)
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return "0"
	}
	exp += len(digits) - len(significant)
	sign := ""
	if negative {
		sign = "-"
	}
	return sign + significant + "e" + strconv.Itoa(exp)
}

// Canonical returns a spelling of a JSON value that is the same for values
// that mean the same, as far as order and whitespace go: members sorted by
// name, no space between tokens.
func Canonical(v Raw) Raw {
	if o, ok := ParseObject(v); ok {
		members := map[string]Raw{}
		o.Each(func(name string, v Raw) bool { members[name] = v; return true })
		out := NewObject()
		for _, name := range slices.Sorted(maps.Keys(members)) {
			out.Set(name, Canonical(members[name]))
		}
		return out.Raw()
	}
	if a, ok := ParseArray(v); ok {
		out := NewArray()
		for i := range a.Len() {
			out.Add(Canonical(a.At(i)))
		}
		return out.Raw()
	}
	return v
}
