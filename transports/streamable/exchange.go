package streamable

import (
	"context"
	"net/http"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// exchange is one HTTP request to the upstream with its answer.
type exchange struct {
	*web.Trip
	c *conversation
	s state
	o transports.Outgoing
}

func (c *conversation) exchange(ctx context.Context, s state, o transports.Outgoing) *exchange {
	return &exchange{Trip: c.client.site.Trip(ctx, c.closed, o.Sent), c: c, s: s, o: o}
}

// do sends the request and remembers where redirects lead. The body of the
// response is as it was before somebody compressed it.
func (x *exchange) do(method string, body []byte, header http.Header) (*http.Response, error) {
	resp, at, err := x.Do(method, x.s.endpoint, body, header)
	if err == nil && at != x.s.endpoint {
		x.c.learn(x.s, func(s *state) { s.endpoint = at })
	}
	if err != nil {
		return nil, err
	}
	return resp, web.Inflate(resp)
}
