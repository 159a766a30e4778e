package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Resource says which resource clients are told to ask a token for.
type Resource string

// The choices. The zero value shows the bridge's URL, as clients demand it
// (RFC 9728, 3.3), and passes on no token that was issued for that URL alone.
const (
	// ResourcePublic is the operator's word that the server accepts tokens
	// that were issued for the bridge's public URL.
	ResourcePublic Resource = "public"
	// ResourceUpstream leaves the server's own resource in the document:
	// tokens are the server's, but clients that compare it with the URL that
	// they use refuse it.
	ResourceUpstream Resource = "upstream"
)

// ResourceNames lists the choices that can be named.
func ResourceNames() []string { return []string{string(ResourcePublic), string(ResourceUpstream)} }

// Own is what the bridge says of a route where it checks tokens itself: then it
// is the protected resource, and its server is not asked.
type Own struct {
	Issuers []string // the authorization servers whose tokens are accepted, at least one
	Scopes  []string // those that clients shall ask for; none says nothing
}

// Config is what a Discovery knows of its route.
type Config struct {
	Upstream string   // URL of the MCP server: http, https, ws or wss; not used with Own
	Own      *Own     // nil for a route whose server checks tokens
	Paths    []string // where clients find the route, the main one first; each is a resource
	Resource Resource
	// Origins lists further origins that may be asked, as
	// https://login.example.com: those of authorization servers.
	Origins []string
	// AtOrigin gives the route the bridge's origin, where clients look that
	// know no protected resource metadata. A route that is alone has it anyway.
	AtOrigin bool
	// PKCE is the operator's word that the authorization server checks S256
	// code challenges, though it does not say so.
	PKCE bool
	// ReadsOpenID reports whether clients of a version read OpenID discovery
	// documents; nil means that all do.
	ReadsOpenID func(mcp.Version) bool
	// Transport makes the requests. It adds no credentials. Required.
	Transport http.RoundTripper
	// Failed hears why something could not be read, at most once a search;
	// nil hears nothing. The error holds no credentials.
	Failed func(error)
}

// Discovery is OAuth discovery for one route whose server gets the credentials
// of clients. It is safe for concurrent use. A nil Discovery, of a route whose
// server gets none of them, changes and serves nothing.
type Discovery struct {
	cfg      Config
	fetch    fetcher
	own      protected // of a route where the bridge checks tokens
	upstream *url.URL  // of the document's scheme, http or https; nil with own
	origin   string    // of upstream

	mu   sync.Mutex
	hint string // the resource_metadata that the server named last

	metadata cell[protected]
	server   cell[server]
	busy     chan struct{} // a place for each exchange with an authorization server
}

// maxRelays bounds the exchanges of a route with authorization servers that
// are under way at once.
const maxRelays = 16

// New returns the discovery of a route. It asks nothing yet.
func New(c Config) (*Discovery, error) {
	if len(c.Paths) == 0 || c.Transport == nil {
		return nil, errors.New("oauth: a route needs a path and a transport")
	}
	d := &Discovery{cfg: c, busy: make(chan struct{}, maxRelays)}
	d.fetch = fetcher{transport: c.Transport, allowed: map[string]bool{}}
	if err := d.about(); err != nil {
		return nil, err
	}
	for _, one := range c.Origins {
		b, err := ParseBase(one)
		if err != nil || b.prefix != "" {
			return nil, fmt.Errorf("oauth: %q is not an origin; write it as https://login.example.com", shown(one))
		}
		d.fetch.allowed[b.origin] = true
	}
	return d, nil
}

// about sets whose documents are shown.
func (d *Discovery) about() error {
	if d.cfg.Own != nil {
		return d.aboutBridge(*d.cfg.Own)
	}
	u, err := url.Parse(d.cfg.Upstream)
	if err != nil {
		return errors.New("oauth: the upstream is not a URL")
	}
	var ok bool
	if d.origin, ok = originOf(u); !ok {
		return errors.New("oauth: the upstream is not an http or WebSocket URL")
	}
	u.Scheme, _, _ = strings.Cut(d.origin, ":")
	d.upstream, d.fetch.allowed[d.origin] = u, true
	return nil
}

// aboutBridge makes the document of a route that the operator has described.
func (d *Discovery) aboutBridge(o Own) error {
	if len(o.Issuers) == 0 {
		return errors.New("oauth: a route that checks tokens needs an authorization server")
	}
	for _, one := range o.Issuers {
		b, err := ParseBase(one)
		if err != nil {
			return fmt.Errorf("oauth: the authorization server %q is not a URL; write it as https://login.example.com", shown(one))
		}
		d.fetch.allowed[b.origin] = true
	}
	doc := mcp.NewObject()
	doc.Set("authorization_servers", mcp.Strings(o.Issuers))
	if len(o.Scopes) > 0 {
		doc.Set("scopes_supported", mcp.Strings(o.Scopes))
	}
	doc.Set("bearer_methods_supported", mcp.Strings([]string{"header"}))
	d.own = protected{raw: doc.Raw(), issuers: o.Issuers}
	return nil
}

// canonical is the URL of the server as a resource: without query, and without
// a slash at its end.
func (d *Discovery) canonical() string {
	return d.origin + strings.TrimRight(d.upstream.EscapedPath(), "/")
}

// failed reports an error that is no plain absence.
func (d *Discovery) failed(err error) {
	if d.cfg.Failed != nil && err != nil {
		d.cfg.Failed(fmt.Errorf("oauth: %w", err))
	}
}

// heard remembers where the server says that its document is.
func (d *Discovery) heard(hint string) {
	d.mu.Lock()
	news := d.hint != hint
	d.hint = hint
	d.mu.Unlock()
	if news {
		d.metadata.doubt()
		d.server.doubt()
	}
}

// Metadata returns the URL of the protected resource metadata of a request's
// path, for a challenge of the bridge's own; "" where there is none.
func (d *Discovery) Metadata(at At) string {
	if d == nil || at.Base == (Base{}) {
		return ""
	}
	return at.Base.wellKnown(protectedResource, d.path(at.Path))
}

// path returns the path of the route that a request is taken for: its own if
// that is one, else the main one, as for the messages of HTTP+SSE.
func (d *Discovery) path(asked string) string {
	for _, p := range d.cfg.Paths {
		if strings.TrimRight(p, "/") == strings.TrimRight(asked, "/") {
			return p
		}
	}
	return d.cfg.Paths[0]
}

// described reports whether the bridge has a protected resource document for
// the route: the server has one, or has what one is made of.
func (d *Discovery) described(ctx context.Context) bool {
	if _, err := d.protected(ctx); err == nil {
		return true
	}
	_, err := d.authorization(ctx)
	return err == nil
}
