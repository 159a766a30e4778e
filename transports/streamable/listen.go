package streamable

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/eventstream"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// Listen implements transports.Upstream. It goes on where the stream before
// ended, and not sooner than the server wants.
func (c *conversation) Listen(ctx context.Context, o transports.Outgoing) error {
	s := c.snapshot(nil)
	x := c.exchange(ctx, s, o)
	defer x.Close()
	if err := x.Pause(time.Until(s.again)); err != nil {
		return err
	}
	h := x.header(nil)
	h["Accept"] = []string{typeEvents}
	if s.spot.usable() {
		h[mcp.HeaderLastID] = []string{s.spot.id}
	}
	resp, err := x.do(http.MethodGet, nil, h)
	if err != nil {
		return err
	}
	media, _ := web.MediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode/100 == 2 && media == typeEvents: // mcp-go sends 202
		return x.listen(resp)
	case resp.StatusCode/100 == 4 && s.spot.usable() && noStream(resp.StatusCode):
		// It may be the position that the server does not know any more.
		c.learn(s, func(s *state) { s.spot = spot{} })
		x.Discard(resp)
		return errNotTakenUp
	case noStream(resp.StatusCode):
		x.Discard(resp)
		return transports.ErrNoStream
	}
	return x.Refused(resp)
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

// listen reads the standalone stream.
func (x *exchange) listen(resp *http.Response) error {
	if x.o.Open != nil {
		x.o.Open()
	}
	r := &receiver{exchange: x, spot: spot{retry: x.s.spot.retry}}
	defer func() {
		if r.spot.retry > 0 {
			again := time.Now().Add(r.spot.retry)
			x.c.learn(x.s, func(s *state) { s.again = again })
		}
	}()
	reader := eventstream.NewReader(resp.Body, x.c.client.site.MaxMessage)
	for {
		e, err := reader.Next()
		if err != nil {
			if err = r.ended(err); errors.Is(err, transports.ErrNoAnswer) {
				return nil
			}
			return err
		}
		if e.HasID || e.Retry > 0 {
			r.spot.note(e)
			x.c.learn(x.s, func(s *state) { s.spot = r.spot })
		}
		if e.IsMessage() {
			r.frame(e.Data)
		}
	}
}
