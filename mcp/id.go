package mcp

import (
	"bytes"
	"math/big"
	"strconv"
)

// ID is a JSON-RPC request id in the token its sender wrote, so that it can be
// echoed digit for digit: 1, "1" and 1.0 are three spellings, of two ids.
// The zero ID is absent. Only strings and integers are ids (JSON-RPC 2.0 as
// narrowed by MCP basic "Requests": never null, never fractional).
type ID struct{ raw string }

// maxID bounds an id in bytes. Ids are kept for as long as a call lives.
const maxID = 1024

// IntID returns the id that is written as the decimal n.
func IntID(n int64) ID { return ID{raw: strconv.FormatInt(n, 10)} }

// TextID returns the id that is the string s.
func TextID(s string) ID { return ID{raw: string(Quote(s))} }

// ParseID reads an id token; ok is false for anything but a string or an
// integer of a reasonable length.
func ParseID(r Raw) (id ID, ok bool) {
	if len(r) == 0 || len(r) > maxID {
		return ID{}, false
	}
	id = ID{raw: string(r)}
	if r.IsString() {
		return id, true
	}
	if _, ok = integer(r); !ok {
		return ID{}, false
	}
	return id, true
}

// IsZero reports whether the id is absent.
func (i ID) IsZero() bool { return i.raw == "" }

// Raw returns the token as its sender wrote it.
func (i ID) Raw() Raw { return Raw(i.raw) }

// String returns the token, for logs.
func (i ID) String() string { return i.raw }

// Equal compares type and value: 5 equals 5.0 and differs from "5".
func (i ID) Equal(other ID) bool { return i.raw == other.raw || i.Key() == other.Key() }

// Answers reports whether an answer with this id is meant for a request: the
// ids are equal, or the one is the number of the other as a text, which is how
// some servers write it.
func (i ID) Answers(request ID) bool {
	return i.Equal(request) || i.Unquoted().Equal(request)
}

// Unquoted returns the small integer that a text id writes, as "7" writes 7.
// Any other id is returned as it is.
func (i ID) Unquoted() ID {
	text, isText := i.Raw().Text()
	n, err := strconv.ParseInt(text, 10, 64)
	if !isText || err != nil || strconv.FormatInt(n, 10) != text {
		return i
	}
	return IntID(n)
}

// Key returns a string that is equal for equal ids, for use in maps.
func (i ID) Key() string {
	if i.raw == "" {
		return ""
	}
	if text, ok := i.Raw().Text(); ok {
		return "s" + text
	}
	n, _ := integer(i.Raw())
	return "n" + n
}

// Int returns the value of an id that is a small integer.
func (i ID) Int() (n int64, ok bool) {
	n, err := strconv.ParseInt(i.raw, 10, 64)
	return n, err == nil
}

// integer returns the canonical decimal of a number token whose value is an
// integer. Exponents are bounded, so a short token cannot become a long one.
func integer(r Raw) (string, bool) {
	if len(r) == 0 || !isDigit(r[len(r)-1]) || r[0] != '-' && !isDigit(r[0]) {
		return "", false
	}
	if !bytes.ContainsAny(r, ".eE") {
		if string(r) == "-0" {
			return "0", true
		}
		return string(r), true
	}
	if e := bytes.IndexAny(r, "eE"); e >= 0 {
		if exp, err := strconv.Atoi(string(r[e+1:])); err != nil || exp > maxID || exp < -maxID {
			return "", false
		}
	}
	value, ok := new(big.Rat).SetString(string(r))
	if !ok || !value.IsInt() {
		return "", false
	}
	return value.Num().String(), true
}
