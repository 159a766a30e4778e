package web

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// zstdWindow is the largest window that HTTP lets a sender use (RFC 9659).
const zstdWindow = 8 << 20

// Inflate replaces the body of a response that was compressed although nobody
// asked for it. Sizes are counted after it, so a small body cannot become a
// large one unseen.
func Inflate(resp *http.Response) error {
	switch e := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); e {
	case "", "identity":
		return nil
	case "gzip", "x-gzip":
		resp.Body = &inflated{compressed: resp.Body, open: openGzip}
	case "zstd":
		resp.Body = &inflated{compressed: resp.Body, open: openZstd}
	default:
		return &Encoded{e}
	}
	resp.ContentLength = -1
	return nil
}

// Encoded says that an answer is in a content encoding that nobody asked for
// and that cannot be read.
type Encoded struct{ encoding string }

func (e *Encoded) Error() string {
	return fmt.Sprintf("web: reading the answer: it has the content encoding %q, which was not asked for", e.encoding)
}

// Words implements transports.Worded.
func (e *Encoded) Words() string {
	return "the upstream server compressed its answer in a way that was not asked for; turn compression off there, or in the proxy before it"
}

func openGzip(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }

// openZstd reads in the caller's goroutine and with little memory, whatever
// window a frame announces.
func openZstd(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// inflated opens the compressed stream at the first read, since its header
// comes no sooner than its first event.
type inflated struct {
	compressed io.ReadCloser
	open       func(io.Reader) (io.ReadCloser, error)
	plain      io.ReadCloser
}

func (i *inflated) Read(b []byte) (int, error) {
	if i.plain == nil {
		plain, err := i.open(i.compressed)
		if err != nil {
			return 0, err
		}
		i.plain = plain
	}
	return i.plain.Read(b)
}

func (i *inflated) Close() error {
	if i.plain == nil {
		return i.compressed.Close()
	}
	return errors.Join(i.compressed.Close(), i.plain.Close())
}
