//go:build sdk_v1_8_0 && !stateless

package main

import "github.com/modelcontextprotocol/go-sdk/mcp"

// clientCapabilities drops the roots capability, which is declared by default.
func clientCapabilities(opts *mcp.ClientOptions, full bool) {
	if !full {
		opts.Capabilities = &mcp.ClientCapabilities{}
	}
}

// sessionOptions pins the newest version that still has an initialize handshake;
// without it this client first probes with server/discover.
func sessionOptions() *mcp.ClientSessionOptions {
	return &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"}
}

func rootsDeclared(full bool) bool { return full }
