package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Site is the bridge as clients see it.
type Site struct {
	// Public is the configured public URL. Without it, Place tells where the
	// client of a request reached the bridge; ok is false for a Host that the
	// listener does not serve.
	Public Base
	Place  func(*http.Request) (b Base, ok bool)
	// Check returns why a request must not be passed on to an authorization
	// server: its Host or its web page is a stranger. Documents are for all
	// pages. Required.
	Check func(*http.Request) error
}

// At returns where a request reached the bridge; without a place its Base is
// zero, which Rewrite and Withholds take for "leave it".
func (s Site) At(r *http.Request) At {
	at := At{Base: s.Public, Path: r.URL.Path, Version: mcp.Version(r.Header.Get(mcp.HeaderVersion))}
	if at.Base == (Base{}) && s.Place != nil {
		if b, ok := s.Place(r); ok {
			at.Base = b
		}
	}
	return at
}

// Endpoints returns what the routes serve for discovery, by its path, without
// a slash at the end. At the origin itself, which has no path that tells the
// routes apart, is the route that is alone or that the operator put there: a
// client that was led to another route's authorization server would give its
// token to the wrong server.
func (s Site) Endpoints(routes []*Discovery) map[string]http.Handler {
	all := map[string]http.Handler{}
	add := func(name, path string, h http.Handler) {
		path = strings.TrimRight(path, "/")
		prefix, _ := url.PathUnescape(s.Public.prefix)
		for _, key := range []string{name + path, name + prefix + path} { // a proxy may take the prefix away here too
			if all[key] == nil {
				all[key] = h
			}
		}
	}
	owner := ownerOf(routes)
	for _, d := range routes {
		if d == nil {
			continue
		}
		for _, p := range d.cfg.Paths {
			add(protectedResource, p, s.resource(d, p))
			if strings.TrimRight(p, "/") != "" { // at the origin itself it is the owner's
				add(authorizationServer, p, s.metadata(d, p, d == owner))
			}
		}
	}
	if owner == nil {
		return all
	}
	add(protectedResource, "", s.resource(owner, owner.cfg.Paths[0]))
	add(authorizationServer, "", s.originMetadata(owner))
	all[authorizePath] = s.relay(owner, http.MethodGet, owner.passAuthorize)
	all[tokenPath] = s.relay(owner, http.MethodPost, owner.passToken)
	all[registerPath] = s.relay(owner, http.MethodPost, owner.passRegister)
	return all
}

func ownerOf(routes []*Discovery) (owner *Discovery) {
	n, named := 0, 0
	for _, d := range routes {
		switch {
		case d == nil:
			continue
		case d.cfg.AtOrigin:
			named++
			owner = d
		case named == 0:
			owner = d
		}
		n++
	}
	if named == 1 || named == 0 && n == 1 {
		return owner
	}
	return nil
}

// resource serves the protected resource metadata of a path.
func (s Site) resource(d *Discovery, path string) http.Handler {
	return s.document(path, d.resourceDocument)
}

// metadata serves the authorization server metadata that belongs to a path:
// for clients that were sent there by the document above, and those that try
// it by themselves.
func (s Site) metadata(d *Discovery, path string, shims bool) http.Handler {
	return s.document(path, func(ctx context.Context, at At) (*mcp.Object, error) {
		as, err := d.authorization(ctx)
		if err != nil {
			return nil, err
		}
		return d.serverDocument(as, at.Base, at.Base.URL(at.Path), shims), nil
	})
}

// originMetadata serves the metadata where clients look that know no protected
// resource metadata. They find none where the server has none, and then use
// the default endpoints, as they would without a bridge.
func (s Site) originMetadata(d *Discovery) http.Handler {
	return s.document("", func(ctx context.Context, at At) (*mcp.Object, error) {
		as, err := d.authorization(ctx)
		switch {
		case err != nil:
			return nil, err
		case as.silent:
			return nil, errAbsent
		}
		return d.serverDocument(as, at.Base, at.Base.Origin(), true), nil
	})
}

// document answers with a document. It needs no credentials, and every web
// page may read it.
func (s Site) document(path string, build func(context.Context, At) (*mcp.Object, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Cache-Control", "no-store")
		switch r.Method {
		case http.MethodGet, http.MethodHead:
		case http.MethodOptions:
			h.Set("Access-Control-Allow-Methods", "GET, HEAD")
			h.Set("Access-Control-Allow-Headers", "*, Authorization")
			w.WriteHeader(http.StatusNoContent)
			return
		default:
			notAllowed(w, "GET, HEAD")
			return
		}
		at := s.At(r)
		if at.Base == (Base{}) {
			fail(w, http.StatusForbidden, "access_denied", strangeHost)
			return
		}
		at.Path = path
		doc, err := build(r.Context(), at)
		if err != nil {
			explain(w, err)
			return
		}
		h.Set("Content-Type", "application/json")
		h.Set("X-Content-Type-Options", "nosniff")
		w.Write(doc.Raw()) //nolint:errcheck // the client left
	})
}

const strangeHost = "the Host header names a host that this listener does not serve"

// explain answers for a document that cannot be had.
func explain(w http.ResponseWriter, err error) {
	var odd *untrusted
	switch {
	case errors.As(err, &odd):
		fail(w, http.StatusNotFound, "not_found", odd.Error())
	case errors.Is(err, errAbsent):
		fail(w, http.StatusNotFound, "not_found", "the server behind the bridge has no such document")
	default:
		fail(w, http.StatusBadGateway, "server_error", "the server behind the bridge could not be asked for it; try again later")
	}
}

func notAllowed(w http.ResponseWriter, methods string) {
	w.Header().Set("Allow", methods)
	fail(w, http.StatusMethodNotAllowed, "invalid_request", "the methods here are "+methods)
}

// fail answers with an error as OAuth words it (RFC 6749, 5.2).
func fail(w http.ResponseWriter, status int, code, text string) {
	doc := mcp.NewObject()
	doc.Set("error", mcp.Quote(code))
	doc.Set("error_description", mcp.Quote(text))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	w.Write(doc.Raw()) //nolint:errcheck // the client left
}
