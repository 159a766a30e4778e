package web

import (
	"io"
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Refusal reads a response that is no answer, up to a small cap. A server
// that does not finish it is not waited for.
func (t *Trip) Refusal(resp *http.Response) *mcp.Refusal {
	defer t.AfterGrace().Stop()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, int64(t.site.MaxRefusal))) // a part will do
	return t.Refuse(resp, body)
}

// Refuse returns the refusal that a response with this body is.
func (t *Trip) Refuse(resp *http.Response, body []byte) *mcp.Refusal {
	return &mcp.Refusal{
		Status: resp.StatusCode,
		Header: resp.Header,
		Body:   body[:min(len(body), t.site.MaxRefusal)],
	}
}

// Discard finishes a response whose body does not matter, so that its
// connection can be used again where that costs little.
func (t *Trip) Discard(resp *http.Response) {
	defer func() { _ = resp.Body.Close() }() // what was not read does not matter
	if media, _ := MediaType(resp.Header.Get("Content-Type")); media == TypeEvents {
		return
	}
	timer := t.AfterGrace()
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, resp.Body, int64(t.site.MaxRefusal)) // the connection is closed otherwise
}
