package streamable

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// conversation is one session with the upstream, or what stands for it where
// the server gives no session id.
type conversation struct {
	client *Client
	// closed ends when the conversation is closed, and with it every exchange.
	closed context.Context
	end    context.CancelFunc

	mu    sync.Mutex
	state state
}

// state is what the conversation has learned. Exchanges work on a copy; what
// an exchange learns counts only while the conversation is still the same.
type state struct {
	generation int
	endpoint   *url.URL // after redirects
	session    string
	version    mcp.Version
	traits     mcp.Traits
	header     http.Header // of the last message: the client's credentials
	spot       spot        // the position in the standalone stream
	again      time.Time   // when it may be opened again
}

func newConversation(c *Client) *conversation {
	closed, end := context.WithCancel(context.Background())
	return &conversation{client: c, closed: closed, end: end, state: state{endpoint: c.site.Endpoint}}
}

// Transport implements transports.Named.
func (c *conversation) Transport() string { return Name }

// Headed implements transports.Headed.
func (c *conversation) Headed() bool { return true }

// Agree implements transports.Upstream.
func (c *conversation) Agree(v mcp.Version, t mcp.Traits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.version, c.state.traits = v, t
}

// Stateful implements transports.Sessioned: the server gave a session id.
func (c *conversation) Stateful() bool { return c.snapshot(nil).session != "" }

// Reset implements transports.Upstream. What exchanges under way still learn
// belongs to the old session and is dropped.
func (c *conversation) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state{generation: c.state.generation + 1, endpoint: c.client.site.Endpoint}
}

// Close implements transports.Upstream.
func (c *conversation) Close(ctx context.Context) error {
	defer c.end()
	s := c.snapshot(nil)
	c.Reset()
	return c.leave(ctx, s)
}

// End implements transports.Ender.
func (c *conversation) End(ctx context.Context) error { return c.leave(ctx, c.snapshot(nil)) }

// leave ends a session. A server may answer 405 where clients cannot end
// sessions, and 404 where the session is gone already.
func (c *conversation) leave(ctx context.Context, s state) error {
	if s.session == "" || c.closed.Err() != nil {
		return nil
	}
	x := c.exchange(ctx, s, transports.Outgoing{})
	defer x.Close()
	resp, err := x.do(http.MethodDelete, nil, x.header(nil))
	if err != nil {
		return err
	}
	switch {
	case resp.StatusCode/100 == 2, resp.StatusCode == http.StatusMethodNotAllowed, resp.StatusCode == http.StatusNotFound:
		x.Discard(resp)
		return nil
	}
	return x.Refusal(resp)
}

// snapshot returns the state for one exchange. The headers of a message are
// kept for the exchanges that have no message of their own.
func (c *conversation) snapshot(header http.Header) state {
	c.mu.Lock()
	defer c.mu.Unlock()
	if header != nil {
		c.state.header = header
	}
	return c.state
}

// learn changes the state if the conversation is still the one of s.
func (c *conversation) learn(s state, change func(*state)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state.generation == s.generation {
		change(&c.state)
	}
}

// validSession checks a session id (MCP basic "Transports", Session
// Management: visible ASCII).
func validSession(id string) bool {
	for _, c := range []byte(id) {
		if c < 0x21 || c > 0x7E {
			return false
		}
	}
	return id != "" && len(id) <= 1024
}
