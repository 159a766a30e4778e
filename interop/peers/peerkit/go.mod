module github.com/mcpbridge/mcpbridge/interop/peers/peerkit

go 1.26
