package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

const bufferSize = 32 << 10

var byteOrderMark = []byte("\xef\xbb\xbf")

// Reader reads lines. A line ends in LF or CRLF; the last one may lack its
// end. Blank lines are skipped, and a byte order mark before the first.
type Reader struct {
	src   *bufio.Reader
	limit int
	begun bool
}

// NewReader returns a reader of lines of at most limit bytes.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{src: bufio.NewReaderSize(r, bufferSize), limit: limit}
}

// Next returns the next line without its end; it belongs to the caller. The
// error for a line above the limit is a *TooLong, after which Next goes on
// with the line that follows. Any other error is final.
func (r *Reader) Next() ([]byte, error) {
	for {
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		if !r.begun {
			line, r.begun = bytes.TrimPrefix(line, byteOrderMark), true
		}
		if line = bytes.TrimSuffix(line, []byte{'\r'}); len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
	}
}

// line returns the next line without its LF.
func (r *Reader) line() ([]byte, error) {
	var line []byte
	for {
		chunk, err := r.src.ReadSlice('\n')
		part := bytes.TrimSuffix(chunk, []byte{'\n'})
		if len(line)+len(part) > r.longest() {
			return nil, r.skip(line, chunk, err)
		}
		line = join(line, part)
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, nil
		default:
			return nil, err // what was read of a line is no line
		}
	}
}

// longest leaves room for what does not count: CR and the mark.
func (r *Reader) longest() int { return r.limit + 1 + len(byteOrderMark) }

// join appends a part that is only valid now. A long line doubles, so that it
// is copied rarely.
func join(line, part []byte) []byte {
	if line != nil && cap(line)-len(line) < len(part) {
		line = slices.Grow(line, max(len(line), 4*bufferSize))
	}
	return append(line, part...)
}

// skip reads a line that is too long to its end without keeping it. Err came
// with chunk.
func (r *Reader) skip(line, chunk []byte, err error) error {
	t := &TooLong{Limit: r.limit}
	t.note(line)
	t.note(bytes.TrimSuffix(chunk, []byte{'\n'}))
	for errors.Is(err, bufio.ErrBufferFull) {
		chunk, err = r.src.ReadSlice('\n')
		t.note(bytes.TrimSuffix(chunk, []byte{'\n'}))
	}
	r.begun = true
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return t // at the end of the text, the next read says so
}
