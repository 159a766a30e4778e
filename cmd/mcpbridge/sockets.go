package main

import (
	"maps"
	"net/http"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/transports"
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

// withSockets adds the WebSocket endpoint to an engine.
func withSockets(e engine, cfg configs.Config, guard *transports.Guard, refused func(int)) engine {
	path, ok := cfg.Sockets()
	if !ok {
		return e
	}
	s := websocket.NewServer(e.pipes, guard, websocket.ServerConfig{MaxMessage: int(cfg.MaxBody), Refused: refused})
	further := map[string]http.Handler{path: s}
	maps.Copy(further, e.further)
	leave := e.leave
	e.further, e.wait = further, s.Wait
	e.leave = func() {
		s.Leave()
		if leave != nil {
			leave()
		}
	}
	return e
}
