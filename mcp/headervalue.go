package mcp

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Headers by which a stateless revision repeats parts of a request's body
// (basic/transports/streamable-http "Standard Headers", "Custom Headers").
const (
	HeaderMethod = "Mcp-Method"
	HeaderName   = "Mcp-Name"
	HeaderParam  = "Mcp-Param-" // and the name that a tool's schema gives
)

const (
	sentinelStart = "=?base64?"
	sentinelEnd   = "?="
)

// EncodeHeader writes a text as a header value. It is written as it is where
// that is safe, since some servers compare without decoding, and in base64
// otherwise. The empty text is encoded too: HTTP stacks drop empty headers.
func EncodeHeader(text string) string {
	if plainHeader(text) {
		return text
	}
	return sentinelStart + base64.StdEncoding.EncodeToString([]byte(text)) + sentinelEnd
}

func plainHeader(text string) bool {
	if text == "" || strings.HasPrefix(text, sentinelStart) && strings.HasSuffix(text, sentinelEnd) {
		return false
	}
	for i := range len(text) {
		if text[i] < 0x20 || text[i] > 0x7e {
			return false
		}
	}
	return text[0] != ' ' && text[len(text)-1] != ' '
}

// DecodeHeader reads what EncodeHeader wrote; ok is false for an encoding that
// cannot be read. A value that merely begins like an encoded one is itself.
func DecodeHeader(value string) (text string, ok bool) {
	inner, started := strings.CutPrefix(value, sentinelStart)
	inner, ended := strings.CutSuffix(inner, sentinelEnd)
	if !started || !ended {
		return value, true
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(inner)
	return string(raw), err == nil && utf8.Valid(raw)
}

// RoutingName returns what a request is about, as routing headers name it:
// a tool, a prompt, a resource. ok is false for a method that is about none.
func (m *Message) RoutingName() (name string, ok bool) {
	member := ""
	switch m.Method {
	case ToolsCall, PromptsGet:
		member = "name"
	case ResourcesRead:
		member = "uri"
	default:
		return "", false
	}
	v, has := m.Body.Get(member)
	name, isText := v.Text()
	return name, has && isText
}

// HeaderNumber writes a number as a header value: integers that every peer
// can hold as plain decimals, fractions as they are. ok is false for integers
// beyond 2^53, which peers disagree about.
func HeaderNumber(v Raw) (text string, ok bool) {
	if digits, isInteger := integer(v); isInteger {
		n, err := strconv.ParseInt(digits, 10, 64)
		const safe = 1<<53 - 1
		return digits, err == nil && n >= -safe && n <= safe
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return "", false
	}
	return strconv.FormatFloat(f, 'f', -1, 64), true
}
