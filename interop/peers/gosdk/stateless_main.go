//go:build stateless

package main

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"

	"github.com/mcpbridge/mcpbridge/interop/peers/peerkit"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	peerkit.Main(peerkit.Peer{Handler: statelessHandler, Dial: dialStateless})
}

// clientCapabilities drops the roots capability, which is declared by default.
func clientCapabilities(opts *mcp.ClientOptions, full bool) {
	if !full {
		opts.Capabilities = &mcp.ClientCapabilities{}
	}
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
	return &statelessConnection{connection: connection{session}}, declared, nil
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
	level string
}

// SetLevel only remembers the level: each call carries it.
func (c *statelessConnection) SetLevel(_ context.Context, level string) error {
	c.level = level
	return nil
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
