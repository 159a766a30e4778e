package lines

import "unicode/utf8"

// Body is what a line carries: JSON text, appended to a buffer.
type Body interface{ Append(dst []byte) []byte }

// Append writes one line to the end of dst. It ends in a bare LF on every
// system (field report 88).
func Append(dst []byte, body Body) []byte {
	start := len(dst)
	return append(Flatten(body.Append(dst), start), '\n')
}

// Flatten makes the JSON text in b[start:] free of everything that a reader
// may take for the end of a line. A raw CR or LF stands between tokens there,
// so a space does as well. U+0085, U+2028 and U+2029 stand inside strings,
// and readers that split text by Unicode rules break there.
func Flatten(b []byte, start int) []byte {
	for i := start; i < len(b); i++ {
		switch c := b[i]; {
		case c-' ' < utf8.RuneSelf-' ': // most bytes
		case c == '\n', c == '\r':
			b[i] = ' '
		case c == 0xC2 || c == 0xE2:
			if separator(b[i:]) > 0 {
				return append(b[:i], escapeSeparators(b[i:])...)
			}
		}
	}
	return b
}

// separator returns the length of the Unicode line end that starts b, or 0.
func separator(b []byte) int {
	switch {
	case len(b) >= 2 && b[0] == 0xC2 && b[1] == 0x85:
		return 2
	case len(b) >= 3 && b[0] == 0xE2 && b[1] == 0x80 && (b[2] == 0xA8 || b[2] == 0xA9):
		return 3
	}
	return 0
}

func escapeSeparators(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/8+16)
	for i := 0; i < len(b); {
		n := separator(b[i:])
		switch {
		case n == 2:
			out = append(out, `\u0085`...)
		case n == 3:
			out = append(append(out, `\u202`...), '8'+(b[i+2]-0xA8))
		case b[i] == '\n', b[i] == '\r':
			out, n = append(out, ' '), 1
		default:
			out, n = append(out, b[i]), 1
		}
		i += n
	}
	return out
}
