package web

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Inflate replaces the body of a response that was compressed although nobody
// asked for it. Sizes are counted after it, so a small body cannot become a
// large one unseen.
func Inflate(resp *http.Response) error {
	switch e := strings.ToLower(resp.Header.Get("Content-Encoding")); e {
	case "", "identity":
		return nil
	case "gzip", "x-gzip":
		resp.Body, resp.ContentLength = &inflated{compressed: resp.Body}, -1
		return nil
	default:
		return fmt.Errorf("web: reading the answer: it has the content encoding %q, which was not asked for", e)
	}
}

// inflated opens the compressed stream at the first read, since its header
// comes no sooner than its first event.
type inflated struct {
	compressed io.ReadCloser
	plain      *gzip.Reader
}

func (i *inflated) Read(b []byte) (int, error) {
	if i.plain == nil {
		plain, err := gzip.NewReader(i.compressed)
		if err != nil {
			return 0, err
		}
		i.plain = plain
	}
	return i.plain.Read(b)
}

func (i *inflated) Close() error { return i.compressed.Close() }
