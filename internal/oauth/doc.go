// Package oauth lets OAuth discovery work through the bridge: a client that is
// told 401 finds, at the bridge's own public URL, where to log in for the
// server behind it (MCP basic "Authorization"; RFC 9728, RFC 8414).
//
// What clients are told is the server's own documents with the few members
// changed that name a place: `resource`, `issuer`, and the endpoints that
// clients without resource indicators use through the bridge. A Discovery
// belongs to one route. It answers three questions: what a challenge says
// (Rewrite, Metadata), what the documents say (Endpoints), and whether a token
// was issued for the bridge rather than for the server (Withholds).
//
// Where the bridge checks tokens itself (Own) the documents are about the bridge,
// by the operator's word.
//
// It refuses to invent: where the server has no document there is none here.
// It reads no URL of another origin because an answer names it: only the
// server's own origin and those that the operator lists. It sends no
// credentials of a client but to an endpoint of an authorization server that
// the client itself addressed them to, and it issues no tokens.
package oauth
