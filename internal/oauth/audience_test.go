package oauth

import (
	"encoding/base64"
	"strings"
	"testing"
)

func jwt(claims string) string {
	return "Bearer e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

// Report 141, auth-no-passthrough: a token that was issued for the bridge does
// not go to another origin unless the operator says that it may.
func TestReport141(t *testing.T) {
	const ours, its = `"https://bridge.example/mcp"`, `"https://up.example/mcp"`
	for name, c := range map[string]struct {
		token string
		want  bool
	}{
		"for the bridge":            {jwt(`{"aud":` + ours + `}`), true},
		"for its other path":        {jwt(`{"aud":"https://BRIDGE.example:443/sse/"}`), true},
		"in a list":                 {jwt(`{"aud":["x",` + ours + `]}`), true},
		"lower case scheme":         {"bearer" + strings.TrimPrefix(jwt(`{"aud":`+ours+`}`), "Bearer"), true},
		"for both":                  {jwt(`{"aud":[` + ours + `,` + its + `]}`), false},
		"for the server":            {jwt(`{"aud":` + its + `}`), false},
		"for the server's own name": {jwt(`{"aud":[` + ours + `,"https://public.example/x"]}`), false},
		"for a third one":           {jwt(`{"aud":"https://third.example"}`), false},
		"for no URL":                {jwt(`{"aud":"%zz"}`), false},
		"for nobody":                {jwt(`{"aud":[]}`), false},
		"audience is a number":      {jwt(`{"aud":[7]}`), false},
		"no audience":               {jwt(`{}`), false},
		"opaque":                    {"Bearer abc", false},
		"three parts of nothing":    {"Bearer a.*.c", false},
		"no JSON":                   {jwt(`x`), false},
		"no object":                 {jwt(`[]`), false},
		"huge":                      {jwt(`{"aud":` + ours + `,"x":"` + strings.Repeat("x", maxToken) + `"}`), false},
		"not bearer":                {"Basic" + strings.TrimPrefix(jwt(`{"aud":`+ours+`}`), "Bearer"), false},
		"none":                      {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			for resource, may := range map[Resource]bool{"": false, ResourceUpstream: false, ResourcePublic: true} {
				w := newWorld().has(upstreamOrigin+prmMCP, `{"resource":"https://public.example/x"}`)
				d := discovery(t, w, func(c *Config) { c.Resource = resource })
				if got := d.Withholds(t.Context(), At{Base: bridge(t), Path: "/mcp"}, c.token); got != (c.want && !may) {
					t.Errorf("resource %q: %v", resource, got)
				}
			}
		})
	}
}

// Server and bridge by one name: the transparent case.
func TestOneName(t *testing.T) {
	w := newWorld().has(upstreamOrigin+prmMCP, `{"resource":"https://bridge.example/mcp/"}`)
	d := discovery(t, w, nil)
	if d.Withholds(t.Context(), At{Base: bridge(t), Path: "/mcp"}, jwt(`{"aud":"https://bridge.example/mcp"}`)) {
		t.Error("the server's own token is withheld")
	}
}

func TestNew(t *testing.T) {
	w := newWorld()
	for _, c := range []Config{
		{Upstream: "%zz", Paths: []string{"/"}, Transport: w},
		{Upstream: "stdio:x", Paths: []string{"/"}, Transport: w},
		{Upstream: "https://u:p@a", Paths: []string{"/"}, Transport: w},
		{Upstream: upstreamOrigin, Transport: w},
		{Upstream: upstreamOrigin, Paths: []string{"/"}},
		{Upstream: upstreamOrigin, Paths: []string{"/"}, Transport: w, Origins: []string{"*"}},
		{Upstream: upstreamOrigin, Paths: []string{"/"}, Transport: w, Origins: []string{"https://a/b"}},
	} {
		if d, err := New(c); err == nil {
			t.Errorf("%+v", d.cfg)
		}
	}
	if _, err := New(Config{Upstream: upstreamOrigin, Paths: []string{"/"}, Transport: w, Origins: []string{"https://u:secret@a"}}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	d := discovery(t, newWorld().has(upstreamOrigin+prmRoot+"/ws", `{"authorization_servers":["x"]}`), func(c *Config) { c.Upstream = "wss://up.example/ws" })
	is(t, get(site(t).Endpoints([]*Discovery{d}), prmMCP), 200, "")
	if got := ResourceNames(); len(got) != 2 {
		t.Error(got)
	}
}
