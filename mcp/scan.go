package mcp

import (
	"bytes"
	"fmt"
)

// A SyntaxError says where and why bytes are not one JSON value.
type SyntaxError struct {
	Offset int // bytes from the start of the scanned text
	Reason string
	deep   bool // it may well be JSON, but is nested too deep
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not JSON at byte %d: %s", e.Offset, e.Reason)
}

func syntax(at int, reason string) error { return &SyntaxError{Offset: at, Reason: reason} }

// space returns the index of the first byte at or after i that is no JSON
// whitespace.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// nest remembers for every open container whether it is an object.
type nest struct {
	bits  [MaxDepth / 64]uint64
	depth int
	limit int // at most MaxDepth
}

func (n *nest) push(object bool) bool {
	if n.depth >= n.limit {
		return false
	}
	word, bit := n.depth/64, uint(n.depth%64)
	n.bits[word] &^= 1 << bit
	if object {
		n.bits[word] |= 1 << bit
	}
	n.depth++
	return true
}

func (n *nest) object() bool {
	top := n.depth - 1
	return n.bits[top/64]>>(uint(top%64))&1 == 1
}

// validate returns the index after the JSON value that starts at b[i],
// checking it against RFC 8259. Strings may hold lone surrogate escapes: they
// are legal JSON text and travel on unchanged.
func validate(b []byte, i int) (int, error) { return validateWithin(b, i, MaxDepth) }

// validateWithin is validate for a value with that many levels at most.
func validateWithin(b []byte, i, depth int) (int, error) {
	n := nest{limit: depth}
	for {
		var err error
		var opened bool
		if i, opened, err = validateStart(b, space(b, i), &n); err != nil {
			return i, err
		}
		if opened {
			continue
		}
		var more bool
		if i, more, err = validateEnd(b, i, &n); err != nil || !more {
			return i, err
		}
	}
}

// validateStart consumes a scalar or opens a container; opened means the next
// thing to read is another value.
func validateStart(b []byte, i int, n *nest) (next int, opened bool, err error) {
	if i >= len(b) {
		return i, false, syntax(i, "the text ends inside a value")
	}
	switch c := b[i]; c {
	case '{', '[':
		if !n.push(c == '{') {
			return i, false, &SyntaxError{Offset: i, Reason: fmt.Sprintf("nested deeper than %d levels", n.limit), deep: true}
		}
		i = space(b, i+1)
		if i < len(b) && b[i] == c+2 { // '{'+2 is '}', '['+2 is ']'
			n.depth--
			return i + 1, false, nil
		}
		if c == '{' {
			i, err = validateKey(b, i)
		}
		return i, true, err
	case '"':
		i, err = validateString(b, i)
	default:
		i, err = validateLiteral(b, i)
	}
	return i, false, err
}

// validateEnd closes what the value just read completes; more means a sibling
// value follows.
func validateEnd(b []byte, i int, n *nest) (next int, more bool, err error) {
	for n.depth > 0 {
		i = space(b, i)
		if i >= len(b) {
			return i, false, syntax(i, "the text ends inside a container")
		}
		object := n.object()
		switch {
		case b[i] == ',' && object:
			i, err = validateKey(b, space(b, i+1))
			return i, true, err
		case b[i] == ',':
			return i + 1, true, nil
		case b[i] == '}' && object, b[i] == ']' && !object:
			n.depth--
			i++
		default:
			return i, false, syntax(i, fmt.Sprintf("unexpected %q after a value", b[i]))
		}
	}
	return i, false, nil
}

func validateKey(b []byte, i int) (int, error) {
	if i >= len(b) || b[i] != '"' {
		return i, syntax(i, "a member name is missing")
	}
	i, err := validateString(b, i)
	if err != nil {
		return i, err
	}
	i = space(b, i)
	if i >= len(b) || b[i] != ':' {
		return i, syntax(i, "a colon is missing")
	}
	return i + 1, nil
}

func validateString(b []byte, i int) (int, error) {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1, nil
		case c < 0x20:
			return i, syntax(i, "a control character inside a string")
		case c == '\\':
			n := escape(b[i:])
			if n == 0 {
				return i, syntax(i, "a bad escape inside a string")
			}
			i += n - 1
		}
	}
	return i, syntax(i, "the text ends inside a string")
}

// escape returns the length of the escape that starts b, 0 when it is none.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] != 'u' {
		if bytes.IndexByte([]byte(`"\/bfnrt`), b[1]) < 0 {
			return 0
		}
		return 2
	}
	if len(b) < 6 {
		return 0
	}
	for _, c := range b[2:6] {
		if !isHex(c) {
			return 0
		}
	}
	return 6
}

func isHex(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func validateLiteral(b []byte, i int) (int, error) {
	for _, word := range []string{"true", "false", "null"} {
		if b[i] == word[0] {
			if len(b)-i >= len(word) && string(b[i:i+len(word)]) == word {
				return i + len(word), nil
			}
			return i, syntax(i, "an unknown word")
		}
	}
	return validateNumber(b, i)
}

func validateNumber(b []byte, i int) (int, error) {
	start := i
	if i < len(b) && b[i] == '-' {
		i++
	}
	first := i
	i = digits(b, i)
	if i == first || (b[first] == '0' && i > first+1) {
		return start, syntax(start, "not a JSON value")
	}
	if i < len(b) && b[i] == '.' {
		frac := i + 1
		if i = digits(b, frac); i == frac {
			return i, syntax(i, "a number ends after its point")
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		exp := i
		if i = digits(b, exp); i == exp {
			return i, syntax(i, "a number ends after its exponent mark")
		}
	}
	return i, nil
}

func digits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

// skip returns the index after the value that starts at b[i], in text that
// validate has already accepted. It looks only at quotes and brackets.
func skip(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ' ', '\n', '\t', '\r', ',', ':':
			i++
			continue
		default:
			i = skipScalar(b, i)
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

func skipString(b []byte, i int) int {
	i++
	for {
		q := bytes.IndexByte(b[i:], '"')
		if q < 0 {
			return len(b)
		}
		i += q + 1
		back := i - 2
		for back >= 0 && b[back] == '\\' {
			back--
		}
		if (i-2-back)%2 == 0 {
			return i
		}
	}
}

func skipScalar(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\n', '\t', '\r', ':':
			return i
		}
		i++
	}
	return i
}
