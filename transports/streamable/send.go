package streamable

import (
	"context"
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// Send implements transports.Upstream.
func (c *conversation) Send(ctx context.Context, m *mcp.Message, o transports.Outgoing) error {
	s := c.snapshot(m.Header)
	if s.traits.DisconnectCancels && m.Method == mcp.Cancelled {
		return nil // closing the exchange says it
	}
	opening := m.Method == mcp.Initialize
	if opening { // a handshake belongs to no session and has no agreed version
		s.session, s.traits.VersionHeader = "", false
	}
	x := c.exchange(ctx, s, o)
	defer x.Close()
	h := x.header(m)
	h["Content-Type"] = []string{typeJSON}
	h["Accept"] = []string{typeJSON + ", " + typeEvents}
	if v := statedVersion(m); o.WithVersion && v != "" {
		h[mcp.HeaderVersion] = []string{v}
	}
	resp, err := x.do(http.MethodPost, m.Bytes(), h)
	if err != nil {
		return err
	}
	if id := resp.Header.Get(mcp.HeaderSession); opening && validSession(id) {
		c.learn(s, func(s *state) { s.session = id })
	}
	return x.outcome(m, resp)
}

// outcome says what the response means for the message.
func (x *exchange) outcome(m *mcp.Message, resp *http.Response) error {
	switch {
	case resp.StatusCode == http.StatusNotFound && x.s.session != "":
		x.Discard(resp)
		return transports.ErrSessionGone
	case m.Kind == mcp.Request:
		return x.receive(m, resp)
	case resp.StatusCode/100 == 2: // 202 by the specification, others in the field; none has a body that matters
		x.Discard(resp)
		return nil
	}
	return x.Refusal(resp)
}

// Listen implements transports.Upstream.
func (c *conversation) Listen(ctx context.Context, o transports.Outgoing) error {
	x := c.exchange(ctx, c.snapshot(nil), o)
	defer x.Close()
	h := x.header(nil)
	h["Accept"] = []string{typeEvents}
	resp, err := x.do(http.MethodGet, nil, h)
	if err != nil {
		return err
	}
	media, _ := web.MediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode/100 == 2 && media == typeEvents: // mcp-go sends 202
		return x.listen(resp)
	case noStream(resp.StatusCode):
		x.Discard(resp)
		return transports.ErrNoStream
	}
	return x.Refusal(resp)
}

// noStream reports a status that says the server has no standalone stream.
// 405 is the specified one; servers without a route for GET answer 404 or
// 400, and some answer 200 with a page or a status report. A 404 does not say
// that the session is gone: a POST would tell.
func noStream(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable,
		http.StatusInternalServerError, http.StatusNotImplemented:
		return true
	}
	return status/100 == 2
}
