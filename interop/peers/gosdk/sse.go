package main

import (
	"net/http"

	"github.com/mcpbridge/mcpbridge/interop/peers/peerkit"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// transportTo speaks the transport that the target's URL tells.
func transportTo(t peerkit.Target, over *http.Client) mcp.Transport {
	if cmd := t.Cmd(); cmd != nil {
		return &mcp.CommandTransport{Command: cmd}
	}
	if t.SSE() {
		return &mcp.SSEClientTransport{Endpoint: t.URL, HTTPClient: over}
	}
	return &mcp.StreamableClientTransport{Endpoint: t.URL, HTTPClient: over}
}
