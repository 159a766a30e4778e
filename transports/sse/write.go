package sse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// Write implements transports.Conn.
func (n *conn) Write(ctx context.Context, m *mcp.Message) error {
	first, second := n.targets.said, n.targets.prefixed
	if second != nil && n.client.prefixed.Load() {
		first, second = second, first
	}
	err := n.post(ctx, first, m)
	if n.settled.Load() {
		return err
	}
	miss := misses(err)
	if second == nil || !miss {
		n.settled.Store(!miss && responded(err))
		return err
	}
	// Nothing is there, so nothing was executed: the other form may be right.
	again := n.post(ctx, second, m)
	if misses(again) || !responded(again) {
		return err
	}
	n.settled.Store(true)
	n.client.prefixed.Store(second == n.targets.prefixed)
	return again
}

// misses reports an answer that says the path is wrong.
func misses(err error) bool {
	var r *mcp.Refusal
	return errors.As(err, &r) && (r.Status == http.StatusNotFound || r.Status == http.StatusMethodNotAllowed)
}

// responded reports whether there was an answer at all.
func responded(err error) bool {
	var r *mcp.Refusal
	return err == nil || errors.As(err, &r)
}

// post sends one message to one URL. Any 2xx is as good as another.
func (n *conn) post(ctx context.Context, to *url.URL, m *mcp.Message) error {
	trip := n.client.site.Trip(ctx, n.alive, nil)
	defer trip.Close()
	resp, _, err := trip.Do(http.MethodPost, to, m.Bytes(), n.header(m))
	if err != nil {
		return n.failed(trip, err)
	}
	if err := web.Inflate(resp); err != nil {
		return fmt.Errorf("%w: %w", transports.ErrBroken, err)
	}
	r := &response{Trip: trip, conn: n, ctx: ctx, m: m, Response: resp}
	return r.outcome()
}

func (n *conn) header(m *mcp.Message) http.Header {
	h := n.client.site.RequestHeader(m.Header)
	h["Content-Type"] = []string{web.TypeJSON}
	h["Accept"] = []string{"*/*"} // the body does not matter
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.version != "" {
		h[mcp.HeaderVersion] = []string{n.version}
	}
	return h
}

// failed says what a POST without a response means for its message.
func (n *conn) failed(trip *web.Trip, err error) error {
	switch {
	case trip.Begun():
		return fmt.Errorf("%w: %w", transports.ErrBroken, err)
	case n.alive.Err() != nil:
		return transports.ErrSessionGone
	}
	return err // it never left
}
