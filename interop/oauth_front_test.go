package interop

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

const protectedResource = "/.well-known/oauth-protected-resource"

// wide is the tool that wants a wider scope where there are scopes.
var wide = []byte(`"bigint"`)

// guarded is an MCP server of a style: a real SDK's server behind what checks tokens.
type guarded struct {
	*style
	ledger *ledger
	site   string // its origin
	path   string // of MCP
	login  *authServer
	logins *httptest.Server // where that is; nil if it is at the server's own origin
	behind http.Handler     // the SDK's server
	canary string

	mu    sync.Mutex
	name  string   // its resource, as its own document has it
	names []string // the resources that tokens may be for
}

// newGuarded starts a server of a style before the SDK's server at a URL.
func newGuarded(t *testing.T, s *style, l *ledger, peer, canary string) *guarded {
	t.Helper()
	to, err := url.Parse(peer)
	must(t, err)
	login, err := newAuthServer(s, l)
	must(t, err)
	g := &guarded{style: s, ledger: l, path: to.Path, login: login, canary: canary}
	g.behind = &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(&url.URL{Scheme: to.Scheme, Host: to.Host}) },
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	mux := http.NewServeMux()
	mux.HandleFunc(g.path, g.serve)
	if s.lane == "sse" {
		mux.HandleFunc("/messages", g.serve)
	}
	server := listening(t, l.watch(s.name, mux))
	g.site, g.name = server.URL, server.URL+g.path
	g.names = []string{g.name}
	login.home = g.homeOf
	switch {
	case s.own:
		login.name, login.issuer = s.name, g.site
		login.mount(mux)
	default:
		own := http.NewServeMux()
		login.mount(own)
		g.logins = listening(t, l.watch(login.name, own))
		login.issuer = g.logins.URL
	}
	if s.describes {
		mux.HandleFunc("GET "+protectedResource+g.path, g.describe)
	}
	return g
}

// listening serves on the loopback interface until the test ends. Streams that are
// open then are cut.
func listening(t *testing.T, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// behindBridge tells the server the URL by which clients of the bridge know it.
func (g *guarded) behindBridge(public string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.renamed:
		g.name, g.names = public, []string{public}
	case g.takesPublic:
		g.names = append(g.names, public)
	}
}

// is tells whether tokens for a resource are for this server.
func (g *guarded) is(resource string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.names, resource)
}

// called is its resource, as its own document has it.
func (g *guarded) called() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.name
}

// homeOf tells which server may see a token for a resource: this one, unless the token
// is for something else, or the bridge checks it.
func (g *guarded) homeOf(resource string) string {
	if g.checked || resource != "" && g.describes && !g.is(resource) {
		return ""
	}
	return g.style.name
}

func (g *guarded) describe(w http.ResponseWriter, _ *http.Request) {
	doc := map[string]any{"resource": g.called(), "authorization_servers": []string{g.login.issuer, g.canary}}
	if g.scopes {
		doc["scopes_supported"] = []string{"mcp:read"}
	}
	respond(w, http.StatusOK, doc)
}

// serve passes on what has a token that is good for it.
func (g *guarded) serve(w http.ResponseWriter, r *http.Request) {
	if g.checked {
		g.behind.ServeHTTP(w, r)
		return
	}
	token := bearerOf(r)
	granted, known := g.login.granted(token)
	if !known || g.describes && !g.is(granted.resource) {
		g.challenge(w, http.StatusUnauthorized, token)
		return
	}
	if g.scopes && bytes.Contains(readBody(r), wide) && !slices.Contains(strings.Fields(granted.scope), "mcp:write") {
		g.challenge(w, http.StatusForbidden, token)
		return
	}
	g.behind.ServeHTTP(w, r)
}

// challenge refuses a request as servers of the style do.
func (g *guarded) challenge(w http.ResponseWriter, status int, token string) {
	params := []string{`realm="mcp"`}
	switch {
	case status == http.StatusForbidden:
		params = append(params, `error="insufficient_scope"`, `scope="mcp:read mcp:write"`)
	case g.scopes:
		params = append(params, `scope="mcp:read"`)
	}
	if status == http.StatusUnauthorized && token != "" {
		params = append(params, `error="invalid_token"`)
	}
	if g.points {
		params = append(params, `resource_metadata="`+g.site+protectedResource+g.path+`"`)
	}
	w.Header().Set("WWW-Authenticate", "Bearer "+strings.Join(params, ", "))
	w.WriteHeader(status)
}

// readBody reads the body of a request and leaves it as it was.
func readBody(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body) // it is in memory
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body
}
