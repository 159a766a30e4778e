package mcp

// Quirks are an operator's word on the repairs for known misbehaving peers
// (rewrite.Quirks), which otherwise act for the peers that are listed there.
type Quirks struct {
	// Off turns all of them off.
	Off bool
	// Rules stand before that list: the first one of a quirk that fits the peers
	// decides about it.
	Rules []QuirkRule
}

// QuirkRule turns a quirk on or off for some peers.
type QuirkRule struct {
	// Quirk is its name.
	Quirk string
	// Client and Server say between whom; what is empty fits all.
	Client, Server ClientMatch
	Enabled        bool
}

// fits reports whether a rule is meant for a conversation between them.
func (r QuirkRule) fits(client, server Peer) bool {
	return r.Client.Fits(client) && r.Server.Fits(server)
}

// Decide returns what the operator says about a quirk between two peers;
// said is false where the operator says nothing.
func (q Quirks) Decide(quirk string, client, server Peer) (enabled, said bool) {
	if q.Off {
		return false, true
	}
	for _, r := range q.Rules {
		if r.Quirk == quirk && r.fits(client, server) {
			return r.Enabled, true
		}
	}
	return false, false
}
