package main

import (
	"io"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/internal/oauth"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// newSite returns the bridge as clients see it. Where no public URL is
// configured it is as a request says, whose Host the guard knows.
func newSite(s configs.Server, guard *transports.Guard) *oauth.Site {
	public, _ := oauth.ParseBase(s.PublicURL) // it was checked; "" is none
	return &oauth.Site{
		Public: public,
		Place: func(r *http.Request) (oauth.Base, bool) {
			if !guard.Knows(r.Host) {
				return oauth.Base{}, false
			}
			return oauth.BaseAt(web.PublicURL(r))
		},
		Check: guard.Check,
	}
}

// newDiscovery returns how clients of a route find out where to log in; nil
// where they need not.
func newDiscovery(r configs.Route, c common) (*oauth.Discovery, error) {
	if servers := r.Servers(); len(r.Upstreams) > 0 { // those who forward credentials are of one origin, or said to agree
		one := servers[max(0, slices.IndexFunc(servers, forwards))]
		one.Path, one.SSEPath, one.MessagePath, one.WSPath = r.Path, r.SSEPath, r.MessagePath, r.WSPath
		r = one
	}
	config := oauth.Config{
		Upstream: r.Upstream, Paths: loginPaths(r), Resource: oauth.Resource(r.OAuth.Resource),
		Origins: r.OAuth.Origins, AtOrigin: r.OAuth.AtOrigin, PKCE: r.OAuth.PKCE,
		ReadsOpenID: func(v mcp.Version) bool { return rewrite.Standard().Traits(v).ReadsOpenID },
		Failed: func(err error) {
			c.log.Debug().Str("cause", configs.Cause(err)).Msg("no document about where to log in could be read")
		},
	}
	switch {
	case len(r.Auth.Issuers) > 0:
		config.Own = ownLogin(r.Auth)
	case r.Auth.Given() || r.Command.Given() || r.EffectiveCredentials() != mcp.CredentialsForward:
		return nil, nil
	}
	site, err := siteOf(r)
	if err != nil {
		return nil, err
	}
	config.Transport = web.NewTransport(site)
	return oauth.New(config)
}

// forwards reports a server that gets its clients' own credentials.
func forwards(r configs.Route) bool {
	return !r.Command.Given() && r.EffectiveCredentials() == mcp.CredentialsForward
}

// loginPaths are the paths of a route that clients take for what they log in
// to.
func loginPaths(r configs.Route) []string {
	paths := []string{r.Path}
	if further, ok := r.FurtherPath(); ok {
		paths = append(paths, further)
	}
	if stream, _, ok := r.SSE(); ok {
		paths = append(paths, stream)
	}
	if path, ok := r.Sockets(); ok {
		paths = append(paths, path)
	}
	return paths
}

func ownLogin(a configs.Auth) *oauth.Own {
	own := &oauth.Own{}
	for _, i := range a.Issuers {
		own.Issuers = append(own.Issuers, i.Issuer)
		own.Scopes = append(own.Scopes, i.Scopes...)
	}
	return own
}

// signpost stands between a route and its server, and tells clients that the
// server refuses where to log in at the bridge.
type signpost struct {
	at  func(*http.Request) oauth.At
	now atomic.Pointer[oauth.Discovery]
}

// before returns a handler whose refusals by next point to the bridge. path is
// the place whose login it is, "" the one that was asked for.
func (s *signpost) before(next http.Handler, path func() string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := s.now.Load()
		if d == nil {
			next.ServeHTTP(w, r)
			return
		}
		at := s.at(r)
		if path != nil {
			at.Path = path()
		}
		if d.Withholds(r.Context(), at, r.Header.Get("Authorization")) {
			withhold(w)
			return
		}
		next.ServeHTTP(&pointing{ResponseWriter: w, request: r, at: at, to: d}, r)
	})
}

// withhold answers for a token that must not reach the server. A 401 would
// make the client log in again, with the same outcome.
func withhold(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	io.WriteString(w, `{"error":"access_denied","error_description":"this token was issued for the bridge and not for the server behind it, which would have to refuse it; the operator of the bridge can set oauth.resource, as docs/authorization.md tells"}`+"\n") //nolint:errcheck // the client left
}

// pointing is a response whose challenges lead to the bridge.
type pointing struct {
	http.ResponseWriter
	request *http.Request
	at      oauth.At
	to      *oauth.Discovery
}

// WriteHeader implements http.ResponseWriter.
func (p *pointing) WriteHeader(status int) {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		h := p.Header()
		if value := p.to.Rewrite(p.request.Context(), p.at, status, h).Values("Www-Authenticate"); len(value) > 0 {
			h["Www-Authenticate"] = value
		}
	}
	p.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach what is behind.
func (p *pointing) Unwrap() http.ResponseWriter { return p.ResponseWriter }
