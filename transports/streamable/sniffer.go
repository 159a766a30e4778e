package streamable

import (
	"bufio"
	"bytes"
	"io"
)

// maxBlank bounds what may stand before the first telling byte.
const maxBlank = 4 << 10

// sniffer is a response body that tells its type from its first bytes.
type sniffer struct {
	io.Reader
	io.Closer
	head *bufio.Reader
}

func newSniffer(body io.ReadCloser) *sniffer {
	head := bufio.NewReaderSize(body, 16<<10)
	return &sniffer{Reader: head, Closer: body, head: head}
}

// media returns the type of a body that starts as JSON or as an event stream,
// else "". It skips blanks, which mean nothing in either, and waits for no
// more than it needs.
func (s *sniffer) media() string {
	for range maxBlank {
		c, err := s.head.ReadByte()
		if err != nil {
			return ""
		}
		if isSpace(c) {
			continue
		}
		_ = s.head.UnreadByte() // cannot fail after ReadByte
		return s.guess(c)
	}
	return ""
}

func (s *sniffer) guess(first byte) string {
	switch first {
	case '{', '[':
		return typeJSON
	case ':':
		return typeEvents
	}
	start, _ := s.head.Peek(3)
	switch string(start) {
	case "dat", "eve", "id:", "ret":
		return typeEvents
	}
	return ""
}

// isSpace reports what may stand before a JSON text or a first event.
func isSpace(c byte) bool { return bytes.IndexByte([]byte(" \t\r\n\xef\xbb\xbf"), c) >= 0 }
