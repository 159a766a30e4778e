package oauth

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// The names of documents, between an origin and a path.
const (
	protectedResource   = "/.well-known/oauth-protected-resource"
	authorizationServer = "/.well-known/oauth-authorization-server"
	openidConfiguration = "/.well-known/openid-configuration"
)

// protected is the protected resource metadata of the server (RFC 9728).
type protected struct {
	raw      mcp.Raw  // as the server has it
	resource string   // its own name; "" if it says none
	issuers  []string // its authorization servers
}

// protected returns what the server says of itself, or the operator of the
// route.
func (d *Discovery) protected(ctx context.Context) (protected, error) {
	if d.cfg.Own != nil {
		return d.own, nil
	}
	return d.metadata.get(ctx, d.findProtected)
}

// findProtected reads the first document about the server among the places
// where it may be. A place that fails does not hide the next one.
func (d *Discovery) findProtected(ctx context.Context) (protected, error) {
	var failure error
	for _, place := range d.places() {
		doc, err := d.fetch.document(ctx, place)
		if err == nil {
			if p, ok := d.readProtected(doc); ok {
				return p, nil
			}
			continue
		}
		if failure == nil && !errors.Is(err, errAbsent) {
			failure = err
		}
	}
	if failure == nil {
		return protected{}, errAbsent
	}
	d.failed(failure)
	return protected{}, failure
}

// places lists where the document may be: where the server said, then the two
// places of the specification. A server that is known by another name outside
// names that one, so the path that it said is also tried at its own origin.
func (d *Discovery) places() []string {
	d.mu.Lock()
	hint := d.hint
	d.mu.Unlock()
	var all []string
	if u, err := url.Parse(hint); err == nil && hint != "" {
		if _, ok := d.fetch.permits(hint); ok {
			all = append(all, hint)
		} else if strings.HasPrefix(u.Path, "/") {
			all = append(all, d.origin+u.EscapedPath())
		}
	}
	own := strings.TrimRight(d.upstream.EscapedPath(), "/")
	all = append(all, d.origin+protectedResource+own)
	if own != "" {
		all = append(all, d.origin+protectedResource)
	}
	return all
}

// readProtected takes a document that tells something and that is not about
// another resource of the same origin.
func (d *Discovery) readProtected(doc *mcp.Object) (p protected, ok bool) {
	p = protected{raw: doc.Raw(), resource: doc.Text("resource")}
	if list := doc.Array("authorization_servers"); list != nil {
		for i := range min(list.Len(), maxIssuers) {
			if issuer, isText := list.At(i).Text(); isText && issuer != "" {
				p.issuers = append(p.issuers, issuer)
			}
		}
	}
	if p.resource == "" {
		return p, len(p.issuers) > 0
	}
	return p, d.mayBe(p.resource)
}

// maxIssuers bounds the authorization servers that are looked at.
const maxIssuers = 8

// mayBe reports whether a resource is the server: it has another origin, as
// one has that is known outside by another name, or the server is it or lies
// below it.
func (d *Discovery) mayBe(resource string) bool {
	u, err := url.Parse(resource)
	if err != nil {
		return false
	}
	if origin, ok := originOf(u); !ok || origin != d.origin {
		return ok
	}
	own, its := strings.TrimRight(d.upstream.EscapedPath(), "/")+"/", strings.TrimRight(u.EscapedPath(), "/")+"/"
	return strings.HasPrefix(own, its)
}

// At is where a client reached the bridge.
type At struct {
	Base Base
	Path string // of the request, as the bridge sees it
	// Version is what the client says it speaks, or "".
	Version mcp.Version
}

// resourceDocument makes the document that a client reads. What it does not
// name stays as the server has it.
func (d *Discovery) resourceDocument(ctx context.Context, at At) (*mcp.Object, error) {
	p, err := d.protected(ctx)
	if errors.Is(err, errAbsent) {
		return d.madeDocument(ctx, at)
	}
	if err != nil {
		return nil, err
	}
	doc, _ := mcp.ParseObject(p.raw)
	if public := at.Base.URL(at.Path); p.resource == "" || d.cfg.Resource != ResourceUpstream && p.resource != public {
		doc.Set("resource", mcp.Quote(public))
		doc.Delete("signed_metadata") // it would count more, and names the server's resource
	}
	if d.needsCopy(at.Version) {
		if s, err := d.authorization(ctx); err == nil && s.openid {
			doc.Set("authorization_servers", mcp.Strings([]string{at.Base.URL(at.Path)}))
			doc.Delete("signed_metadata")
		}
	}
	return doc, nil
}

// needsCopy reports a client that does not read OpenID discovery documents.
func (d *Discovery) needsCopy(v mcp.Version) bool {
	return v != "" && d.cfg.ReadsOpenID != nil && !d.cfg.ReadsOpenID(v)
}

// madeDocument makes the document for a server of a revision that had none
// yet, and is its own authorization server or knows it.
func (d *Discovery) madeDocument(ctx context.Context, at At) (*mcp.Object, error) {
	s, err := d.authorization(ctx)
	if err != nil {
		return nil, err
	}
	issuer := s.issuer
	if issuer == "" {
		issuer = at.Base.URL(at.Path) // the bridge has its document
	}
	doc := mcp.NewObject()
	doc.Set("resource", mcp.Quote(at.Base.URL(at.Path)))
	doc.Set("authorization_servers", mcp.Strings([]string{issuer}))
	return doc, nil
}
