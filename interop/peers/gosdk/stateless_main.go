//go:build stateless

package main

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"

	"github.com/mcpbridge/mcpbridge/interop/peers/peerkit"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	peerkit.Main(peerkit.Peer{Handler: statelessHandler, Stdio: stdioOf, Dial: dialStateless})
}

// sessionOptions pins nothing: this client probes with server/discover first.
func sessionOptions() *mcp.ClientSessionOptions { return nil }

func rootsDeclared(full bool) bool { return full }

// dialStateless sends a credential of its own: that is what lets a bridge keep
// the requests of one stateless client together.
func dialStateless(ctx context.Context, t peerkit.Target, inbox *peerkit.Inbox) (peerkit.Client, peerkit.Declared, error) {
	token := base64.RawURLEncoding.EncodeToString([]byte(t.Label))
	httpClient := &http.Client{Transport: bearer("Bearer " + token)}
	session, declared, err := connect(ctx, t, inbox, httpClient)
	if err != nil || session.InitializeResult().ProtocolVersion < stateless {
		return &connection{session}, declared, err
	}
	return &statelessConnection{connection: connection{session}, inbox: inbox}, declared, nil
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// statelessConnection does what the stateless revision has no request for.
type statelessConnection struct {
	connection
	inbox *peerkit.Inbox
	level string
}

// SetLevel only remembers the level: each call carries it.
func (c *statelessConnection) SetLevel(_ context.Context, level string) error {
	c.level = level
	return nil
}

// Subscribe returns when the server has acknowledged it, for which the SDK does not
// wait: a change before that is not promised to be told.
func (c *statelessConnection) Subscribe(ctx context.Context, uri string) error {
	if err := c.connection.Subscribe(ctx, uri); err != nil {
		return err
	}
	_, err := c.inbox.Wait(ctx, 1, func(n peerkit.Notification) bool {
		filter, _ := n.Params["notifications"].(map[string]any)
		uris, _ := filter["resourceSubscriptions"].([]any)
		return n.Method == acknowledged && slices.Contains(uris, any(uri))
	})
	return err
}

func (c *statelessConnection) Call(ctx context.Context, name string, args map[string]any, token string) (peerkit.Outcome, error) {
	meta := mcp.Meta{}
	if c.level != "" {
		meta[mcp.MetaKeyLogLevel] = c.level
	}
	outcome, err := c.callWith(ctx, name, args, token, meta)
	var refused *jsonrpc.Error
	if errors.As(err, &refused) && refused.Code == mcp.CodeMissingRequiredClientCapabilities {
		// So ends a call that needs what the client did not declare.
		return peerkit.Outcome{Text: refused.Message, IsError: true}, nil
	}
	return outcome, err
}

func (c *statelessConnection) Ping(context.Context) error {
	return peerkit.ErrUnsupported
}
