package interop

import (
	"path/filepath"
	"slices"
)

// style is a way in which servers want clients to log in, and a route of the bridge
// before such a server.
type style struct {
	name      string // in results and exceptions
	peer      string // the SDK's server behind, by its alias
	lane      string // what it speaks
	route     string // the settings of its route, after its upstream
	among     string // the bridge that it shares with others; "" is one of its own
	elsewhere bool   // another route has the bridge's origin, so clients that look there are not for this one

	own         bool   // it is its own authorization server, at its origin
	describes   bool   // it has protected resource metadata, and takes no token that is not for it
	points      bool   // its challenges say where that is
	scopes      bool   // it has scopes: one tool wants more than the first login gives
	takesPublic bool   // it takes tokens for the bridge's URL too
	renamed     bool   // behind the bridge the bridge's URL is its own name
	checked     bool   // it wants no tokens: the bridge checks them
	metadata    string // where its authorization server has metadata

	jwt, renews, iss bool // of its authorization server
}

var styles = []*style{
	{name: "2024-11-05-sse", peer: "sse:sdk-1.9.0", lane: "sse", own: true, metadata: rfc8414, jwt: true, renews: true},
	{name: "2025-03-26", peer: "sdk-1.10.2", lane: "http", own: true, metadata: rfc8414, renews: true},
	// Nobody says of an authorization server without metadata that it checks PKCE, but
	// the operator of the route.
	{name: "2025-03-26-silent", peer: "sdk-1.10.2", lane: "http", own: true, jwt: true, renews: true, route: "oauth: {pkce: true}"},
	{
		name: "2025-06-18", peer: "sdk-1.17.5", lane: "http", describes: true, points: true, metadata: rfc8414, jwt: true, renews: true,
		takesPublic: true, route: "oauth: {resource: public, origins: [LOGIN]}",
	},
	{
		name: "2025-06-18-unsettled", peer: "sdk-1.17.5", lane: "http", describes: true, points: true, metadata: rfc8414, jwt: true,
		route: "oauth: {origins: [LOGIN]}",
	},
	{
		name: "2025-06-18-upstream", peer: "sdk-1.17.5", lane: "http", describes: true, points: true, metadata: rfc8414, jwt: true,
		route: "oauth: {resource: upstream, origins: [LOGIN]}",
	},
	{
		name: "2025-11-25", peer: "sdk-1.32.2", lane: "http", describes: true, scopes: true, metadata: openid, jwt: true,
		takesPublic: true, route: "oauth: {resource: public, origins: [LOGIN]}",
	},
	{
		name: "2026-07-28", peer: "v2", lane: "http", describes: true, points: true, scopes: true, metadata: rfc8414, jwt: true, renews: true,
		iss: true, renamed: true, route: "oauth: {origins: [LOGIN]}",
	},
	{
		name: "several-first", among: "several", peer: "sdk-1.17.5", lane: "http", describes: true, points: true, metadata: rfc8414, jwt: true,
		takesPublic: true, route: "oauth: {resource: public, origins: [LOGIN], at_origin: true}",
	},
	{
		name: "several-second", among: "several", peer: "sdk-1.32.2", lane: "http", describes: true, scopes: true, metadata: openid, jwt: true,
		takesPublic: true, elsewhere: true, route: "oauth: {resource: public, origins: [LOGIN]}",
	},
	{
		name: "bridge", peer: "sdk-1.17.5", lane: "http", checked: true, metadata: rfc8414, jwt: true, renews: true,
		route: "oauth: {origins: [LOGIN]}\n  auth: {issuers: [{issuer: LOGIN, jwks: LOGIN/jwks, audiences: [PUBLIC]}]}",
	},
}

// asksFor is how a client tells for which server it wants a token.
type asksFor int

const (
	byOrigin   asksFor = iota // it knows the bridge's origin only, where the bridge says it
	byNothing                 // it finds the authorization server itself and says nothing there
	byResource                // it says the resource of the protected resource metadata
)

// oauthClient is a real client with OAuth.
type oauthClient struct {
	name, lane string
	argv       []string
	asks       asksFor
	renews     bool // it renews a token without a person
	stepsUp    bool // it asks for more scope when it is told to
	reasks     bool // it does so also where it could renew its token
}

func oauthClients() []oauthClient {
	node := func(alias string) []string {
		return []string{"node", filepath.Join("peers", "node", "oauth-client.mjs"), alias}
	}
	goSDK := filepath.Join(binDir, "oauth")
	return []oauthClient{
		{name: "ts-1.9.0", lane: "sse", argv: node("sdk-1.9.0"), renews: true},
		{name: "ts-1.10.2", lane: "sse", argv: node("sdk-1.10.2"), renews: true},
		{name: "ts-1.10.2", lane: "http", argv: node("sdk-1.10.2"), renews: true},
		{name: "ts-1.12.3", lane: "http", argv: node("sdk-1.12.3"), asks: byNothing, renews: true},
		{name: "ts-1.17.5", lane: "http", argv: node("sdk-1.17.5"), asks: byResource, renews: true},
		{name: "ts-1.24.3", lane: "http", argv: node("sdk-1.24.3"), asks: byResource, renews: true, stepsUp: true},
		{name: "ts-1.32.2", lane: "http", argv: node("sdk-1.32.2"), asks: byResource, renews: true, stepsUp: true},
		{name: "ts-2.4.0", lane: "http", argv: node("v2-2026-07-28"), asks: byResource, renews: true, stepsUp: true, reasks: true},
		{name: "go-1.8.0", lane: "http", argv: []string{goSDK, "2025-11-25"}, asks: byResource, stepsUp: true, reasks: true},
		{name: "go-1.8.0-stateless", lane: "http", argv: []string{goSDK}, asks: byResource, stepsUp: true, reasks: true},
	}
}

// visits tells whether there is a way for a client to log in to a server. One that knows
// only the bridge's origin cannot say which of several routes it means.
func (c oauthClient) visits(s *style) bool {
	return !s.elsewhere || c.asks == byResource
}

// steps lists what a client does at a server.
func (c oauthClient) steps(s *style) []string {
	list := []string{"connect", "call"}
	if c.renews && s.renews {
		list = append(list, "refresh")
	}
	if s.scopes && c.stepsUp && (c.reasks || !s.renews) {
		list = append(list, "step-up")
	}
	return list
}

// wanted is the resource that the authorization server must be asked for, by a client
// that comes through the bridge.
func (c oauthClient) wanted(g *guarded, public string) string {
	switch {
	case c.asks == byResource:
		return public
	case g.checked && c.asks == byOrigin:
		return public // the bridge is what the token is for
	// OpenID discovery is beyond this client, so it logs in by the bridge's copy.
	case g.describes && (c.asks == byOrigin || g.metadata == openid):
		return g.called()
	}
	return ""
}

// peersBehind lists the SDKs' servers that are needed.
func peersBehind() (list []string) {
	for _, s := range styles {
		if !slices.Contains(list, s.peer) {
			list = append(list, s.peer)
		}
	}
	return list
}
