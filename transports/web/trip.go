package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/transports"
)

// ErrClosed says that the conversation was closed before or during a request.
var ErrClosed = errors.New("web: sending: the conversation is closed")

// maxRedirects bounds the hops of one trip.
const maxRedirects = 5

// Trip is one HTTP request to the upstream with its answer.
type Trip struct {
	// AnyRedirect follows those redirects too that a client answers with GET.
	AnyRedirect bool

	site   *Site
	ctx    context.Context // ends with the caller's, and with the conversation
	closed context.Context // ends with the conversation
	cancel context.CancelFunc
	detach func() bool
	once   sync.Once // out
	out    func()
	begun  bool // some byte of the request may have reached the server
	resp   *http.Response
}

// Trip prepares a request that ends with ctx and with closed. Out, which may
// be nil, is called once: when the request is out, or will not be.
func (s *Site) Trip(ctx, closed context.Context, out func()) *Trip {
	ctx, cancel := context.WithCancel(ctx)
	return &Trip{site: s, ctx: ctx, closed: closed, cancel: cancel, out: out, detach: context.AfterFunc(closed, cancel)}
}

// Close ends the HTTP request if it is still under way.
func (t *Trip) Close() {
	t.Out()
	t.detach()
	t.cancel() // first, so that closing waits for nobody
	if t.resp != nil {
		_ = t.resp.Body.Close() // what was not read does not matter
	}
}

// Out tells the caller once that the message is out, or that it will not be.
func (t *Trip) Out() {
	t.once.Do(func() {
		if t.out != nil {
			t.out()
		}
	})
}

// Begun reports whether a byte of the request may have reached the server.
func (t *Trip) Begun() bool { return t.begun }

// Do sends the request and returns the response and the URL that gave it.
// Redirects that keep method and body are followed within the origin, since
// many servers answer so to a missing or an extra slash; others are returned
// as they are, so no header of the client ever reaches another origin.
func (t *Trip) Do(method string, endpoint *url.URL, body []byte, header http.Header) (*http.Response, *url.URL, error) {
	if t.resp != nil { // of the request before
		_ = t.resp.Body.Close() // what was not read does not matter
	}
	for hop, at := 0, endpoint; ; hop++ {
		if t.closed.Err() != nil {
			return nil, nil, ErrClosed
		}
		resp, err := t.roundTrip(method, at, body, header)
		if err != nil {
			return nil, nil, err
		}
		next := t.redirect(resp, at)
		switch {
		case next == nil:
			t.resp = resp
			return resp, at, nil
		case hop == maxRedirects:
			t.resp = resp
			return resp, endpoint, nil
		}
		t.Discard(resp)
		at = next
	}
}

// redirect returns where a response sends its request again, or nil.
func (t *Trip) redirect(resp *http.Response, from *url.URL) *url.URL {
	switch resp.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		if !t.AnyRedirect {
			return nil
		}
	default:
		return nil
	}
	location := resp.Header.Get("Location")
	to, err := from.Parse(location)
	if err != nil || location == "" || Origin(to) != Origin(from) {
		return nil
	}
	to.Fragment, to.User = "", nil
	return to
}

func (t *Trip) roundTrip(method string, to *url.URL, body []byte, header http.Header) (*http.Response, error) {
	var progress progress
	ctx := httptrace.WithClientTrace(t.ctx, progress.trace(t.Out))
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, to.String(), reader)
	if err != nil {
		return nil, fmt.Errorf("web: making the request: %w", err)
	}
	req.Header = header
	if host := t.site.Header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := t.site.Transport.RoundTrip(req)
	t.begun = t.begun || progress.begun.Load()
	if err != nil && t.ctx.Err() != nil && progress.reused.Load() {
		// Given up without a byte in answer. Somebody on the way may have forgotten
		// the connection, and with it those that were idle as long.
		t.site.CloseIdleConnections()
	}
	switch {
	case err == nil && resp.StatusCode == http.StatusProxyAuthRequired && t.site.ProxyOf(to) != "":
		t.Discard(resp)
		return nil, &transports.Unreachable{Err: t.site.Explain(to, errProxyAuth)}
	case err == nil:
		return resp, nil
	case t.closed.Err() != nil:
		return nil, ErrClosed
	case !progress.begun.Load():
		return nil, &transports.Unreachable{Err: t.site.Explain(to, err)}
	}
	if proxy := t.site.ProxyOf(to); proxy != "" {
		return nil, fmt.Errorf("web: sending the request through the proxy %s: %w", proxy, err)
	}
	return nil, fmt.Errorf("web: sending the request: %w", err)
}

// AfterGrace ends the request if what remains of it takes too long.
func (t *Trip) AfterGrace() *time.Timer {
	return time.AfterFunc(t.site.Grace, t.cancel)
}

// Alive reports whether neither the caller nor the conversation has ended.
func (t *Trip) Alive() bool { return t.ctx.Err() == nil }

// Pause waits before the next request of the trip, unless the trip ends.
func (t *Trip) Pause(d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-t.ctx.Done():
		}
	}
	switch {
	case t.closed.Err() != nil:
		return ErrClosed
	case t.ctx.Err() != nil:
		return fmt.Errorf("web: waiting to send: %w", context.Cause(t.ctx))
	}
	return nil
}
