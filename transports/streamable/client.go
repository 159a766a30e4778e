package streamable

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/mcpbridge/mcpbridge/transports"
)

// ClientConfig holds an operator's choices for one upstream. Zero values mean
// the defaults.
type ClientConfig struct {
	// Header is sent with every request and wins over what the client's own
	// messages carry, except for the headers of the transport itself.
	Header      http.Header
	MaxMessage  int           // bytes of a body or an event; default 64 MiB
	MaxRefusal  int           // bytes kept of an answer that is no message; default 8 KiB
	DialTimeout time.Duration // default 10 s
	// Grace is how long a response stream may stay open after the answer, and
	// how long the body of a refusal may take; default 2 s.
	Grace   time.Duration
	Garbage transports.Garbage // told of bytes that are no message; may be nil
	TLS     *tls.Config        // nil: the system's
}

func (c ClientConfig) withDefaults() ClientConfig {
	if c.MaxMessage <= 0 {
		c.MaxMessage = 64 << 20
	}
	if c.MaxRefusal <= 0 {
		c.MaxRefusal = 8 << 10
	}
	if c.DialTimeout <= 0 {
		c.DialTimeout = 10 * time.Second
	}
	if c.Grace <= 0 {
		c.Grace = 2 * time.Second
	}
	if c.Garbage == nil {
		c.Garbage = func(string) {}
	}
	return c
}

// Client knows one upstream. Its conversations share connections and nothing
// else.
type Client struct {
	endpoint  *url.URL
	transport *http.Transport
	config    ClientConfig
}

// NewClient returns a client of the MCP endpoint at rawURL.
func NewClient(rawURL string, config ClientConfig) (*Client, error) {
	endpoint, err := url.Parse(rawURL)
	if err != nil {
		// The text of a URL may hold a secret; the parser's error repeats it.
		return nil, errors.New("streamable: reading the upstream URL: it is malformed")
	}
	if endpoint.Scheme != "http" && endpoint.Scheme != "https" || endpoint.Host == "" {
		return nil, errors.New("streamable: reading the upstream URL: it needs http:// or https:// and a host")
	}
	config = config.withDefaults()
	config.Header = ownHeader(config.Header, endpoint.User)
	endpoint.Fragment, endpoint.User = "", nil
	return &Client{endpoint: endpoint, config: config, transport: newTransport(config)}, nil
}

// ownHeader copies the configured headers under their canonical names and
// turns the user of a URL into the header that it stands for.
func ownHeader(configured http.Header, user *url.Userinfo) http.Header {
	h := http.Header{}
	for name, values := range configured {
		h[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	if user != nil && h.Get("Authorization") == "" {
		password, _ := user.Password()
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	return h
}

// newTransport returns the connections of one upstream. Compression stays off
// (Go would add it by itself): a compressor on the way holds small events
// back. Idle connections end before common middleboxes forget them.
func newTransport(config ClientConfig) *http.Transport {
	dialer := &net.Dialer{Timeout: config.DialTimeout, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           dialer.DialContext,
		TLSClientConfig:       config.TLS,
		TLSHandshakeTimeout:   config.DialTimeout,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       time.Minute,
		ExpectContinueTimeout: time.Second,
	}
}

// Conversation returns a new conversation with the upstream. Nothing is sent
// before its first message.
func (c *Client) Conversation() transports.Upstream { return newConversation(c) }

// CloseIdleConnections closes the connections that no conversation uses now,
// so that a retry starts on a new one.
func (c *Client) CloseIdleConnections() { c.transport.CloseIdleConnections() }
