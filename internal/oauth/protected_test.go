package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

const (
	prmMCP  = "/.well-known/oauth-protected-resource/mcp"
	prmRoot = "/.well-known/oauth-protected-resource"
	asRoot  = "/.well-known/oauth-authorization-server"
	asMCP   = "/.well-known/oauth-authorization-server/mcp"
)

// shownPRM is upPRM as clients of the bridge see it.
var shownPRM = strings.Replace(compact(upPRM), "https://up.example/mcp", "https://bridge.example/mcp", 1)

func compact(text string) string { return string(mcp.Raw(text).Compact()) }

// Report 138, auth-prm, auth-prm-path-probing: both forms, with the URL that
// the client typed; everything else as the server has it.
func TestReport138(t *testing.T) {
	w := newWorld().has(upstreamOrigin+prmRoot, strings.Replace(upPRM, "https://up.example/mcp", "https://up.example", 1))
	all := site(t).Endpoints([]*Discovery{discovery(t, w, nil)})
	for _, path := range []string{prmMCP, prmRoot} {
		got := get(all, path, "Origin", "https://page.example", "MCP-Protocol-Version", "1999-01-01")
		is(t, got, 200, shownPRM)
		h := got.Header()
		if h.Get("Content-Type") != "application/json" || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%v", h)
		}
	}
	is(t, get(all, prmRoot+"/sse"), 200, strings.Replace(shownPRM, "bridge.example/mcp", "bridge.example/sse", 1))
	w.only(t, upstreamOrigin)
	for _, h := range w.header {
		if h.Get("Authorization") != "" || h.Get("Origin") != "" || h.Get("Mcp-Protocol-Version") != "" {
			t.Errorf("the server got %v", h)
		}
	}
}

// Report 143: a path that nobody has is 404, not 401 and no redirect.
func TestReport143(t *testing.T) {
	all := site(t).Endpoints([]*Discovery{discovery(t, protectedWorld(), nil)})
	for _, path := range []string{
		prmRoot + prmRoot, "/mcp/.well-known/oauth-protected-resource", prmRoot + "/other", "/.well-known/openid-configuration",
	} {
		if all[path] != nil {
			t.Errorf("%s is served", path)
		}
	}
}

// Report 139: the document is read where the server says, and elsewhere if
// that is 404.
func TestReport139(t *testing.T) {
	for name, c := range map[string]struct{ hint, at string }{
		"where it says":                        {upstreamOrigin + "/docs/prm", "/docs/prm"},
		"404 there, path-inserted":             {upstreamOrigin + "/mcp" + prmRoot, prmMCP},
		"404 there, root":                      {upstreamOrigin + "/mcp" + prmRoot, prmRoot},
		"by another name, at the same path":    {"http://localhost:8000/mcp" + prmRoot, "/mcp" + prmRoot},
		"by another name, and nothing is that": {"http://localhost:8000/x", prmMCP},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld().has(upstreamOrigin+c.at, upPRM)
			d := discovery(t, w, nil)
			got := rewritten(t, d, 401, `Bearer error="invalid_token", resource_metadata="`+c.hint+`"`)
			if len(got) != 1 || got[0] != `Bearer error="invalid_token", `+pointer {
				t.Errorf("%q", got)
			}
			is(t, get(site(t).Endpoints([]*Discovery{d}), prmMCP), 200, shownPRM)
			w.only(t, upstreamOrigin)
		})
	}
}

func TestResourceDocument(t *testing.T) {
	for name, c := range map[string]struct {
		has    string
		change func(*Config)
		want   string // "" is 404
	}{
		"another public name of the server": {`{"resource":"https://public.example/x","authorization_servers":["a"]}`, nil,
			`{"resource":"https://bridge.example/mcp","authorization_servers":["a"]}`},
		"no resource": {`{"authorization_servers":["a"]}`, nil, `{"authorization_servers":["a"],"resource":"https://bridge.example/mcp"}`},
		"no authorization server stays none": {`{"resource":"https://up.example/mcp"}`, nil,
			`{"resource":"https://bridge.example/mcp"}`},
		"signed for the server's resource": {`{"resource":"https://up.example/mcp","signed_metadata":"a.b.c"}`, nil, `{"resource":"https://bridge.example/mcp"}`},
		"server and bridge by one name stay untouched": {`{"resource" : "https://bridge.example/mcp","signed_metadata":"a.b.c"}`, nil,
			`{"resource" : "https://bridge.example/mcp","signed_metadata":"a.b.c"}`},
		"resource: upstream stays untouched": {upPRM, func(c *Config) { c.Resource = ResourceUpstream }, upPRM},
		"resource: public":                   {upPRM, func(c *Config) { c.Resource = ResourcePublic }, shownPRM},
		"another resource of that origin":    {`{"resource":"https://up.example/other","authorization_servers":["a"]}`, nil, ""},
		"a longer name":                      {`{"resource":"https://up.example/mcp2"}`, nil, ""},
		"a shorter name":                     {`{"resource":"https://up.example/mc"}`, nil, ""},
		"as long as may be":                  {upPRM + strings.Repeat(" ", maxDocument-len(upPRM)), nil, shownPRM},
		"longer":                             {upPRM + strings.Repeat(" ", maxDocument-len(upPRM)+1), nil, ""},
		"a name that is no URL":              {`{"resource":"mcp"}`, nil, ""},
		"a name that is broken":              {`{"resource":"%zz"}`, nil, ""},
		"an error with status 200":           {`{"error":"not found"}`, nil, ""},
		"an array":                           {`[]`, nil, ""},
		"HTML":                               {`<html>`, nil, ""},
		"not UTF-8":                          {"{\"resource\":\"https://up.example/mcp\",\"a\":\"\xff\"}", nil, ""},
		"two values":                         {`{"resource":"https://up.example/mcp"}{}`, nil, ""},
		"members twice": {`{"resource":"x","a":1,"resource":"https://up.example/mcp"}`, nil,
			`{"a":1,"resource":"https://bridge.example/mcp"}`},
	} {
		t.Run(name, func(t *testing.T) {
			d := discovery(t, newWorld().has(upstreamOrigin+prmMCP, c.has), c.change)
			got := get(site(t).Endpoints([]*Discovery{d}), prmMCP)
			if c.want == "" {
				is(t, got, 404, `{"error":"not_found","error_description":"the server behind the bridge has no such document"}`)
				return
			}
			is(t, got, 200, c.want)
		})
	}
}

// auth-oidc-discovery: for a client that cannot read OpenID discovery the
// bridge has a copy, and says so to nobody else.
func TestOpenIDDiscovery(t *testing.T) {
	w := newWorld().has(upstreamOrigin+prmMCP, upPRM).has(loginOrigin+"/.well-known/openid-configuration", loginMeta)
	d := discovery(t, w, func(c *Config) { c.Origins, c.ReadsOpenID = []string{loginOrigin}, oidcAware })
	other := discovery(t, w, func(c *Config) { c.Paths = []string{"/other"} })
	all := site(t).Endpoints([]*Discovery{d, other})
	is(t, get(all, prmMCP, "MCP-Protocol-Version", "2025-11-25"), 200, shownPRM)
	is(t, get(all, prmMCP), 200, shownPRM)
	old := strings.Replace(shownPRM, "https://login.example", "https://bridge.example/mcp", 1)
	is(t, get(all, prmMCP, "MCP-Protocol-Version", "2025-06-18"), 200, old)
	is(t, get(all, asMCP), 200, `{"issuer":"https://bridge.example/mcp","authorization_endpoint":"https://login.example/auth?tenant=1","token_endpoint":"https://login.example/tok","registration_endpoint":"https://login.example/reg","code_challenge_methods_supported":["S256"],"jwks_uri":"https://login.example/keys","client_id_metadata_document_supported":true}`)

	w.has(loginOrigin+asRoot, loginMeta) // RFC 8414 is enough for everybody
	again := site(t).Endpoints([]*Discovery{discovery(t, w, func(c *Config) { c.Origins, c.ReadsOpenID = []string{loginOrigin}, oidcAware })})
	is(t, get(again, prmMCP, "MCP-Protocol-Version", "2025-06-18"), 200, shownPRM)
}

func TestDocumentMethods(t *testing.T) {
	all := site(t).Endpoints([]*Discovery{discovery(t, protectedWorld(), nil)})
	got := ask(all, http.MethodOptions, prmMCP, "", "Origin", "https://page.example", "Access-Control-Request-Headers", "mcp-protocol-version")
	is(t, got, 204, "")
	if h := got.Header(); h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Methods") != "GET, HEAD" || h.Get("Access-Control-Allow-Headers") == "" {
		t.Errorf("%v", h)
	}
	got = ask(all, http.MethodPost, prmMCP, "x")
	is(t, got, 405, "")
	if got.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("%v", got.Header())
	}
}

// A server that is down is not one without a document.
func TestDocumentOfADeadServer(t *testing.T) {
	w := protectedWorld()
	var told []string
	d := discovery(t, w, func(c *Config) {
		c.Upstream = "http://dead.example/mcp?token=secret"
		c.Failed = func(err error) { told = append(told, err.Error()) }
	})
	is(t, get(site(t).Endpoints([]*Discovery{d}), prmMCP), 502, "")
	is(t, get(site(t).Endpoints([]*Discovery{d}), asMCP), 502, "")
	if len(told) != 1 || told[0] != "oauth: reading http://dead.example/.well-known/oauth-protected-resource/mcp: connection refused" {
		t.Errorf("%q", told)
	}
}

// Without a configured URL the place is that of the request.
func TestPlaceOfTheRequest(t *testing.T) {
	s := site(t)
	s.Public = Base{}
	s.Place = func(r *http.Request) (Base, bool) {
		b, ok := BaseAt(&url.URL{Scheme: "http", Host: r.Host})
		return b, ok && r.Host != "evil.example"
	}
	all := s.Endpoints([]*Discovery{discovery(t, protectedWorld(), nil)})
	is(t, get(all, "http://127.0.0.1:8080"+prmMCP), 200, strings.Replace(shownPRM, "https://bridge.example", "http://127.0.0.1:8080", 1))
	is(t, get(all, "http://evil.example"+prmMCP), 403, "")
	s.Place = nil
	is(t, get(s.Endpoints([]*Discovery{discovery(t, protectedWorld(), nil)}), prmMCP), 403, "")
}

// A proxy that takes a prefix away may do so with documents or not.
func TestPrefix(t *testing.T) {
	s := site(t)
	s.Public, _ = ParseBase("https://bridge.example/api")
	d := discovery(t, protectedWorld(), nil)
	all := s.Endpoints([]*Discovery{d})
	want := strings.Replace(shownPRM, "bridge.example/mcp", "bridge.example/api/mcp", 1)
	for _, path := range []string{prmMCP, prmRoot + "/api/mcp", prmRoot, prmRoot + "/api"} {
		is(t, get(all, path), 200, want)
	}
	at := s.At(&http.Request{URL: mustURL("/mcp"), Header: http.Header{"Mcp-Protocol-Version": {"v"}}})
	if at.Version != "v" || at.Path != "/mcp" {
		t.Errorf("%+v", at)
	}
	if got := d.Rewrite(t.Context(), at, 401, nil).Get("Www-Authenticate"); got != `Bearer resource_metadata="https://bridge.example/.well-known/oauth-protected-resource/api/mcp"` {
		t.Error(got)
	}
}

// A route at the root of the origin has the form without a path.
func TestRouteAtRoot(t *testing.T) {
	d := discovery(t, protectedWorld(), func(c *Config) { c.Paths = []string{"/", "/mcp"} })
	other := discovery(t, protectedWorld(), func(c *Config) { c.Paths = []string{"/other"} })
	all := site(t).Endpoints([]*Discovery{other, nil, d})
	is(t, get(all, prmRoot), 200, strings.Replace(shownPRM, "bridge.example/mcp", "bridge.example", 1))
	is(t, get(all, prmMCP), 200, shownPRM)
	if all[asRoot] != nil || all["/token"] != nil {
		t.Error("two routes share an origin")
	}
}
