package main

import (
	"github.com/mcpbridge/mcpbridge/transports/web"
	"github.com/mcpbridge/mcpbridge/transports/websocket"
)

// sockets is an upstream that speaks WebSocket.
type sockets struct{ *websocket.Client }

func newSockets(url string, site web.SiteConfig) (sockets, error) {
	c, err := websocket.NewClient(url, websocket.ClientConfig{SiteConfig: site})
	return sockets{c}, err
}

// CloseIdleConnections implements upstreamClient: each connection belongs to a
// conversation.
func (sockets) CloseIdleConnections() {}
