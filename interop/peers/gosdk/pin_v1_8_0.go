//go:build sdk_v1_8_0 && !stateless

package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ElicitURL asks the user to visit a URL.
func (c *caller) ElicitURL(ctx context.Context, message, url string) (string, error) {
	params := &mcp.ElicitParams{Mode: "url", Message: message, URL: url, ElicitationID: "consent-1"}
	result, err := c.request.Session.Elicit(ctx, params)
	if err != nil {
		return "", err
	}
	return result.Action, nil
}

// sessionOptions pins the newest version that still has an initialize handshake;
// without it this client first probes with server/discover.
func sessionOptions() *mcp.ClientSessionOptions {
	return &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"}
}

func rootsDeclared(full bool) bool { return full }
