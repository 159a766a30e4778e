package web

import (
	"errors"
	"io"
	"slices"
)

// bodyStep is how much of a body must arrive within the body timeout.
const bodyStep = 64 << 10

// ErrTooLarge says that a message exceeds the configured size.
var ErrTooLarge = errors.New("the message is larger than allowed")

// firstBuffer returns the size to start with for a body of the announced
// length, or -1.
func firstBuffer(length int64) int64 {
	if length < 0 {
		return 4 << 10
	}
	return min(length, bodyStep) + 1 // one more, to see the end without growing
}

// readStep reads up to bodyStep bytes; it fails with io.EOF at the end.
func readStep(src io.Reader, buf []byte) ([]byte, error) {
	for end := len(buf) + bodyStep; len(buf) < end; {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, max(len(buf), 4<<10)) // double, and copy rarely
		}
		n, err := src.Read(buf[len(buf):min(cap(buf), end)])
		buf = buf[:len(buf)+n]
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// ReadAll reads a body of at most limit bytes into memory that grows with
// what arrives; length is what the headers announce, or -1.
func ReadAll(src io.Reader, length int64, limit int) ([]byte, error) {
	buf := make([]byte, 0, firstBuffer(length))
	for {
		var err error
		if buf, err = readStep(src, buf); len(buf) > limit {
			return buf, ErrTooLarge
		}
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}
