package configs

import (
	"net/url"
	"strings"
)

// OAuth is what the operator knows of how clients of a route log in.
type OAuth struct {
	Resource TokenResource
	Origins  []string // further origins that may be asked: those of authorization servers
	AtOrigin bool     // the route whose login is found at the origin itself
	PKCE     bool     // the authorization server checks S256 code challenges, though it does not say so
}

// TokenResource says which resource clients are told to ask a token for.
type TokenResource string

// The resources.
const (
	ResourceAuto     TokenResource = ""         // the bridge's; no token for that alone is passed on
	ResourcePublic   TokenResource = "public"   // the bridge's; the server accepts such tokens
	ResourceUpstream TokenResource = "upstream" // the server's
)

// TokenResources returns the resources that can be named.
func TokenResources() []string { return []string{string(ResourcePublic), string(ResourceUpstream)} }

func (o *OAuth) fields() object {
	return object{
		{key: "resource", value: choice[TokenResource]{&o.Resource, TokenResources()}, doc: "Which resource clients are told to ask a token for. Without it, that of the bridge, and a token for that alone is not passed on; public says that the server accepts it; upstream shows the server's own."},
		{key: "origins", value: list[string]{of: &o.Origins}, doc: "Origins of authorization servers that the bridge may ask on behalf of older clients, beside the server's own, as https://login.example.com."},
		{key: "at_origin", value: yesNo{&o.AtOrigin}, doc: "Whether the oldest clients, which look at the origin itself, find this route's login there; a route that is alone has it anyway."},
		{key: "pkce", value: yesNo{&o.PKCE}, doc: "Whether the authorization server checks S256 code challenges though it does not say so."},
	}
}

func (o OAuth) check(p *Problems) {
	if o.Resource != ResourceAuto {
		p.oneOf("oauth.resource", string(o.Resource), TokenResources())
	}
	for _, origin := range o.Origins {
		if !isOrigin(origin) || !strings.HasPrefix(origin, "http") {
			p.add("oauth.origins", "%q is not an origin; write it as https://login.example.com, without a path", origin)
		}
	}
}

func (s Server) checkPublicURL(p *Problems) {
	if s.PublicURL == "" {
		return
	}
	u, err := url.Parse(s.PublicURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		p.add("public_url", "this is not the URL by which clients see the bridge; write it as https://mcp.example.com, with the prefix of a proxy in front if there is one")
	}
}

// checkLogins checks that one route at most is found at the origin itself.
func (c Config) checkLogins(p *Problems) {
	first := -1
	for i, r := range c.Routes {
		switch {
		case !r.OAuth.AtOrigin:
		case first >= 0:
			p.add(routeAt(i)+".oauth.at_origin", "%s is there already; the origin has room for one", routeAt(first))
		default:
			first = i
		}
	}
}
