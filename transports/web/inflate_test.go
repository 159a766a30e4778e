package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/mcpbridge/mcpbridge/transports"
)

// compressor is a writer whose Flush lets the reader have all so far.
type compressor interface {
	io.WriteCloser
	Flush() error
}

func compressors(t *testing.T) map[string]func(io.Writer) compressor {
	return map[string]func(io.Writer) compressor{
		"gzip":   func(w io.Writer) compressor { return gzip.NewWriter(w) },
		"x-gzip": func(w io.Writer) compressor { return gzip.NewWriter(w) },
		" ZSTD ": func(w io.Writer) compressor {
			z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
			if err != nil {
				t.Fatal(err)
			}
			return z
		},
	}
}

func compressed(encoding string, body io.Reader) *http.Response {
	return &http.Response{Header: http.Header{"Content-Encoding": {encoding}}, Body: io.NopCloser(body), ContentLength: 9}
}

// TestInflateAsItComes reads each event as soon as the server flushed it.
func TestInflateAsItComes(t *testing.T) {
	for encoding, compress := range compressors(t) {
		r, w := io.Pipe()
		resp := compressed(encoding, r)
		if err := Inflate(resp); err != nil || resp.ContentLength != -1 {
			t.Fatal(err, resp.ContentLength)
		}
		z := compress(w)
		texts, next := []string{"first", "again"}, make(chan string)
		var writing sync.WaitGroup
		writing.Go(func() {
			for text := range next {
				_, _ = io.WriteString(z, text)
				_ = z.Flush()
			}
		})
		got := make([]byte, 5)
		for _, text := range texts {
			next <- text
			if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != text {
				t.Errorf("%s: %q %v", encoding, got, err)
			}
		}
		close(next)
		_ = r.Close()
		writing.Wait()
		_ = resp.Body.Close()
	}
}

// TestInflateBomb counts what comes out, not what came in.
func TestInflateBomb(t *testing.T) {
	for encoding, compress := range compressors(t) {
		var small bytes.Buffer
		z := compress(&small)
		if _, err := io.Copy(z, io.LimitReader(zeros{}, 8<<20)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil || small.Len() > 1<<20 {
			t.Fatalf("%s: %d bytes, %v", encoding, small.Len(), err)
		}
		resp := compressed(encoding, &small)
		if err := Inflate(resp); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadAll(resp.Body, resp.ContentLength, 1<<20); err != ErrTooLarge || len(got) > 2<<20 {
			t.Errorf("%s: %d bytes, %v", encoding, len(got), err)
		}
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// TestInflateWindow has a frame that asks for more memory than HTTP allows.
func TestInflateWindow(t *testing.T) {
	var wide bytes.Buffer
	z, err := zstd.NewWriter(&wide, zstd.WithWindowSize(16<<20))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(z, io.LimitReader(zeros{}, 17<<20))
	_ = z.Close()
	resp := compressed("zstd", &wide)
	if err := Inflate(resp); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("%d bytes were read with a window of 16 MiB", n)
	}
}

func TestInflateRefuses(t *testing.T) {
	for _, encoding := range []string{"br", "deflate", "gzip, gzip"} {
		err := Inflate(compressed(encoding, strings.NewReader("")))
		if worded, ok := err.(transports.Worded); !ok || worded.Words() == "" {
			t.Errorf("%s: %v", encoding, err)
		}
	}
	for _, encoding := range []string{"gzip", "zstd"} {
		resp := compressed(encoding, strings.NewReader("no such thing"))
		if err := Inflate(resp); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(resp.Body); err == nil {
			t.Errorf("%s: garbage was read", encoding)
		}
		_ = resp.Body.Close()
	}
}
