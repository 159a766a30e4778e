// Package streamable speaks the Streamable HTTP transport of MCP (basic
// "Transports") in both roles: Server is the endpoint that clients talk to,
// Client and its conversations talk to a server.
//
// It refuses to know sessions, versions and calls beyond the headers that
// carry them, to repeat a message by itself, and to send credentials to
// another origin. What a peer may send wrongly is accepted where its meaning
// is clear; what leaves here is exactly what the specification asks for.
package streamable
