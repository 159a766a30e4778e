//go:build !stateless

package main

import (
	"context"
	"net/http"

	"github.com/mcpbridge/mcpbridge/interop/peers/peerkit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	peerkit.Main(peerkit.Peer{Handler: handler, SSE: sseHandler, Stdio: stdio, Dial: dial})
}

// handler gives each session its own server, so that a tool added in one session
// does not show in another.
func handler() http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newServer() }, nil)
}

func sseHandler() http.Handler {
	return mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return newServer() }, nil)
}

func stdio(ctx context.Context, _ string) error {
	return newServer().Run(ctx, &mcp.StdioTransport{})
}

func dial(ctx context.Context, t peerkit.Target, inbox *peerkit.Inbox) (peerkit.Client, peerkit.Declared, error) {
	session, declared, err := connect(ctx, t, inbox, nil)
	return &connection{session}, declared, err
}

func answer(ctx context.Context, def peerkit.ToolDef, state *peerkit.State, c *caller) *mcp.CallToolResult {
	return toResult(peerkit.Run(ctx, def.Name, c.request.Params.Arguments, features, state, c))
}
