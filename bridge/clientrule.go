package bridge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// ClientRule is how some clients are served. It is chosen once for each
// conversation, by what the client says of itself when it opens; of several
// that fit, the first. What a client says is a claim: nothing in a rule may
// let it do more than others.
type ClientRule struct {
	Match mcp.ClientMatch
	// Options take the place of the route's, all of them.
	Options mcp.Options
	// RequestTimeout takes the place of the route's; 0 leaves that.
	RequestTimeout time.Duration
	// UpstreamVersions take the place of the route's, oldest first; empty leaves
	// those. A conversation that is shared among clients is the route's.
	UpstreamVersions []mcp.Version
}

// Valid reports what is wrong with a rule, as a *mcp.FieldError where it is
// about its match or its versions (the field "upstream_versions").
func (r ClientRule) Valid(l rewrite.Ladder) error {
	if err := r.Match.Valid(); err != nil {
		return err
	}
	if r.RequestTimeout < 0 {
		return &mcp.FieldError{Field: "request_timeout", Problem: "is less than nothing"}
	}
	known := l.Handshakes().Versions()
	for _, v := range r.UpstreamVersions {
		if !slices.Contains(known, v) {
			return &mcp.FieldError{Field: "upstream_versions", Problem: fmt.Sprintf("%q is no version with a handshake; those are %s", v, joined(known))}
		}
	}
	if !slices.IsSorted(r.UpstreamVersions) {
		return &mcp.FieldError{Field: "upstream_versions", Problem: "the oldest must come first"}
	}
	return r.Options.Valid()
}

func joined(versions []mcp.Version) string {
	texts := make([]string, len(versions))
	for i, v := range versions {
		texts[i] = string(v)
	}
	return strings.Join(texts, ", ")
}

// ruleOf returns the number of the rule for a client, counted from 1; 0 says
// that it is served as the route says.
func (s *Settings) ruleOf(client mcp.Peer) int {
	return 1 + slices.IndexFunc(s.Clients, func(r ClientRule) bool { return r.Match.Fits(client) })
}

// serveAs applies the rule of that number to a conversation that opens.
func (c *conversation) serveAs(number int) {
	if number > 0 {
		c.rule = &c.bridge.Clients[number-1]
	}
}

// options are what applies to the messages of the conversation.
func (c *conversation) options() mcp.Options {
	if c.rule != nil {
		return c.rule.Options
	}
	return c.bridge.Options
}

// requestTimeout is how long the server may stay silent on a request.
func (c *conversation) requestTimeout() time.Duration {
	if c.rule != nil && c.rule.RequestTimeout > 0 {
		return c.rule.RequestTimeout
	}
	return c.bridge.RequestTimeout
}

// upstreamVersions are those offered to the server.
func (c *conversation) upstreamVersions() []mcp.Version {
	if c.rule != nil && len(c.rule.UpstreamVersions) > 0 && c.bridge.shared == nil {
		return c.rule.UpstreamVersions
	}
	return c.bridge.UpstreamVersions
}
