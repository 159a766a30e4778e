package streamable

import (
	"io"
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// refusal reads a response that is no answer, up to a small cap. A server
// that does not finish it is not waited for.
func (x *exchange) refusal(resp *http.Response) *mcp.Refusal {
	defer x.afterGrace().Stop()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, int64(x.c.client.config.MaxRefusal))) // a part will do
	return x.refuse(resp, body)
}

func (x *exchange) refuse(resp *http.Response, body []byte) *mcp.Refusal {
	return &mcp.Refusal{
		Status: resp.StatusCode,
		Header: resp.Header,
		Body:   body[:min(len(body), x.c.client.config.MaxRefusal)],
	}
}

// discard finishes a response whose body does not matter, so that its
// connection can be used again where that costs little.
func (x *exchange) discard(resp *http.Response) {
	defer func() { _ = resp.Body.Close() }() // what was not read does not matter
	if media, _ := mediaType(resp.Header.Get("Content-Type")); media == typeEvents {
		return
	}
	timer := x.afterGrace()
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, resp.Body, int64(x.c.client.config.MaxRefusal)) // the connection is closed otherwise
}
