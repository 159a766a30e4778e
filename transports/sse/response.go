package sse

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// response is what a POST was answered with.
type response struct {
	*web.Trip
	*http.Response
	conn *conn
	ctx  context.Context
	m    *mcp.Message
}

// outcome says what the response means for the message. Some servers answer a
// request here instead of on the stream, or in both places (field report 42);
// which of two answers counts is up to whoever matches ids.
func (r *response) outcome() error {
	media, _ := web.MediaType(r.Header.Get("Content-Type"))
	taken := r.StatusCode/100 == 2
	if r.m.Kind == mcp.Request && web.IsJSON(media) && r.StatusCode != http.StatusUnauthorized && r.StatusCode != http.StatusForbidden {
		body, found := r.answered()
		switch {
		case found || taken:
			return nil
		case !r.lost():
			return r.Refuse(r.Response, body)
		}
	}
	switch {
	case taken:
		r.Discard(r.Response)
		return nil
	case r.lost():
		r.Discard(r.Response)
		return transports.ErrSessionGone
	}
	return r.Refusal(r.Response)
}

// lost reports that an endpoint which took messages of this session before
// no longer knows it.
func (r *response) lost() bool {
	return r.StatusCode == http.StatusNotFound && r.conn.settled.Load()
}

// answered reads a JSON body and hands over the answer in it.
func (r *response) answered() (body []byte, found bool) {
	silence := r.AfterGrace()
	defer silence.Stop()
	grace := r.conn.client.site.Grace
	body, err := web.ReadAll(living{r.Body, silence, grace}, r.ContentLength, r.conn.client.site.MaxMessage)
	if err != nil {
		return body, false
	}
	frame, fault := mcp.Decode(body)
	if fault != nil {
		return body, false
	}
	for _, i := range frame.Items {
		if m := i.Message; m != nil && m.IsAnswer() && m.ID.Answers(r.m.ID) {
			return body, r.conn.hand(r.ctx, m)
		}
	}
	return body, false
}

// hand lets Read return a message that did not come on the stream.
func (n *conn) hand(ctx context.Context, m *mcp.Message) bool {
	select {
	case n.frames <- &mcp.Frame{Items: []mcp.Item{{Message: m}}}:
		return true
	case <-n.over:
	case <-ctx.Done():
	}
	return false
}

// living reads a body that may take its time as long as it goes on.
type living struct {
	io.Reader
	silence *time.Timer
	grace   time.Duration
}

func (l living) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	l.silence.Reset(l.grace)
	return n, err
}
