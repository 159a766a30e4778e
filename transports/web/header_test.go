package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func TestBoundHeader(t *testing.T) {
	const limit = 1000
	var hits, statuses []string
	served := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "served") })
	h := BoundHeader(limit, served, Limits{
		Limited: func(key string) { hits = append(hits, key) },
		Refused: func(status int) { statuses = append(statuses, http.StatusText(status)) },
	})
	get := func(size int) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/mcp", nil)
		r.Header.Set("Authorization", "")
		r.Header.Set("Authorization", strings.Repeat("x", size-headerSize(r)))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := get(limit); w.Code != http.StatusOK || w.Body.String() != "served" || len(hits) > 0 {
		t.Errorf("at the limit: %d %s, %v", w.Code, w.Body, hits)
	}
	w := get(limit + 1)
	want := `{"jsonrpc":"2.0","error":{"code":-32600,"message":"the header of the request has 1001 bytes, more than 1000, the limit max_header; send fewer or shorter fields"}}`
	if w.Code != http.StatusRequestHeaderFieldsTooLarge || w.Body.String() != want || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("above the limit: %d %v %s", w.Code, w.Header(), w.Body)
	}
	if len(hits) != 1 || hits[0] != mcp.LimitHeader || len(statuses) != 1 {
		t.Errorf("told of %v and %v", hits, statuses)
	}
	if w := get(limit); w.Body.String() != "served" {
		t.Errorf("afterwards: %d %s", w.Code, w.Body)
	}
}

// What is counted is what goes over the wire.
func TestHeaderSize(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/mcp?x=1", nil)
	r.Header.Set("Accept", "a/b")
	r.Header.Add("X-Two", "1")
	r.Header.Add("X-Two", "2")
	var text strings.Builder
	text.WriteString("POST /mcp?x=1 HTTP/1.1\r\nHost: example.com\r\n")
	if err := r.Header.Write(&text); err != nil {
		t.Fatal(err)
	}
	if got := headerSize(r); got != text.Len() {
		t.Errorf("%d bytes, not %d", got, text.Len())
	}
}
