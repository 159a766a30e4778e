package mcp

// Pair says who talks to whom, as metrics and logs show it.
type Pair struct {
	Client, Server                   Version
	ClientTransport, ServerTransport string // "streamable-http", "stdio", ...
	ClientName, ServerName           string // as they call themselves: a claim
}
