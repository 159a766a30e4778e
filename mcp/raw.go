package mcp

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Raw is one valid JSON value in the bytes its sender wrote. It must not be
// modified: it may share memory with the message it came from.
type Raw []byte

// ParseRaw checks that b is exactly one JSON value in UTF-8.
func ParseRaw(b []byte) (Raw, error) { return parseWithin(b, MaxDepth) }

// parseWithin is ParseRaw for a value with that many levels at most.
func parseWithin(b []byte, depth int) (Raw, error) {
	if !utf8.Valid(b) {
		return nil, syntax(0, "the text is not UTF-8")
	}
	start := space(b, 0)
	end, err := validateWithin(b, start, depth)
	if err != nil {
		return nil, err
	}
	if rest := space(b, end); rest != len(b) {
		return nil, syntax(rest, "more text after the value")
	}
	return Raw(b[start:end]), nil
}

// IsNull reports whether r is the JSON null.
func (r Raw) IsNull() bool { return string(r) == "null" }

// IsObject, IsArray and IsString report the type of r by its first byte.
func (r Raw) IsObject() bool { return r.first() == '{' }

// IsArray reports whether r is a JSON array.
func (r Raw) IsArray() bool { return r.first() == '[' }

// IsString reports whether r is a JSON string.
func (r Raw) IsString() bool { return r.first() == '"' }

func (r Raw) first() byte {
	if len(r) == 0 {
		return 0
	}
	return r[0]
}

// Text returns the decoded string; ok is false when r is no string. A lone
// surrogate escape decodes to U+FFFD, so Text is for comparing and composing,
// never for sending the same string on.
func (r Raw) Text() (s string, ok bool) {
	if !r.IsString() {
		return "", false
	}
	if inner := r[1 : len(r)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	if json.Unmarshal(r, &s) != nil {
		return "", false
	}
	return s, true
}

// Is reports whether r is a JSON string equal to s, without allocating in the
// common case.
func (r Raw) Is(s string) bool {
	if !r.IsString() {
		return false
	}
	if inner := r[1 : len(r)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner) == s
	}
	got, _ := r.Text()
	return got == s
}

// Compact returns r without the whitespace between its tokens. It returns r
// itself when there is none.
func (r Raw) Compact() Raw {
	if !bytes.ContainsAny(r, " \n\t\r") {
		return r
	}
	out := make([]byte, 0, len(r))
	for i := 0; i < len(r); {
		switch r[i] {
		case ' ', '\n', '\t', '\r':
			i++
		case '"':
			end := skipString(r, i)
			out = append(out, r[i:end]...)
			i = end
		default:
			out = append(out, r[i])
			i++
		}
	}
	return out
}

const hexDigits = "0123456789abcdef"

// Quote returns s as a JSON string. Unlike encoding/json it leaves <, > and &
// as they are; it escapes U+2028 and U+2029, which some SSE readers take for
// line ends.
func Quote(s string) Raw {
	out := make([]byte, 0, len(s)+2)
	out = append(out, '"')
	for _, c := range s {
		out = appendRune(out, c)
	}
	return append(out, '"')
}

// QuoteRaw returns a JSON string whose value is the bytes of r exactly.
func QuoteRaw(r Raw) Raw {
	out := make([]byte, 0, len(r)+len(r)/8+2)
	out = append(out, '"')
	for i := 0; i < len(r); i++ {
		if c := r[i]; c >= 0x20 && c != '"' && c != '\\' {
			out = append(out, c)
		} else {
			out = appendRune(out, rune(c))
		}
	}
	return append(out, '"')
}

func appendRune(out []byte, c rune) []byte {
	switch c {
	case '"', '\\':
		return append(out, '\\', byte(c))
	case '\n':
		return append(out, '\\', 'n')
	case '\r':
		return append(out, '\\', 'r')
	case '\t':
		return append(out, '\\', 't')
	case '\u2028', '\u2029':
		return append(out, '\\', 'u', '2', '0', '2', hexDigits[c&15])
	}
	if c < 0x20 {
		return append(out, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
	return utf8.AppendRune(out, c)
}

// Strings returns a JSON array of the given strings.
func Strings(ss []string) Raw {
	parts := make([]string, len(ss))
	for i, s := range ss {
		parts[i] = string(Quote(s))
	}
	return Raw("[" + strings.Join(parts, ",") + "]")
}
