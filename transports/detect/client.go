package detect

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/sse"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// Client knows one upstream of either transport.
type Client struct {
	streamable *streamable.Client
	sse        *sse.Client
	older      atomic.Bool // it was last found to speak HTTP+SSE
}

// probeTime is how long an event stream may take to name its endpoint.
const probeTime = 5 * time.Second

// NewClient returns a client of the endpoint at rawURL, which is that of
// either transport.
func NewClient(rawURL string, config sse.ClientConfig) (*Client, error) {
	config.EndpointTimeout = probeTime
	first, err := streamable.NewClient(rawURL, config.SiteConfig)
	if err != nil {
		return nil, err
	}
	second, err := sse.NewClient(rawURL, config)
	if err != nil {
		return nil, err
	}
	return &Client{streamable: first, sse: second}, nil
}

// Conversation returns a new conversation with the upstream. Nothing is sent
// before its first message.
func (c *Client) Conversation() transports.Upstream {
	return &conversation{client: c, newer: c.streamable.Conversation()}
}

// CloseIdleConnections closes the connections that no conversation uses now.
func (c *Client) CloseIdleConnections() {
	c.streamable.CloseIdleConnections()
	c.sse.CloseIdleConnections()
}

// open opens an event stream; the error is nil when the server has one. A
// server that was known for it and refuses to open one is asked anew for
// Streamable HTTP.
func (c *Client) open(ctx context.Context, h http.Header) (transports.Upstream, error) {
	u, err := c.sse.Open(ctx, h)
	var refusal *mcp.Refusal
	if err == nil || errors.As(err, &refusal) && misplaced(refusal) {
		c.older.Store(err == nil)
	}
	return u, err
}

// misplaced reports an answer by which servers say that they do not serve
// this here: 405 is the specified one, 404 and 400 are seen as well. A server
// that speaks of versions serves it, and has something else to say.
func misplaced(r *mcp.Refusal) bool {
	switch r.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		return !speaksOfVersions(r)
	}
	return false
}

// speaksOfVersions reports a JSON-RPC error about protocol versions.
func speaksOfVersions(r *mcp.Refusal) bool {
	if media, _ := web.MediaType(r.Header.Get("Content-Type")); !web.IsJSON(media) {
		return false
	}
	frame, fault := mcp.Decode(r.Body)
	if fault != nil {
		return false
	}
	for _, i := range frame.Items {
		if m := i.Message; m != nil && m.Kind == mcp.Failure && namesVersion(m) {
			return true
		}
	}
	return false
}

// namesVersion looks for the word in what an error says.
func namesVersion(m *mcp.Message) bool {
	data, _ := m.Body.Get("data")
	text := append([]byte(m.Body.Text("message")+" "), data...)
	return bytes.Contains(bytes.ToLower(text), []byte("version"))
}
