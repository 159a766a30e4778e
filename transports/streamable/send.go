package streamable

import (
	"context"
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
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
	if o.Status != nil {
		o.Status(resp.StatusCode)
	}
	if id := resp.Header.Get(mcp.HeaderSession); opening && validSession(id) {
		c.learn(s, func(s *state) { s.session = id })
		if resp.StatusCode/100 == 2 {
			x.s.session = id // its own stream may have to be taken up again
		}
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
	return x.Refused(resp)
}
