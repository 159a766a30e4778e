package web

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// SiteConfig holds an operator's choices for one upstream. Zero values mean
// the defaults.
type SiteConfig struct {
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
	// Proxy chooses the proxy of a request, as http.Transport asks for it; nil
	// asks the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY), by which the
	// loopback host has none.
	Proxy func(*http.Request) (*url.URL, error)
	// Dial opens connections; nil is by the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

func (c SiteConfig) withDefaults() SiteConfig {
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
	if c.Proxy == nil {
		c.Proxy = http.ProxyFromEnvironment
	}
	return c
}

// Site is one upstream as far as HTTP goes: its connections and what every
// request to it carries.
type Site struct {
	SiteConfig
	Endpoint  *url.URL
	Transport *http.Transport
}

// NewSite returns the site of the endpoint at rawURL.
func NewSite(rawURL string, config SiteConfig) (*Site, error) {
	endpoint, err := url.Parse(rawURL)
	if err != nil {
		// The text of a URL may hold a secret; the parser's error repeats it.
		return nil, errors.New("reading the upstream URL: it is malformed")
	}
	if endpoint.Scheme != "http" && endpoint.Scheme != "https" || endpoint.Host == "" {
		return nil, errors.New("reading the upstream URL: it needs http:// or https:// and a host")
	}
	config = config.withDefaults()
	config.Header = ownHeader(config.Header, endpoint.User)
	endpoint.Fragment, endpoint.User = "", nil
	return &Site{SiteConfig: config, Endpoint: endpoint, Transport: newTransport(config)}, nil
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
// back. Idle connections end before servers end them: Node's do after five
// seconds, and a POST that meets such an end cannot be sent again.
func newTransport(config SiteConfig) *http.Transport {
	dial := config.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: config.DialTimeout, KeepAlive: 30 * time.Second}).DialContext
	}
	return &http.Transport{
		Proxy:                 config.Proxy,
		DialContext:           dial,
		TLSClientConfig:       config.TLS.Clone(), // the transport adds to it
		TLSHandshakeTimeout:   config.DialTimeout,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       4 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}

// RequestHeader returns the headers of a request: what the message carries,
// then what the operator configured, without those that only the transport
// may set.
func (s *Site) RequestHeader(own http.Header) http.Header {
	h := make(http.Header, len(own)+len(s.Header)+6)
	h["User-Agent"] = []string{"mcpbridge"}
	for _, from := range []http.Header{own, s.Header} {
		for name, values := range from {
			h[name] = values
		}
	}
	h["Accept-Encoding"] = []string{"identity"}
	for _, name := range []string{"Host", "Content-Encoding", mcp.HeaderSession, mcp.HeaderVersion, mcp.HeaderLastID} {
		h.Del(name)
	}
	return h
}

// CloseIdleConnections closes the connections that no request uses now, so
// that a retry starts on a new one.
func (s *Site) CloseIdleConnections() { s.Transport.CloseIdleConnections() }

// Origin returns scheme, host and port in one spelling.
func Origin(u *url.URL) string {
	port := u.Port()
	switch {
	case port == "" && u.Scheme == "http":
		port = "80"
	case port == "" && u.Scheme == "https":
		port = "443"
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
