package websocket

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	gorilla "github.com/gorilla/websocket"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// ClientConfig holds an operator's choices for one upstream. Zero values mean
// the defaults.
type ClientConfig struct {
	web.SiteConfig
	Timing
	OpenTimeout time.Duration // for an opening handshake in all; default twice DialTimeout
	Compress    bool          // offer to compress messages
}

// Client knows one upstream. Its conversations share nothing but that.
type Client struct {
	site    *web.Site
	config  ClientConfig
	buffers sync.Pool // of the library, for messages on their way out
}

// NewClient returns a client of the endpoint at rawURL, which is ws:// or
// wss://.
func NewClient(rawURL string, config ClientConfig) (*Client, error) {
	plain, err := plainURL(rawURL)
	if err != nil {
		return nil, err
	}
	config.Timing = config.Timing.withDefaults()
	config.TLS = withoutHTTP2(config.TLS)
	site, err := web.NewSite(plain, config.SiteConfig)
	if err != nil {
		return nil, fmt.Errorf("websocket: %w", err)
	}
	if config.OpenTimeout <= 0 {
		config.OpenTimeout = 2 * site.DialTimeout
	}
	return &Client{site: site, config: config}, nil
}

// plainURL returns the URL of the same place as HTTP knows it.
func plainURL(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		// The text of a URL may hold a secret; the parser's error repeats it.
		return "", errors.New("websocket: reading the upstream URL: it is malformed")
	}
	if u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" {
		return "", errors.New("websocket: reading the upstream URL: it needs ws:// or wss:// and a host")
	}
	u.Scheme = httpScheme(u.Scheme)
	return u.String(), nil
}

func httpScheme(scheme string) string {
	switch scheme {
	case "ws":
		return "http"
	case "wss":
		return "https"
	}
	return scheme
}

// withoutHTTP2 says in the TLS handshake what a WebSocket needs.
func withoutHTTP2(c *tls.Config) *tls.Config {
	if c == nil {
		c = &tls.Config{}
	}
	c = c.Clone()
	c.NextProtos = []string{"http/1.1"}
	return c
}

// Conversation returns a new conversation with the upstream. Its connection
// opens with the first message.
func (c *Client) Conversation() transports.Upstream {
	return conversation{transports.NewPiped(dialer{c})}
}

// Reach returns nil when the upstream takes a connection, or says why it
// takes none from just anybody. The connection is closed at once.
func (c *Client) Reach(ctx context.Context) error {
	s, err := c.open(ctx, nil)
	var refusal *mcp.Refusal
	switch {
	case errors.As(err, &refusal) && refusal.Status < http.StatusInternalServerError:
		return nil
	case err != nil:
		return err
	}
	s.end(gorilla.CloseNormalClosure, "")
	for err == nil { // until the server answers
		_, err = s.text()
	}
	s.finish(err)
	return nil
}

// conversation is a pipe that knows its name.
type conversation struct{ transports.Upstream }

// Transport implements transports.Named.
func (conversation) Transport() string { return Name }

// dialer opens connections.
type dialer struct{ c *Client }

// Dial implements transports.Dialer.
func (d dialer) Dial(ctx context.Context) (transports.Conn, error) { return d.DialWith(ctx, nil) }

// DialWith implements transports.HeaderDialer.
func (d dialer) DialWith(ctx context.Context, h http.Header) (transports.Conn, error) {
	s, err := d.c.open(ctx, h)
	if err != nil {
		return nil, err
	}
	return newConn(s, h, d.c.site.Garbage), nil
}
