package oauth

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// Where the bridge checks tokens itself it is the protected resource, by the
// word of its operator.
func TestOwn(t *testing.T) {
	w := newWorld().has(loginOrigin+asRoot, loginMeta)
	own := func(c *Config) {
		c.Upstream, c.Own = "", &Own{Issuers: []string{loginOrigin}, Scopes: []string{"mcp:tools"}}
	}
	d := discovery(t, w, own)
	all := site(t).Endpoints([]*Discovery{d})
	is(t, get(all, prmMCP), 200,
		`{"authorization_servers":["https://login.example"],"scopes_supported":["mcp:tools"],"bearer_methods_supported":["header"],"resource":"https://bridge.example/mcp"}`)
	is(t, get(all, asRoot), 200, shownMeta)
	if loc := get(all, "/authorize?a=b").Header().Get("Location"); loc != "https://login.example/auth?tenant=1&a=b&resource=https%3A%2F%2Fbridge.example%2Fmcp" {
		t.Error(loc)
	}
	w.only(t, loginOrigin)
	at := At{Base: bridge(t), Path: "/sse"}
	if got := d.Metadata(at); got != bridgeOrigin+prmRoot+"/sse" {
		t.Error(got)
	}
	if got := d.Metadata(At{Path: "/mcp"}); got != "" {
		t.Error(got)
	}
	h := http.Header{"Www-Authenticate": {`Bearer resource_metadata="https://up.example/x"`}}
	if got := d.Rewrite(t.Context(), at, 401, h); !reflect.DeepEqual(got, h) {
		t.Errorf("%v", got)
	}
	if d.Withholds(t.Context(), at, jwt(`{"aud":"https://bridge.example/mcp"}`)) {
		t.Error("the bridge's own token is withheld")
	}
	s := site(t)
	s.Public = Base{}
	if loc := get(s.Endpoints([]*Discovery{d}), "/authorize").Header().Get("Location"); strings.Contains(loc, "resource=") {
		t.Errorf("%s, of no place", loc)
	}
}

func TestOwnNeedsIssuers(t *testing.T) {
	for name, o := range map[string]Own{"none": {}, "no URL": {Issuers: []string{"login"}}} {
		if _, err := New(Config{Own: &o, Paths: []string{"/"}, Transport: newWorld()}); err == nil {
			t.Error(name)
		}
	}
	d := discovery(t, newWorld(), func(c *Config) { c.Own = &Own{Issuers: []string{loginOrigin + "/t"}} })
	is(t, get(site(t).Endpoints([]*Discovery{d}), prmMCP), 200,
		`{"authorization_servers":["https://login.example/t"],"bearer_methods_supported":["header"],"resource":"https://bridge.example/mcp"}`)
	is(t, get(site(t).Endpoints([]*Discovery{d}), asRoot), 404, "")
}
