package websocket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	gorilla "github.com/gorilla/websocket"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// maxRedirects bounds the hops of one opening.
const maxRedirects = 5

// clientBuffer is the largest message that is sent as one frame: not every
// server joins fragments.
const clientBuffer = 64 << 10

var (
	errLate     = errors.New("websocket: opening the connection: the opening handshake was not complete in time")
	errProtocol = errors.New("websocket: opening the connection: the server speaks another subprotocol than " + Subprotocol)
	errProxy    = errors.New("websocket: opening the connection: the proxy refused")
)

// open performs the opening handshake. Ctx bounds it and not the connection.
// Redirects are followed within the origin, so that no header of the client
// ever reaches another.
func (c *Client) open(ctx context.Context, own http.Header) (*socket, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer time.AfterFunc(c.config.OpenTimeout, func() { end(errLate) }).Stop()
	h := c.header(own)
	at := c.site.Endpoint
	for hop := 0; ; hop++ {
		s, resp, err := c.handshake(ctx, at, h)
		switch {
		case err == nil:
			return s, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case resp == nil || resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, err
		}
		to := redirect(resp, at)
		if to == nil || hop == maxRedirects {
			return nil, c.refusal(resp)
		}
		at = to
	}
}

// header returns the headers of the handshake. Those that make it one are the
// library's.
func (c *Client) header(own http.Header) http.Header {
	h := c.site.RequestHeader(own)
	for name := range h {
		if name == "Upgrade" || name == "Connection" || strings.HasPrefix(name, "Sec-Websocket-") {
			delete(h, name)
		}
	}
	if host := c.site.Header.Get("Host"); host != "" {
		h["Host"] = []string{host}
	}
	return h
}

// handshake asks one URL for a socket. The response tells why there is none.
func (c *Client) handshake(ctx context.Context, at *url.URL, h http.Header) (s *socket, resp *http.Response, err error) {
	// The library takes a proxy's answer apart by an index that need not exist.
	defer func() {
		if recover() != nil {
			s, resp, err = nil, nil, c.site.Explain(at, errProxy)
		}
	}()
	var line *wire
	unbind := func() bool { return true }
	d := c.dialer()
	d.NetDialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := c.site.Transport.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		line = &wire{Conn: conn, timing: c.config.Timing}
		unbind = context.AfterFunc(ctx, func() { _ = conn.Close() }) // which ends what waits for it
		return line, nil
	}
	ws, resp, err := d.DialContext(ctx, socketURL(at), h)
	switch {
	case err != nil:
		unbind()
		if resp == nil {
			err = c.site.Explain(at, err)
		}
		return nil, resp, fmt.Errorf("websocket: opening the connection: %w", err)
	case !unbind():
		return nil, nil, context.Cause(ctx)
	}
	s = newSocket(ws, line, c.site.MaxMessage)
	if p := ws.Subprotocol(); p != "" && p != Subprotocol { // RFC 6455 section 4.1
		s.end(gorilla.CloseProtocolError, codeName(gorilla.CloseProtocolError))
		return nil, nil, errProtocol
	}
	return s, resp, nil
}

func (c *Client) dialer() gorilla.Dialer {
	return gorilla.Dialer{
		Proxy:             c.site.Transport.Proxy,
		TLSClientConfig:   c.site.TLS,
		ReadBufferSize:    serverBuffer,
		WriteBufferSize:   clientBuffer,
		WriteBufferPool:   &c.buffers,
		Subprotocols:      []string{Subprotocol},
		EnableCompression: c.config.Compress,
	}
}

func socketURL(u *url.URL) string {
	at := *u
	at.Scheme = "ws" + strings.TrimPrefix(u.Scheme, "http")
	return at.String()
}

// redirect returns where a response sends its request, or nil.
func redirect(resp *http.Response, from *url.URL) *url.URL {
	location := resp.Header.Get("Location")
	if resp.StatusCode/100 != 3 || location == "" {
		return nil
	}
	to, err := from.Parse(location)
	if err != nil {
		return nil
	}
	to.Scheme = httpScheme(to.Scheme)
	if web.Origin(to) != web.Origin(from) {
		return nil
	}
	to.Fragment, to.User = "", nil
	return to
}

// refusal is an answer that is no handshake. The library keeps the start of
// its body.
func (c *Client) refusal(resp *http.Response) *mcp.Refusal {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, int64(c.site.MaxRefusal))) // a part will do
	return &mcp.Refusal{Status: resp.StatusCode, Header: resp.Header, Body: body}
}
