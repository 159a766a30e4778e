package streamable

import (
	"errors"
	"io"
	"slices"
)

// bodyStep is how much of a body must arrive within the body timeout.
const bodyStep = 64 << 10

// errTooLarge says that the upstream's message exceeds the configured size.
var errTooLarge = errors.New("the message is larger than allowed")

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

// readAll reads a body of at most limit bytes into memory that grows with
// what arrives; length is what the headers announce, or -1.
func readAll(src io.Reader, length int64, limit int) ([]byte, error) {
	buf := make([]byte, 0, firstBuffer(length))
	for {
		var err error
		if buf, err = readStep(src, buf); len(buf) > limit {
			return buf, errTooLarge
		}
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}
