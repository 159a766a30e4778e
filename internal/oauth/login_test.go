package oauth

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// login is an authorization server that issues tokens for a resource alone.
func login(t *testing.T, resource *string) *httptest.Server {
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{ //nolint:errcheck // the client left
			"issuer": s.URL, "authorization_endpoint": s.URL + "/a", "token_endpoint": s.URL + "/t",
			"code_challenge_methods_supported": []string{"S256"},
		})
	})
	mux.HandleFunc("GET /a", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("resource") != *resource {
			t.Errorf("the person comes with the resource %q", q.Get("resource"))
		}
		http.Redirect(w, r, q.Get("redirect_uri")+"?code=c1&state="+url.QueryEscape(q.Get("state")), http.StatusFound)
	})
	mux.HandleFunc("POST /t", func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("code") != "c1" || r.PostFormValue("resource") != *resource {
			http.Error(w, `{"error":"invalid_target"}`, http.StatusBadRequest)
			return
		}
		io.WriteString(w, `{"access_token":"`+jwt(`{"aud":"` + *resource + `"}`)[len("Bearer "):]+`","token_type":"Bearer"}`)
	})
	return s
}

// protectedServer is an MCP server that takes tokens for itself alone.
func protectedServer(t *testing.T, issuer string, resource *string) *httptest.Server {
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	*resource = s.URL + "/mcp"
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{"resource": *resource, "authorization_servers": []string{issuer}}) //nolint:errcheck // the client left
	})
	mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, r *http.Request) {
		if got := audience(r.Header.Get("Authorization")); len(got) != 1 || got[0] != *resource {
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", resource_metadata="`+s.URL+prmMCP+`"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		io.WriteString(w, "welcome")
	})
	return s
}

// bridgeTo passes requests on as a bridge does, with what this package adds.
func bridgeTo(t *testing.T, d *Discovery, upstream string) *httptest.Server {
	s := Site{
		Place: func(r *http.Request) (Base, bool) { return BaseAt(&url.URL{Scheme: "http", Host: r.Host}) },
		Check: func(*http.Request) error { return nil },
	}
	all := s.Endpoints([]*Discovery{d})
	b := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := all[r.URL.Path]; h != nil {
			h.ServeHTTP(w, r)
			return
		}
		if r.URL.Path != "/mcp" {
			http.NotFound(w, r)
			return
		}
		if d.Withholds(r.Context(), s.At(r), r.Header.Get("Authorization")) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		req, err := http.NewRequestWithContext(r.Context(), r.Method, upstream, r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Authorization", r.Header.Get("Authorization"))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer res.Body.Close()
		for name, v := range d.Rewrite(r.Context(), s.At(r), res.StatusCode, res.Header) {
			w.Header()[name] = v
		}
		w.WriteHeader(res.StatusCode)
		io.Copy(w, res.Body) //nolint:errcheck // the client left
	}))
	t.Cleanup(b.Close)
	return b
}

func call(t *testing.T, bridge, authorization string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, bridge+"/mcp", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", authorization)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res
}

func object1(t *testing.T, res *http.Response, err error) map[string]any {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var doc map[string]any
	if err := json.NewDecoder(res.Body).Decode(&doc); err != nil || res.StatusCode != 200 {
		t.Fatalf("%d %v", res.StatusCode, err)
	}
	return doc
}

// A whole login over real connections: of a client of 2025-03-26, which knows
// only the origin, and of one that follows the challenge.
func TestLogin(t *testing.T) {
	var resource string
	as := login(t, &resource)
	up := protectedServer(t, as.URL, &resource)
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	d, err := New(Config{Upstream: up.URL + "/mcp", Paths: []string{"/mcp"}, Origins: []string{as.URL}, Transport: tr})
	if err != nil {
		t.Fatal(err)
	}
	b := bridgeTo(t, d, up.URL+"/mcp")

	refused := call(t, b.URL, "")
	want := `Bearer error="invalid_token", resource_metadata="` + b.URL + prmMCP + `"`
	if got := refused.Header.Get("WWW-Authenticate"); refused.StatusCode != 401 || got != want {
		t.Fatalf("%d %s", refused.StatusCode, got)
	}
	res, err := http.Get(b.URL + prmMCP)
	if doc := object1(t, res, err); doc["resource"] != b.URL+"/mcp" || doc["authorization_servers"].([]any)[0] != as.URL {
		t.Fatalf("%v", doc)
	}

	res, err = http.Get(b.URL + asRoot)
	meta := object1(t, res, err)
	if meta["issuer"] != b.URL {
		t.Fatalf("%v", meta)
	}
	token := logIn(t, meta)
	if got := call(t, b.URL, "Bearer "+token); got.StatusCode != 200 {
		t.Errorf("the token of a login through the bridge: %d", got.StatusCode)
	}
	if got := call(t, b.URL, jwt(`{"aud":"`+b.URL+`/mcp"}`)); got.StatusCode != 403 {
		t.Errorf("a token for the bridge: %d", got.StatusCode)
	}
}

// logIn logs in as a client without resource indicators.
func logIn(t *testing.T, meta map[string]any) (token string) {
	t.Helper()
	code := ""
	callback := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("state") != "a&b" {
			t.Errorf("the state came back as %q", r.URL.Query().Get("state"))
		}
		code = r.URL.Query().Get("code")
	}))
	defer callback.Close()
	q := url.Values{"response_type": {"code"}, "redirect_uri": {callback.URL}, "state": {"a&b"}}
	res, err := http.Get(meta["authorization_endpoint"].(string) + "?" + q.Encode())
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	res, err = http.PostForm(meta["token_endpoint"].(string), url.Values{"grant_type": {"authorization_code"}, "code": {code}})
	doc := object1(t, res, err)
	token, _ = doc["access_token"].(string)
	return token
}
