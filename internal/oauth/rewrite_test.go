package oauth

import (
	"net/http"
	"reflect"
	"testing"
)

const pointer = `resource_metadata="https://bridge.example/.well-known/oauth-protected-resource/mcp"`

func rewritten(t *testing.T, d *Discovery, status int, values ...string) []string {
	t.Helper()
	h := http.Header{"X-Else": {"1"}}
	if values != nil {
		h["Www-Authenticate"] = values
	}
	before := h.Clone()
	got := d.Rewrite(t.Context(), At{Base: bridge(t), Path: "/mcp"}, status, h)
	if !reflect.DeepEqual(h, before) {
		t.Errorf("the given header became %v", h)
	}
	if got.Get("X-Else") != "1" {
		t.Errorf("another header is lost: %v", got)
	}
	return got["Www-Authenticate"]
}

// One case for each rule of the matrices about challenges, by its id there.
func TestRewrite(t *testing.T) {
	for name, c := range map[string]struct {
		status   int
		in, want []string
	}{
		"auth-www-authenticate-synthesis: none": {401, nil, []string{"Bearer " + pointer}},
		"auth-www-authenticate-synthesis: extended, not replaced": {401,
			[]string{`Bearer realm="x", error="invalid_token"`}, []string{`Bearer realm="x", error="invalid_token", ` + pointer}},
		"auth-www-authenticate-synthesis: bare": {401, []string{"bearer"}, []string{"bearer " + pointer}},
		"auth-www-authenticate-synthesis: among others": {401,
			[]string{`Negotiate, Bearer scope="a" , Basic realm="b"`}, []string{`Negotiate, Bearer scope="a", ` + pointer + ` , Basic realm="b"`}},
		"auth-www-authenticate-synthesis: other schemes": {401,
			[]string{`Basic realm="b"`, "Negotiate abc=="}, []string{"Bearer " + pointer, `Basic realm="b"`, "Negotiate abc=="}},
		"auth-www-authenticate-synthesis: in the second value": {401,
			[]string{`Basic realm="b"`, `Bearer scope=a`}, []string{`Basic realm="b"`, `Bearer scope=a, ` + pointer}},
		"auth-www-authenticate-synthesis: a bearer token68 cannot be extended": {401, []string{"Bearer abc=="}, []string{"Bearer " + pointer, "Bearer abc=="}},
		"auth-www-authenticate-synthesis: the first of two":                    {401, []string{"Bearer a=1, Bearer a=2"}, []string{"Bearer a=1, " + pointer + ", Bearer a=2"}},
		"report 139": {401,
			[]string{`Bearer error="invalid_token", error_description="Authentication required", resource_metadata="http://localhost:8000/mcp/.well-known/oauth-protected-resource"`},
			[]string{`Bearer error="invalid_token", error_description="Authentication required", ` + pointer}},
		"era G: rewritten, blanks and order kept": {401,
			[]string{`Bearer  Resource_Metadata = "https://up.example/x" ,scope = "a b"`},
			[]string{`Bearer  Resource_Metadata = "https://bridge.example/.well-known/oauth-protected-resource/mcp" ,scope = "a b"`}},
		"every pointer, whatever the scheme": {401,
			[]string{`DPoP resource_metadata="https://up.example/x", algs="ES256", Bearer resource_metadata="https://up.example/x"`, `Bearer resource_metadata=y`},
			[]string{`DPoP ` + pointer + `, algs="ES256", Bearer ` + pointer, `Bearer ` + pointer}},
		"auth-scope-challenge: step-up": {403,
			[]string{`Bearer error="insufficient_scope", scope="files:write", resource_metadata="https://up.example/x", error_description="more"`},
			[]string{`Bearer error="insufficient_scope", scope="files:write", ` + pointer + `, error_description="more"`}},
		"auth-scope-challenge: nothing is added to a 403": {403,
			[]string{`Bearer error="insufficient_scope", scope="w"`}, []string{`Bearer error="insufficient_scope", scope="w"`}},
		"auth-status-codes: 403 without a challenge": {403, nil, nil},
		"auth-status-codes: 400":                     {400, []string{`Bearer resource_metadata="https://up.example/x"`}, []string{`Bearer resource_metadata="https://up.example/x"`}},
		"auth-status-codes: 200":                     {200, nil, nil},
		"malformed": {401,
			[]string{`Bearer resource_metadata=https://up.example/x`}, []string{"Bearer " + pointer, `Bearer resource_metadata=https://up.example/x`}},
		"malformed beside a good one": {401,
			[]string{`Bearer "`, `Bearer a=b`}, []string{`Bearer "`, `Bearer a=b, ` + pointer}},
		"malformed, 403": {403, []string{`Bearer resource_metadata=https://x`}, []string{`Bearer resource_metadata=https://x`}},
	} {
		t.Run(name, func(t *testing.T) {
			d := discovery(t, protectedWorld(), nil)
			if got := rewritten(t, d, c.status, c.in...); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q\nwant %q", got, c.want)
			}
		})
	}
}

// Vector T73: a server of 2025-03-26 has no protected resource metadata; the
// bridge makes it of what the server has.
func TestVectorT73(t *testing.T) {
	w := newWorld().has(upstreamOrigin+"/.well-known/oauth-authorization-server",
		`{"issuer":"https://up.example","authorization_endpoint":"https://up.example/a","token_endpoint":"https://up.example/t"}`)
	d := discovery(t, w, nil)
	b, _ := ParseBase("https://proxy.example")
	got := d.Rewrite(t.Context(), At{Base: b, Path: "/mcp"}, 401, nil)
	want := http.Header{"Www-Authenticate": {`Bearer resource_metadata="https://proxy.example/.well-known/oauth-protected-resource/mcp"`}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	s := Site{Public: b, Check: site(t).Check}
	is(t, get(s.Endpoints([]*Discovery{d}), "/.well-known/oauth-protected-resource/mcp"), 200,
		`{"resource":"https://proxy.example/mcp","authorization_servers":["https://up.example"]}`)
}

// A pointer leads to a document that there is, or stays.
func TestRewriteInventsNothing(t *testing.T) {
	const given = `Bearer resource_metadata="https://elsewhere.example/x", scope="a"`
	for name, w := range map[string]*world{
		"no document":  newWorld(),
		"down":         newWorld().answers("*", 503, ""),
		"all is HTML":  newWorld().has("*", "<html>"),
		"all is a 401": newWorld().answers("*", 401, `{"error":"invalid_token"}`),
	} {
		t.Run(name, func(t *testing.T) {
			d := discovery(t, w, nil)
			if got := rewritten(t, d, 401); got != nil {
				t.Errorf("%q is added", got)
			}
			if got := rewritten(t, d, 401, given); !reflect.DeepEqual(got, []string{given}) {
				t.Errorf("%q", got)
			}
			w.only(t, upstreamOrigin)
		})
	}
}

// The pointer is to the document of the URL that the client uses.
func TestRewriteByPath(t *testing.T) {
	d := discovery(t, protectedWorld(), nil)
	for path, want := range map[string]string{"/mcp": "/mcp", "/mcp/": "/mcp", "/sse": "/sse", "/messages": "/mcp"} {
		got := d.Rewrite(t.Context(), At{Base: bridge(t), Path: path}, 401, nil).Get("Www-Authenticate")
		if got != `Bearer resource_metadata="https://bridge.example/.well-known/oauth-protected-resource`+want+`"` {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestRewriteWithoutPlace(t *testing.T) {
	h := http.Header{"Www-Authenticate": {"Bearer"}}
	var none *Discovery
	if got := none.Rewrite(t.Context(), At{Base: bridge(t), Path: "/mcp"}, 401, h); !reflect.DeepEqual(got, h) {
		t.Errorf("without a discovery: %v", got)
	}
	if got := discovery(t, protectedWorld(), nil).Rewrite(t.Context(), At{Path: "/mcp"}, 401, h); !reflect.DeepEqual(got, h) {
		t.Errorf("without a base: %v", got)
	}
	if none.Withholds(t.Context(), At{Base: bridge(t)}, "Bearer x") {
		t.Error("nothing withholds")
	}
}
