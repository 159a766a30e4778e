package sse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/eventstream"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// endpointEvent is the type of the event that names the message endpoint.
const endpointEvent = "endpoint"

var (
	errNoEndpoint = errors.New("sse: opening the event stream: it named no message endpoint")
	errLate       = errors.New("sse: opening the event stream: it named no message endpoint in time")
	errForeign    = errors.New("sse: opening the event stream: its message endpoint is of another origin")
)

// dial opens a stream and waits until it names its message endpoint. Ctx
// bounds the opening and not the stream.
func (c *Client) dial(ctx context.Context, h http.Header) (*conn, error) {
	alive, end := context.WithCancelCause(context.Background())
	timer := time.AfterFunc(c.timeout, func() { end(errLate) })
	defer timer.Stop()
	detach := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	n, err := c.open(alive, end, h)
	if detach() && timer.Stop() && err == nil {
		go n.pump()
		return n, nil
	}
	if n != nil {
		n.trip.Close() // it came too late
	}
	if cause := context.Cause(alive); cause != nil {
		err = cause
	}
	end(err)
	return nil, err
}

// open sends the GET and reads the stream up to its endpoint event.
func (c *Client) open(alive context.Context, end context.CancelCauseFunc, h http.Header) (*conn, error) {
	trip := c.site.Trip(alive, alive, nil)
	trip.AnyRedirect = true
	header := c.site.RequestHeader(h)
	header["Accept"] = []string{web.TypeEvents}
	resp, at, err := trip.Do(http.MethodGet, c.site.Endpoint, nil, header)
	if err != nil {
		trip.Close()
		return nil, err
	}
	media, _ := web.MediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode/100 != 2 || media != "" && media != web.TypeEvents {
		defer trip.Close()
		return nil, trip.Refusal(resp)
	}
	n := newConn(c, alive, end, trip)
	if err = web.Inflate(resp); err == nil {
		n.events = eventstream.NewReader(resp.Body, c.site.MaxMessage)
		err = n.awaitEndpoint(at)
	}
	if err != nil {
		trip.Close()
		return nil, err
	}
	return n, nil
}

// awaitEndpoint reads up to the endpoint event. What comes before it cannot
// be about anything, since nothing was sent yet.
func (n *conn) awaitEndpoint(at *url.URL) error {
	for {
		e, err := n.events.Next()
		if err != nil {
			return fmt.Errorf("%w: %w", errNoEndpoint, err)
		}
		if e.Type == endpointEvent {
			n.targets, err = n.client.resolve(at, string(e.Data))
			return err
		}
		if e.IsMessage() {
			n.client.site.Garbage(transports.TooEarly)
		}
	}
}
