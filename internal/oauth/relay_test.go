package oauth

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func mayLogin(c *Config) { c.Origins = []string{loginOrigin} }

// shownMeta is loginMeta at the bridge's origin, for clients of 2025-03-26.
const shownMeta = `{"issuer":"https://bridge.example","authorization_endpoint":"https://bridge.example/authorize","token_endpoint":"https://bridge.example/token","registration_endpoint":"https://bridge.example/register","code_challenge_methods_supported":["S256"],"jwks_uri":"https://login.example/keys","client_id_metadata_document_supported":true}`

// auth-as-at-origin: a client of 2025-03-26 discards the path.
func TestMetadataAtOrigin(t *testing.T) {
	all := site(t).Endpoints([]*Discovery{discovery(t, protectedWorld(), mayLogin)})
	is(t, get(all, asRoot, "MCP-Protocol-Version", "2025-03-26"), 200, shownMeta) // auth-discovery-version-header
	is(t, get(all, asMCP), 200, strings.Replace(shownMeta, `bridge.example"`, `bridge.example/mcp"`, 1))
}

// auth-resource-indicator: what such a client does not say is said for it.
func TestResourceIsAdded(t *testing.T) {
	var got *http.Request
	var body string
	w := protectedWorld().serves(loginOrigin+"/tok", func(rw http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r, string(b)
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Cache-Control", "no-store, private")
		rw.Header().Set("Set-Cookie", "a=b")
		rw.WriteHeader(400)
		io.WriteString(rw, `{"error":"invalid_grant"}`)
	})
	all := site(t).Endpoints([]*Discovery{discovery(t, w, mayLogin)})
	const resource = "resource=https%3A%2F%2Fup.example%2Fmcp"

	for query, want := range map[string]string{
		"?client_id=c&state=a%26b&scope=x+y": "?tenant=1&client_id=c&state=a%26b&scope=x+y&" + resource,
		"":                                   "?tenant=1&" + resource,
		"?resource=https%3A%2F%2Fbridge.example%2Fmcp&a=b": "?tenant=1&resource=https%3A%2F%2Fbridge.example%2Fmcp&a=b", // report 141: never rewritten
	} {
		res := get(all, "/authorize"+query)
		if loc := res.Header().Get("Location"); res.Code != 302 || loc != "https://login.example/auth"+want {
			t.Errorf("%s: %d %s", query, res.Code, loc)
		}
		if res.Header().Get("Cache-Control") != "no-store" || res.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%v", res.Header())
		}
	}
	for form, want := range map[string]string{
		"grant_type=authorization_code&code=x%2By": "grant_type=authorization_code&code=x%2By&" + resource,
		"a=b&resource=c": "a=b&resource=c",
	} {
		res := ask(all, http.MethodPost, "/token", form, "Content-Type", "application/x-www-form-urlencoded; charset=utf-8",
			"Authorization", "Basic eDp5", "Cookie", "s=1", "X-Forwarded-For", "1.2.3.4", "Accept", "application/json")
		is(t, res, 400, `{"error":"invalid_grant"}`)
		if body != want {
			t.Errorf("%s became %s", form, body)
		}
		if h := res.Header(); h.Get("Set-Cookie") != "" || h.Get("Cache-Control") != "no-store, private" || h.Get("Content-Type") != "application/json" {
			t.Errorf("%v", h)
		}
		if h := got.Header; h.Get("Authorization") != "Basic eDp5" || h.Get("Cookie") != "" || h.Get("X-Forwarded-For") != "" || h.Get("Accept") != "application/json" {
			t.Errorf("the authorization server got %v", h)
		}
	}
}

// auth-dcr-should: a registration passes as it is.
func TestRegister(t *testing.T) {
	const registration = `{"redirect_uris" : ["http://localhost/cb"]}`
	w := protectedWorld().serves(loginOrigin+"/reg", func(rw http.ResponseWriter, r *http.Request) {
		if b, _ := io.ReadAll(r.Body); string(b) != registration {
			t.Errorf("%s", b)
		}
		rw.WriteHeader(http.StatusCreated)
		io.WriteString(rw, `{"client_id":"c"}`)
	})
	all := site(t).Endpoints([]*Discovery{discovery(t, w, mayLogin)})
	is(t, ask(all, "POST", "/register", registration, "Content-Type", "application/json"), 201, `{"client_id":"c"}`)

	none := protectedWorld().has(loginOrigin+asRoot, `{"issuer":"https://login.example","authorization_endpoint":"https://login.example/a","token_endpoint":"https://login.example/t"}`)
	all = site(t).Endpoints([]*Discovery{discovery(t, none, mayLogin)})
	is(t, ask(all, "POST", "/register", registration, "Content-Type", "application/json"), 404, "")
	is(t, get(all, asRoot), 200, `{"issuer":"https://bridge.example","authorization_endpoint":"https://bridge.example/authorize","token_endpoint":"https://bridge.example/token"}`)
}

// auth-fallback-endpoints, auth-as-metadata-must: a server without any
// metadata. Clients of 2025-03-26 find none and use the default paths; newer
// ones get a document made of the paths that are really there.
func TestDefaultEndpoints(t *testing.T) {
	w := newWorld().
		serves(upstreamOrigin+"/token", func(rw http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			rw.WriteHeader(400)
			io.WriteString(rw, `{"error":"invalid_request","got":"`+string(b)+`"}`)
		}).
		answers(upstreamOrigin+"/authorize", 400, "client_id is missing").
		answers(upstreamOrigin+"/register", 405, "")
	d := discovery(t, w, nil)
	all := site(t).Endpoints([]*Discovery{d})
	is(t, get(all, asRoot), 404, "")
	res := get(all, "/authorize?client_id=c")
	if res.Code != 302 || res.Header().Get("Location") != "https://up.example/authorize?client_id=c" {
		t.Errorf("%d %v", res.Code, res.Header())
	}
	is(t, ask(all, "POST", "/token", "code=1", "Content-Type", formType), 400, `{"error":"invalid_request","got":"code=1"}`)
	is(t, ask(all, "POST", "/register", "{}", "Content-Type", jsonType), 405, "")

	is(t, get(all, prmMCP), 200, `{"resource":"https://bridge.example/mcp","authorization_servers":["https://bridge.example/mcp"]}`)
	is(t, get(all, asMCP), 200, `{"authorization_endpoint":"https://bridge.example/authorize","token_endpoint":"https://bridge.example/token","registration_endpoint":"https://bridge.example/register","response_types_supported":["code"],"issuer":"https://bridge.example/mcp"}`)
	if got := rewritten(t, d, 401, "Bearer"); len(got) != 1 || got[0] != "Bearer "+pointer {
		t.Errorf("%q", got)
	}
	w.only(t, upstreamOrigin)

	w.answers(upstreamOrigin+"/register", 404, "")
	all = site(t).Endpoints([]*Discovery{discovery(t, w, nil)})
	if got := get(all, asMCP); got.Code != 200 || strings.Contains(got.Body.String(), "registration") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

// A server that answers everything has no authorization server for that.
func TestDefaultEndpointsAreProved(t *testing.T) {
	for name, w := range map[string]*world{
		"nothing":           newWorld(),
		"a page for all":    newWorld().has("*", "<html>"),
		"401 for all":       newWorld().answers("*", 401, `{"error":"invalid_token"}`),
		"400 for all":       newWorld().answers("*", 400, `{"jsonrpc":"2.0","error":{"code":-32600}}`),
		"only /token":       newWorld().answers(upstreamOrigin+"/token", 400, `{"error":"invalid_request"}`),
		"only /authorize":   newWorld().answers(upstreamOrigin+"/authorize", 400, ""),
		"/token is HTML":    newWorld().answers(upstreamOrigin+"/authorize", 400, "").answers(upstreamOrigin+"/token", 400, "<html>"),
		"/token is content": newWorld().answers(upstreamOrigin+"/authorize", 400, "").has(upstreamOrigin+"/token", `{"error":"invalid_request"}`),
		"metadata says nothing": newWorld().has(upstreamOrigin+asRoot, `{"issuer":"https://up.example"}`).
			answers(upstreamOrigin+"/authorize", 400, "").answers(upstreamOrigin+"/token", 400, `{"error":"invalid_request"}`),
	} {
		t.Run(name, func(t *testing.T) {
			all := site(t).Endpoints([]*Discovery{discovery(t, w, nil)})
			for _, path := range []string{asRoot, asMCP, prmMCP, "/authorize"} {
				is(t, get(all, path), 404, "")
			}
			is(t, ask(all, "POST", "/token", "a=b", "Content-Type", formType), 404, "")
		})
	}
}

// auth-pkce-verify: S256 is claimed on the operator's word alone.
func TestPKCE(t *testing.T) {
	const meta = `{"issuer":"https://up.example","authorization_endpoint":"https://up.example/a","token_endpoint":"https://up.example/t"}`
	for word, want := range map[bool]string{false: "", true: `["S256"]`} {
		d := discovery(t, newWorld().has(upstreamOrigin+asRoot, meta), func(c *Config) { c.PKCE = word })
		got := get(site(t).Endpoints([]*Discovery{d}), asMCP).Body.String()
		if strings.Contains(got, "code_challenge_methods_supported") != word || !strings.Contains(got, want) {
			t.Errorf("%v: %s", word, got)
		}
	}
}

// Several routes share one origin only if the operator says whose it is.
func TestOriginOfSeveral(t *testing.T) {
	route := func(path string, at bool) *Discovery {
		return discovery(t, protectedWorld(), func(c *Config) { c.Paths, c.AtOrigin, c.Origins = []string{path}, at, []string{loginOrigin} })
	}
	for name, c := range map[string]struct {
		routes []*Discovery
		want   string // the path of the owner
	}{
		"one":             {[]*Discovery{route("/a", false)}, "/a"},
		"one gets tokens": {[]*Discovery{nil, route("/a", false)}, "/a"},
		"two":             {[]*Discovery{route("/a", false), route("/b", false)}, ""},
		"second is named": {[]*Discovery{route("/a", false), route("/b", true)}, "/b"},
		"first is named":  {[]*Discovery{route("/a", true), route("/b", false)}, "/a"},
		"both are named":  {[]*Discovery{route("/a", true), route("/b", true)}, ""},
		"none":            {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			all := site(t).Endpoints(c.routes)
			got := get(all, prmRoot)
			if c.want == "" {
				is(t, got, 404, "")
				is(t, get(all, asRoot), 404, "")
				is(t, get(all, "/authorize"), 404, "")
				return
			}
			is(t, got, 200, strings.Replace(shownPRM, "/mcp", c.want, 1))
			is(t, get(all, asRoot), 200, shownMeta)
			for _, d := range c.routes {
				if d == nil || d.cfg.Paths[0] == c.want {
					continue
				}
				meta := get(all, asRoot+d.cfg.Paths[0]).Body.String()
				if !strings.Contains(meta, `"authorization_endpoint":"https://login.example/auth?tenant=1"`) {
					t.Errorf("another route leads through the owner's: %s", meta)
				}
			}
		})
	}
}

func TestRelayRefuses(t *testing.T) {
	w := protectedWorld().answers(loginOrigin+"/tok", 200, "{}")
	all := site(t).Endpoints([]*Discovery{discovery(t, w, mayLogin)})
	form := []string{"Content-Type", formType}
	is(t, ask(all, "GET", "/token", ""), 405, "")
	is(t, ask(all, "POST", "/authorize", ""), 405, "")
	is(t, ask(all, "POST", "/token", "a=b", "Content-Type", formType, "Origin", "https://evil.example"), 403, "")
	is(t, ask(all, "POST", "/token", "a=b"), 415, "")
	is(t, ask(all, "POST", "/token", "a=b", "Content-Type", jsonType), 415, "")
	is(t, ask(all, "POST", "/token", "a=%zz", form...), 400, "")
	is(t, ask(all, "POST", "/token", "a=b\r\nc", form...), 400, "")
	is(t, ask(all, "POST", "/token", strings.Repeat("a", maxDocument+1), form...), 413, "")
	is(t, ask(all, "GET", "/authorize?a=%zz", ""), 400, "")
	for _, one := range w.requests() {
		if strings.HasPrefix(one, "POST") {
			t.Errorf("%s was sent", one)
		}
	}
	is(t, ask(all, "POST", "/token", "a=b", form...), 200, "{}")
	s := site(t)
	s.Check = nil
	is(t, ask(s.Endpoints([]*Discovery{discovery(t, w, mayLogin)}), "POST", "/token", "a=b", form...), 403, "")
}

func TestRelayFails(t *testing.T) {
	form := []string{"Content-Type", formType}
	for name, h := range map[string]http.HandlerFunc{
		"redirect": func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "https://evil.example/", http.StatusTemporaryRedirect)
		},
		"huge": func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, strings.Repeat("x", maxAnswer+1)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := protectedWorld().serves(loginOrigin+"/tok", h)
			is(t, ask(site(t).Endpoints([]*Discovery{discovery(t, w, mayLogin)}), "POST", "/token", "a=b", form...), 502, "")
			w.only(t, upstreamOrigin, loginOrigin)
		})
	}
	meta := strings.Replace(loginMeta, "https://login.example/tok", "https://tokens.example/tok", 1)
	w := protectedWorld().has(loginOrigin+asRoot, meta)
	d := discovery(t, w, func(c *Config) { c.Origins = []string{loginOrigin, "https://tokens.example"} })
	is(t, ask(site(t).Endpoints([]*Discovery{d}), "POST", "/token", "a=b", form...), 502, "") // cannot be reached

	// A token endpoint elsewhere is the client's own business: it is named.
	all := site(t).Endpoints([]*Discovery{discovery(t, w, mayLogin)})
	is(t, ask(all, "POST", "/token", "a=b", form...), 404, "")
	if got := get(all, asRoot).Body.String(); !strings.Contains(got, `"token_endpoint":"https://tokens.example/tok"`) {
		t.Errorf("%s", got)
	}
}

// So many at once and no more.
func TestRelaysAreBounded(t *testing.T) {
	d := discovery(t, protectedWorld(), mayLogin)
	all := site(t).Endpoints([]*Discovery{d})
	for range maxRelays + 1 { // one after the other
		is(t, ask(all, "POST", "/token", "a=b", "Content-Type", formType), 404, "")
	}
	for range maxRelays {
		d.busy <- struct{}{}
	}
	res := ask(all, "POST", "/token", "a=b", "Content-Type", formType)
	is(t, res, 503, "")
	if res.Header().Get("Retry-After") == "" {
		t.Errorf("%v", res.Header())
	}
}
