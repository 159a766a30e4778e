package streamable

import (
	"fmt"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// ClientConfig holds an operator's choices for one upstream. Zero values mean
// the defaults.
type ClientConfig = web.SiteConfig

// Client knows one upstream. Its conversations share connections and nothing
// else.
type Client struct{ site *web.Site }

// NewClient returns a client of the MCP endpoint at rawURL.
func NewClient(rawURL string, config ClientConfig) (*Client, error) {
	site, err := web.NewSite(rawURL, config)
	if err != nil {
		return nil, fmt.Errorf("streamable: %w", err)
	}
	return &Client{site: site}, nil
}

// Conversation returns a new conversation with the upstream. Nothing is sent
// before its first message.
func (c *Client) Conversation() transports.Upstream { return newConversation(c) }

// CloseIdleConnections closes the connections that no conversation uses now,
// so that a retry starts on a new one.
func (c *Client) CloseIdleConnections() { c.site.CloseIdleConnections() }
