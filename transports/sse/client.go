package sse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// ClientConfig holds an operator's choices for one upstream. Zero values mean
// the defaults.
type ClientConfig struct {
	web.SiteConfig
	// EndpointTimeout is how long a new stream may take to name its message
	// endpoint; default 10 s.
	EndpointTimeout time.Duration
	// MessageURL is where messages are posted instead of where the server says,
	// with the query that the server says. It may be of another origin, which
	// then gets the same headers.
	MessageURL string
}

// Client knows one upstream. Its conversations share connections and what was
// learned about the message endpoint.
type Client struct {
	site    *web.Site
	timeout time.Duration
	message *url.URL // MessageURL, or nil
	// prefixed says that messages go to the form of the endpoint that keeps the
	// prefix of the stream's URL.
	prefixed atomic.Bool
}

// NewClient returns a client of the event stream at rawURL.
func NewClient(rawURL string, config ClientConfig) (*Client, error) {
	site, err := web.NewSite(rawURL, config.SiteConfig)
	if err != nil {
		return nil, fmt.Errorf("sse: %w", err)
	}
	c := &Client{site: site, timeout: config.EndpointTimeout}
	if c.timeout <= 0 {
		c.timeout = 10 * time.Second
	}
	if config.MessageURL == "" {
		return c, nil
	}
	c.message, err = url.Parse(config.MessageURL)
	if err != nil || c.message.Scheme != "http" && c.message.Scheme != "https" || c.message.Host == "" {
		return nil, errors.New("sse: reading the URL for messages: it needs http:// or https:// and a host")
	}
	c.message.Fragment, c.message.User = "", nil
	return c, nil
}

// Conversation returns a new conversation with the upstream. Its stream opens
// with the first message.
func (c *Client) Conversation() transports.Upstream {
	return conversation{transports.NewPiped(dialer{c})}
}

// Open returns a conversation whose stream is there already, for callers who
// must know that. The header is that of the message that will come first. The
// error is a *mcp.Refusal or a *transports.Unreachable.
func (c *Client) Open(ctx context.Context, h http.Header) (transports.Upstream, error) {
	conn, err := c.dial(ctx, h)
	var refusal *mcp.Refusal
	switch {
	case errors.As(err, &refusal):
		return nil, err
	case err != nil:
		return nil, &transports.Unreachable{Err: err}
	}
	return conversation{transports.NewPipedOver(conn, dialer{c})}, nil
}

// Reach returns nil when the server is there: it opens a stream, which is left
// at once, or says why it does not. A message would not do: some servers end a
// session that begins with another than initialize (field report 125).
func (c *Client) Reach(ctx context.Context) error {
	conn, err := c.dial(ctx, nil)
	var refusal *mcp.Refusal
	switch {
	case err == nil:
		return conn.Close()
	case errors.As(err, &refusal) && refusal.Status < http.StatusInternalServerError:
		return nil
	}
	return err
}

// CloseIdleConnections closes the connections that no conversation uses now.
func (c *Client) CloseIdleConnections() { c.site.CloseIdleConnections() }

// conversation is a pipe that knows its name.
type conversation struct{ transports.Upstream }

// Transport implements transports.Named.
func (conversation) Transport() string { return Name }

// Headed implements transports.Headed.
func (conversation) Headed() bool { return true }

// dialer opens streams.
type dialer struct{ c *Client }

// Dial implements transports.Dialer.
func (d dialer) Dial(ctx context.Context) (transports.Conn, error) { return d.DialWith(ctx, nil) }

// DialWith implements transports.HeaderDialer.
func (d dialer) DialWith(ctx context.Context, h http.Header) (transports.Conn, error) {
	conn, err := d.c.dial(ctx, h)
	if err != nil {
		return nil, err // and no conn that is not nil
	}
	return conn, nil
}
