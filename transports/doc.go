// Package transports holds what every MCP transport has in common: exchanges
// and pipes toward clients, conversations toward servers, and the bounded
// stream of messages between a conversation and whoever writes it out.
//
// It refuses to know protocol versions: what a transport must do differently
// for a revision is told to it as mcp.Traits. It refuses to translate.
package transports
