package streamable

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/transports"
)

// maxRedirects bounds the hops of one exchange.
const maxRedirects = 5

// exchange is one HTTP request to the upstream with its answer.
type exchange struct {
	c      *conversation
	s      state
	o      transports.Outgoing
	ctx    context.Context // ends with the caller's, and with the conversation
	cancel context.CancelFunc
	detach func() bool
	once   sync.Once // o.Sent
	resp   *http.Response
}

func (c *conversation) exchange(ctx context.Context, s state, o transports.Outgoing) *exchange {
	ctx, cancel := context.WithCancel(ctx)
	return &exchange{c: c, s: s, o: o, ctx: ctx, cancel: cancel, detach: context.AfterFunc(c.closed, cancel)}
}

// close ends the HTTP request if it is still under way.
func (x *exchange) close() {
	x.sent()
	x.detach()
	x.cancel() // first, so that closing waits for nobody
	if x.resp != nil {
		_ = x.resp.Body.Close() // what was not read does not matter
	}
}

// sent tells the caller once that the message is out, or that it will not be.
func (x *exchange) sent() {
	x.once.Do(func() {
		if x.o.Sent != nil {
			x.o.Sent()
		}
	})
}

// do sends the request and returns the response. Redirects that keep method
// and body are followed within the origin, since many servers answer so to a
// missing or an extra slash; others are returned as they are, so no header of
// the client ever reaches another origin.
func (x *exchange) do(method string, body []byte, header http.Header) (*http.Response, error) {
	if x.c.closed.Err() != nil {
		return nil, errClosed
	}
	endpoint := x.s.endpoint
	for hop := 0; ; hop++ {
		resp, err := x.roundTrip(method, endpoint, body, header)
		if err != nil {
			return nil, err
		}
		next := redirect(resp, endpoint)
		if next == nil || hop == maxRedirects {
			if hop > 0 && next == nil {
				x.c.learn(x.s, func(s *state) { s.endpoint = endpoint })
			}
			x.resp = resp
			return resp, nil
		}
		x.discard(resp)
		endpoint = next
	}
}

// redirect returns where a response sends its request again, or nil.
func redirect(resp *http.Response, from *url.URL) *url.URL {
	if resp.StatusCode != http.StatusTemporaryRedirect && resp.StatusCode != http.StatusPermanentRedirect {
		return nil
	}
	location := resp.Header.Get("Location")
	to, err := from.Parse(location)
	if err != nil || location == "" || origin(to) != origin(from) {
		return nil
	}
	to.Fragment, to.User = "", nil
	return to
}

// origin returns scheme, host and port in one spelling.
func origin(u *url.URL) string {
	port := u.Port()
	switch {
	case port == "" && u.Scheme == "http":
		port = "80"
	case port == "" && u.Scheme == "https":
		port = "443"
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

func (x *exchange) roundTrip(method string, to *url.URL, body []byte, header http.Header) (*http.Response, error) {
	var progress progress
	ctx := httptrace.WithClientTrace(x.ctx, progress.trace(x.sent))
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, to.String(), reader)
	if err != nil {
		return nil, fmt.Errorf("streamable: making the request: %w", err)
	}
	req.Header = header
	if host := x.c.client.config.Header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := x.c.client.transport.RoundTrip(req)
	switch {
	case err == nil:
		return resp, nil
	case x.c.closed.Err() != nil:
		return nil, errClosed
	case !progress.begun.Load():
		return nil, &transports.Unreachable{Err: err}
	}
	return nil, fmt.Errorf("streamable: sending the request: %w", err)
}

// afterGrace ends the exchange if what remains of it takes too long.
func (x *exchange) afterGrace() *time.Timer {
	return time.AfterFunc(x.c.client.config.Grace, x.cancel)
}
