// Package sse speaks the HTTP+SSE transport of MCP (2024-11-05 basic
// "Transports"; deprecated by Streamable HTTP, and still widely served) in
// both roles: Server is the pair of endpoints that clients talk to, Client
// and its conversations talk to a server. The event stream is the session:
// what a client posts is answered there, and nothing outlives it.
//
// It refuses to replay what a broken stream lost, to know versions beyond the
// header that names one, and to follow an endpoint event to another origin.
// What leaves here is what the oldest clients understand: named events, bare
// line feeds, one line of data, a relative endpoint.
package sse
