package oauth

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func mustURL(raw string) *url.URL {
	u, err := url.Parse(raw)
	if err != nil {
		panic(err)
	}
	return u
}

// Nothing that a server says makes the bridge ask another origin.
func TestNoOtherOriginIsAsked(t *testing.T) {
	for name, hint := range map[string]string{
		"another host":         "https://evil.example/prm",
		"the cloud's metadata": "http://169.254.169.254/latest/meta-data/",
		"this machine":         "http://localhost:9090/metrics",
		"another port":         "https://up.example:8443/prm",
		"another scheme":       "http://up.example/prm",
		"user":                 "https://up.example@evil.example/prm",
		"user of the host":     "https://evil@up.example/prm",
		"a longer host":        "https://up.example.evil.example/prm",
		"a file":               "file:///etc/passwd",
		"no URL":               "https://%zz",
		"no host":              "https:///x",
		"backslash":            `https://up.example\@evil.example/`,
		"two slashes":          "https://evil.example//evil.example/x",
		"dots":                 "https://evil.example/../../x",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld().has("*", `{"resource":"https://evil.example"}`)
			d := discovery(t, w, nil)
			challenge := Challenge{Scheme: "Bearer", Params: []Param{{Name: resourceMetadata, Value: hint}}}
			rewritten(t, d, 401, challenge.String())
			w.only(t, upstreamOrigin)
			if len(w.requests()) == 0 {
				t.Error("nothing was asked, so nothing is shown")
			}
		})
	}
}

func TestNoRedirectToAnotherOrigin(t *testing.T) {
	for name, location := range map[string]string{
		"another host":   "https://evil.example" + prmMCP,
		"without scheme": "//evil.example/x",
		"another port":   "https://up.example:444/x",
		"another scheme": "http://up.example/x",
		"a listed one":   loginOrigin + "/x",
		"no URL":         "https://%zz",
		"a loop":         prmMCP,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld().serves(upstreamOrigin+prmMCP, func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header().Set("Location", location)
				rw.WriteHeader(http.StatusFound)
			})
			d := discovery(t, w, mayLogin)
			is(t, get(site(t).Endpoints([]*Discovery{d}), prmMCP), 404, "")
			w.only(t, upstreamOrigin)
			if n := len(w.requests()); n > 10 {
				t.Errorf("%d requests", n)
			}
		})
	}
	w := newWorld().has(upstreamOrigin+"/moved", upPRM).serves(upstreamOrigin+prmMCP, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Location", "/moved")
		rw.WriteHeader(http.StatusMovedPermanently)
	})
	is(t, get(site(t).Endpoints([]*Discovery{discovery(t, w, nil)}), prmMCP), 200, shownPRM)
}

// An authorization server at another origin is asked only if it is listed, and
// shown to clients all the same: they ask it themselves.
func TestAuthorizationServerMustBeListed(t *testing.T) {
	w := protectedWorld()
	var told []string
	d := discovery(t, w, func(c *Config) { c.Failed = func(err error) { told = append(told, err.Error()) } })
	all := site(t).Endpoints([]*Discovery{d})
	is(t, get(all, prmMCP), 200, shownPRM)
	is(t, get(all, asRoot), 404, `{"error":"not_found","error_description":"the authorization server https://login.example is at another origin than the server, and the operator has not listed it"}`)
	is(t, get(all, "/authorize"), 404, "")
	w.only(t, upstreamOrigin)
	if len(told) != 1 {
		t.Errorf("%q", told)
	}
}

// RFC 8414, 3.3: metadata that bears another name is not used.
func TestIssuerMustMatch(t *testing.T) {
	const tenant = loginOrigin + "/t1"
	prm := strings.Replace(upPRM, loginOrigin, tenant, 1)
	for name, c := range map[string]struct {
		at, issuer string
		ok         bool
	}{
		"RFC 8414, inserted":         {loginOrigin + asRoot + "/t1", tenant, true},
		"OpenID, inserted":           {loginOrigin + "/.well-known/openid-configuration/t1", tenant, true},
		"OpenID, appended":           {tenant + "/.well-known/openid-configuration", tenant, true},
		"another name":               {loginOrigin + asRoot + "/t1", "https://honest.example", false},
		"a slash more":               {loginOrigin + asRoot + "/t1", tenant + "/", false},
		"root is another one":        {loginOrigin + asRoot, tenant, false},
		"RFC 8414, appended, is not": {tenant + asRoot, tenant, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld().has(upstreamOrigin+prmMCP, prm).has(c.at, strings.Replace(loginMeta, `"issuer":"https://login.example"`, `"issuer":"`+c.issuer+`"`, 1))
			want := map[bool]int{true: 200, false: 404}[c.ok]
			is(t, get(site(t).Endpoints([]*Discovery{discovery(t, w, mayLogin)}), asRoot), want, "")
		})
	}
}

func TestEndpointsMustBeURLs(t *testing.T) {
	for _, bad := range []string{"javascript:alert(1)", "https://login.example/a#b", "https://u:p@login.example/a", "/auth", "", "https://%zz", "data:text/html,x"} {
		meta := strings.Replace(loginMeta, "https://login.example/auth?tenant=1", bad, 1)
		all := site(t).Endpoints([]*Discovery{discovery(t, protectedWorld().has(loginOrigin+asRoot, meta), mayLogin)})
		is(t, get(all, "/authorize"), 404, "")
		is(t, get(all, asRoot), 404, "")
	}
}

// The second authorization server helps where the first cannot.
func TestAuthorizationServersInOrder(t *testing.T) {
	prm := strings.Replace(upPRM, `"https://login.example"`, `7,"","https://evil.example","https://up.example","https://login.example"`, 1)
	w := protectedWorld().has(upstreamOrigin+prmMCP, prm)
	is(t, get(site(t).Endpoints([]*Discovery{discovery(t, w, mayLogin)}), asRoot), 200, shownMeta)
	w.only(t, upstreamOrigin, loginOrigin)
	none := protectedWorld().has(upstreamOrigin+prmMCP, `{"resource":"https://up.example/mcp"}`)
	is(t, get(site(t).Endpoints([]*Discovery{discovery(t, none, mayLogin)}), asRoot), 404, "")
	busy := protectedWorld().answers(loginOrigin+asRoot, 503, "")
	is(t, get(site(t).Endpoints([]*Discovery{discovery(t, busy, mayLogin)}), asRoot), 502, "")
}

// endless is a body without an end.
type endless struct{ read *int }

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	*e.read += len(b)
	return len(b), nil
}

func (endless) Close() error { return nil }

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestHugeDocuments(t *testing.T) {
	read := 0
	d := discovery(t, transport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: endless{&read}}, nil
	}), nil)
	is(t, get(site(t).Endpoints([]*Discovery{d}), prmMCP), 404, "")
	if read > 10*maxDocument {
		t.Errorf("%d bytes were read", read)
	}
	for name, text := range map[string]string{
		"deep": `{"resource":"https://up.example/mcp","a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
		"cut":  `{"resource":"https://up.example/mcp"`,
		"long": `{"resource":"https://up.example/` + strings.Repeat("x", maxDocument) + `"}`,
	} {
		d := discovery(t, newWorld().has(upstreamOrigin+prmMCP, text), nil)
		if got := get(site(t).Endpoints([]*Discovery{d}), prmMCP); got.Code != 404 {
			t.Errorf("%s: %d", name, got.Code)
		}
	}
	broken := discovery(t, transport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(io.MultiReader(strings.NewReader("{"), failing{}))}, nil
	}), nil)
	is(t, get(site(t).Endpoints([]*Discovery{broken}), prmMCP), 502, "")
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// What servers and clients say stays inside of the header that it stands in.
func TestHeaderInjection(t *testing.T) {
	d := discovery(t, protectedWorld(), func(c *Config) {
		c.Paths, c.Origins = []string{"/m\"\r\nX-Evil: 1", "/mcp"}, []string{loginOrigin}
	})
	got := d.Rewrite(t.Context(), At{Base: bridge(t), Path: "/x"}, 401, http.Header{"Www-Authenticate": {`Bearer scope="a\"b"`}})
	want := `Bearer scope="a\"b", resource_metadata="https://bridge.example/.well-known/oauth-protected-resource/m%22%0D%0AX-Evil:%201"`
	if v := got["Www-Authenticate"]; len(v) != 1 || v[0] != want {
		t.Errorf("%q", v)
	}
	for _, query := range []string{"state=a b", "state=\xff", "state=a\tb"} {
		r := &http.Request{Method: "GET", URL: &url.URL{Path: "/authorize", RawQuery: query}, Header: http.Header{}}
		rec := httptest.NewRecorder()
		site(t).Endpoints([]*Discovery{d})["/authorize"].ServeHTTP(rec, r)
		is(t, rec, 400, "")
		if rec.Header().Get("Location") != "" {
			t.Errorf("%q: %v", query, rec.Header())
		}
	}
	for k, v := range get(site(t).Endpoints([]*Discovery{d}), "/authorize?state="+url.QueryEscape("\r\nX-Evil: 1")).Header() {
		if k == "X-Evil" || strings.ContainsAny(strings.Join(v, ""), "\r\n") {
			t.Errorf("%s: %q", k, v)
		}
	}
}

// A server that names another place each time costs no request each time.
func TestChangingPointers(t *testing.T) {
	w := newWorld().has(upstreamOrigin+prmMCP, upPRM)
	d := discovery(t, w, nil)
	for i := range 100 {
		rewritten(t, d, 401, `Bearer resource_metadata="https://up.example/`+strconv.Itoa(i)+`"`)
	}
	if n := len(w.requests()); n > 4 {
		t.Errorf("%d requests", n)
	}
}
