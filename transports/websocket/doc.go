// Package websocket carries messages over WebSocket (RFC 6455) in both roles:
// Server is the endpoint of an HTTP listener, Client and its conversations
// talk to a server. One text message is one frame of JSON, and the connection
// is the session.
//
// It refuses binary messages, peers that break RFC 6455 or stay silent, other
// subprotocols, and redirects to another origin. It refuses to resume: what a
// broken connection lost is lost.
package websocket

// Name is what metrics call this transport.
const Name = "websocket"

// Path is where clients find the endpoint unless the operator chose another.
const Path = "/ws"

// Subprotocol is what both ends speak, whether they name it or not.
const Subprotocol = "mcp"
