// Command mcpgo is the peer built on mark3labs/mcp-go. One source serves two
// versions of it: go.mod holds the older one, v1.2.1.mod (go build -modfile) the
// newer, and the build tag mcpgo_v1_2_1 selects what differs between them.
package main

import "github.com/mcpbridge/mcpbridge/interop/peers/peerkit"

func main() {
	peerkit.Main(peerkit.Peer{Handler: handler, SSE: sseHandler, Stdio: stdio, Dial: dial})
}
