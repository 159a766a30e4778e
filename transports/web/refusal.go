package web

import (
	"fmt"
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

// Refused returns the error that a response which is no answer stands for.
func (t *Trip) Refused(resp *http.Response) error {
	refusal := t.Refusal(resp)
	if resp.StatusCode/100 == 3 && resp.Header.Get("Location") != "" {
		return &Elsewhere{refusal}
	}
	return refusal
}

// Refuse returns the refusal that a response with this body is.
func (t *Trip) Refuse(resp *http.Response, body []byte) *mcp.Refusal {
	return &mcp.Refusal{
		Status: resp.StatusCode,
		Header: resp.Header,
		Body:   body[:min(len(body), t.site.MaxRefusal)],
	}
}

// Elsewhere is the refusal of a server that redirects to where its requests
// are not sent after it, since they bear credentials.
type Elsewhere struct{ *mcp.Refusal }

// Unwrap returns the refusal.
func (e *Elsewhere) Unwrap() error { return e.Refusal }

// Words implements transports.Worded.
func (e *Elsewhere) Words() string {
	return fmt.Sprintf("the upstream server redirects (HTTP status %d) to an address that is not followed: "+
		"only 307 and 308 within the same origin are; give the bridge the final address of the server", e.Status)
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
