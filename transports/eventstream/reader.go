package eventstream

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strconv"
	"time"
)

const bufferSize = 16 << 10

// longestName is the room a line needs beside its value: "retry: ".
const longestName = 7

var byteOrderMark = []byte("\xef\xbb\xbf")

// Reader reads events. An event is returned as soon as its blank line is
// there, without waiting for what follows it.
type Reader struct {
	src    *bufio.Reader
	limit  int
	begun  bool // the first line, which may have a byte order mark, was read
	skipLF bool // the last line ended in CR: a LF that follows belongs to it
}

// NewReader returns a reader that refuses events whose values exceed limit
// bytes.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{src: bufio.NewReaderSize(r, bufferSize), limit: limit}
}

// Next returns the next event. At the end of the stream the error is io.EOF;
// a block that the end cut off is dropped, as the standard demands.
func (r *Reader) Next() (*Event, error) {
	b := block{limit: r.limit}
	for {
		line, owned, err := r.line()
		if err != nil {
			return nil, err
		}
		if len(line) > 0 {
			if err := b.add(line, owned); err != nil {
				return nil, err
			}
			continue
		}
		if e := b.event(); e != nil {
			return e, nil
		}
		b = block{limit: r.limit}
	}
}

// line returns the next line without its end. When owned is false the line is
// valid only until the next read.
func (r *Reader) line() (line []byte, owned bool, err error) {
	for {
		chunk, err := r.chunk()
		if err != nil {
			return nil, false, err
		}
		end := lineEnd(chunk)
		part := chunk
		if end >= 0 {
			part = chunk[:end]
		}
		if len(line)+len(part) > r.longestLine() {
			return nil, false, ErrTooLarge
		}
		if end < 0 {
			if cap(line)-len(line) < len(part) {
				line = slices.Grow(line, max(len(line), 4*bufferSize)) // double, and copy rarely
			}
			line = append(line, part...)
			_, _ = r.src.Discard(len(part))
			continue
		}
		r.skipLF = chunk[end] == '\r'
		if owned = len(line) > 0; owned {
			line = append(line, part...)
		} else {
			line = part
		}
		_, _ = r.src.Discard(end + 1)
		return r.trimStart(line), owned, nil
	}
}

func (r *Reader) longestLine() int { return r.limit + longestName + len(byteOrderMark) }

// lineEnd returns the index of the first CR or LF, -1 when there is none.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// chunk returns what is buffered, at least one byte.
func (r *Reader) chunk() ([]byte, error) {
	for {
		if _, err := r.src.Peek(1); err != nil {
			return nil, err
		}
		chunk, err := r.src.Peek(r.src.Buffered())
		if err != nil {
			return nil, err
		}
		if !r.skipLF || chunk[0] != '\n' {
			r.skipLF = false
			return chunk, nil
		}
		r.skipLF = false
		_, _ = r.src.Discard(1)
	}
}

func (r *Reader) trimStart(line []byte) []byte {
	if r.begun {
		return line
	}
	r.begun = true
	return bytes.TrimPrefix(line, byteOrderMark)
}

// block collects the lines of one event.
type block struct {
	limit   int
	size    int
	fields  bool
	hasData bool
	e       Event
}

func (b *block) add(line []byte, owned bool) error {
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(name) == 0 {
		return nil // a comment
	}
	value = bytes.TrimPrefix(value, []byte{' '})
	if b.size += len(value); b.size > b.limit {
		return ErrTooLarge
	}
	switch string(name) {
	case "data":
		b.addData(value, owned)
	case "event":
		b.e.Type = string(value)
	case "id":
		if bytes.IndexByte(value, 0) >= 0 {
			return nil
		}
		b.e.ID, b.e.HasID = string(value), true
	case "retry":
		b.e.Retry = retry(value)
	default:
		return nil
	}
	b.fields = true
	return nil
}

// addData takes over a line that nobody else refers to instead of copying it.
func (b *block) addData(value []byte, owned bool) {
	switch {
	case b.hasData:
		b.size++
		b.e.Data = append(append(b.e.Data, '\n'), value...)
	case owned:
		b.e.Data = value
	default:
		b.e.Data = bytes.Clone(value)
	}
	b.hasData = true
}

// event returns what was collected, nil when the block had no field.
func (b *block) event() *Event {
	if !b.fields {
		return nil
	}
	if b.e.Type == "" {
		b.e.Type = MessageType
	}
	return &b.e
}

// retry reads a reconnection time: ASCII digits only.
func retry(value []byte) time.Duration {
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0
		}
	}
	ms, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || ms > int64(24*time.Hour/time.Millisecond) {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}
