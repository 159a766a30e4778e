package oauth

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Where things are in these tests.
const (
	upstreamOrigin = "https://up.example"
	loginOrigin    = "https://login.example"
	bridgeOrigin   = "https://bridge.example"
)

// world is the servers that a bridge can reach, as a transport: what is not
// in it cannot be reached.
type world struct {
	mu     sync.Mutex
	pages  map[string]http.HandlerFunc // by URL, without query
	asked  []string                    // methods and URLs
	header []http.Header
}

func newWorld() *world { return &world{pages: map[string]http.HandlerFunc{}} }

// has puts a document at a URL.
func (w *world) has(url, text string) *world {
	return w.serves(url, func(rw http.ResponseWriter, _ *http.Request) { io.WriteString(rw, text) })
}

// answers puts an answer without a document at a URL.
func (w *world) answers(url string, status int, text string) *world {
	return w.serves(url, func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(status)
		io.WriteString(rw, text)
	})
}

func (w *world) serves(url string, h http.HandlerFunc) *world {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pages[url] = h
	return w
}

var errDown = errors.New("connection refused")

// RoundTrip implements http.RoundTripper.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	u := *r.URL
	u.RawQuery = ""
	w.asked = append(w.asked, r.Method+" "+r.URL.String())
	w.header = append(w.header, r.Header.Clone())
	page := w.pages[u.String()]
	all := w.pages["*"]
	w.mu.Unlock()
	rec := httptest.NewRecorder()
	switch {
	case page != nil:
		page(rec, r)
	case all != nil:
		all(rec, r)
	case u.Scheme+"://"+u.Host == upstreamOrigin || u.Scheme+"://"+u.Host == loginOrigin:
		rec.WriteHeader(http.StatusNotFound)
	default:
		return nil, errDown
	}
	return rec.Result(), nil
}

func (w *world) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.asked...)
}

// hosts fails the test if anything but these origins was asked.
func (w *world) only(t *testing.T, origins ...string) {
	t.Helper()
	for _, one := range w.requests() {
		_, url, _ := strings.Cut(one, " ")
		fits := false
		for _, o := range origins {
			fits = fits || strings.HasPrefix(url, o+"/")
		}
		if !fits {
			t.Errorf("the bridge asked %s", one)
		}
	}
}

// discovery returns the discovery of a route to the upstream in w.
func discovery(t *testing.T, w http.RoundTripper, change func(*Config)) *Discovery {
	t.Helper()
	c := Config{Upstream: upstreamOrigin + "/mcp", Paths: []string{"/mcp", "/sse"}, Transport: w, Failed: func(err error) { t.Log(err) }}
	if change != nil {
		change(&c)
	}
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func bridge(t *testing.T) Base {
	t.Helper()
	b, err := ParseBase(bridgeOrigin)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func site(t *testing.T) Site {
	t.Helper()
	return Site{Public: bridge(t), Check: func(r *http.Request) error {
		if r.Header.Get("Origin") != "" {
			return errors.New("a foreign page")
		}
		return nil
	}}
}

// get reads a path of the bridge.
func get(all map[string]http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	return ask(all, http.MethodGet, path, "", header...)
}

func ask(all map[string]http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	h := all[r.URL.Path]
	if h == nil {
		rec.WriteHeader(http.StatusNotFound)
		return rec
	}
	h.ServeHTTP(rec, r)
	return rec
}

// is checks a whole answer.
func is(t *testing.T, got *httptest.ResponseRecorder, status int, body string) {
	t.Helper()
	if got.Code != status || body != "" && got.Body.String() != body {
		t.Errorf("%d %s\nwant %d %s", got.Code, got.Body, status, body)
	}
}

// oidcAware is the version from which clients read OpenID discovery.
func oidcAware(v mcp.Version) bool { return v >= "2025-11-25" }

const (
	upPRM     = `{"resource":"https://up.example/mcp", "authorization_servers":["https://login.example"],"scopes_supported":["a","b"],"bearer_methods_supported":["header"],"x-own":1.0}`
	loginMeta = `{"issuer":"https://login.example","authorization_endpoint":"https://login.example/auth?tenant=1","token_endpoint":"https://login.example/tok","registration_endpoint":"https://login.example/reg","code_challenge_methods_supported":["S256"],"signed_metadata":"x.y.z","authorization_response_iss_parameter_supported":true,"jwks_uri":"https://login.example/keys","client_id_metadata_document_supported":true}`
)

// protectedWorld has an upstream of a revision with protected resource
// metadata, and its authorization server at another origin.
func protectedWorld() *world {
	return newWorld().
		has(upstreamOrigin+"/.well-known/oauth-protected-resource/mcp", upPRM).
		has(loginOrigin+"/.well-known/oauth-authorization-server", loginMeta)
}
