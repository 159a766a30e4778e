package mcp

// Version is a protocol version as peers write it: an ISO date, so the usual
// string order is the order in time. Which versions exist is not known here;
// the ladder in package rewrite lists them.
type Version string

// IsDate reports whether v has the form of a protocol version.
func (v Version) IsDate() bool {
	if len(v) != len("2006-01-02") || v[4] != '-' || v[7] != '-' {
		return false
	}
	for i, c := range []byte(v) {
		if i != 4 && i != 7 && !isDigit(c) {
			return false
		}
	}
	return true
}

// Traits are the facts about a revision that transports and handshakes act
// on. They are data on the ladder's rungs, so that nobody else needs to ask
// for a version.
type Traits struct {
	Opening           string // the method that opens a conversation
	Sessions          bool   // HTTP conversations carry a session id
	VersionHeader     bool   // HTTP requests after the handshake name the version
	RoutingHeaders    bool   // HTTP requests repeat method and name in headers
	Priming           bool   // HTTP event streams may start with an empty event
	DisconnectCancels bool   // a client that leaves its response stream cancels
	PostOnly          bool   // HTTP has no standalone stream
	Batches           bool   // the revision defines JSON-RPC batches
	IDlessErrors      bool   // an error response may lack an id on a stream
	ReadsOpenID       bool   // clients read OpenID discovery documents too (authorization)
	Status            map[int]int
}
