package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// locked is a server that checks tokens, and says where to get them.
func locked(t *testing.T) *httptest.Server {
	t.Helper()
	inner := upstream(t).Config.Handler
	mux := http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer good" {
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", resource_metadata="`+s.URL+`/.well-known/oauth-protected-resource/mcp", scope="tools"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"resource":%q,"authorization_servers":["https://login.example.com"],"scopes_supported":["tools"],"x-more":1}`, s.URL+"/mcp")
	})
	return s
}

// Clients of a server that checks tokens are led to the bridge's own document,
// which tells them of the server's authorization server.
func TestLoginIsFound(t *testing.T) {
	up := locked(t)
	c := serveFileOf(t, "routes:\n- {name: a, upstream: \""+up.URL+"/mcp\"}\n- {name: b, upstream: \""+up.URL+"/mcp\", credentials: none}\n")
	one := c.at("/a")
	resp := one.ask(initialize, "Bearer old")
	document := c.site + "/.well-known/oauth-protected-resource/a"
	want := `Bearer error="invalid_token", resource_metadata="` + document + `", scope="tools"`
	if got := resp.Header.Get("WWW-Authenticate"); resp.StatusCode != 401 || got != want {
		t.Fatalf("%d %s\nwant %s", resp.StatusCode, got, want)
	}
	status, text := fetch(t, document)
	var shown struct {
		Resource string
		Servers  []string `json:"authorization_servers"`
		More     int      `json:"x-more"`
	}
	if err := json.Unmarshal([]byte(text), &shown); err != nil || status != 200 {
		t.Fatalf("the document: %d %s", status, text)
	}
	if shown.Resource != c.site+"/a" || len(shown.Servers) != 1 || shown.Servers[0] != "https://login.example.com" || shown.More != 1 {
		t.Errorf("the document: %s", text)
	}
	if resp := one.ask(initialize, "Bearer good"); resp.StatusCode != 200 {
		t.Errorf("with a token: %d", resp.StatusCode)
	}
	if status, _ := fetch(t, c.site+"/.well-known/oauth-protected-resource/b"); status != 404 {
		t.Errorf("a route whose server gets no credentials has a document: %d", status)
	}
	// Nobody can log in to what the bridge alone is known to.
	other := c.at("/b")
	if resp := other.ask(initialize, "Bearer old"); resp.Header.Get("WWW-Authenticate") != "" || resp.StatusCode == 401 {
		t.Errorf("a refusal of the bridge's own credentials: %d %v", resp.StatusCode, resp.Header)
	}
	c.end()
}

// Where the bridge checks tokens itself, it is the protected resource.
func TestOwnLogin(t *testing.T) {
	c := serveFileOf(t, `
public_url: https://mcp.example.com/api
routes:
- name: a
  upstream: "`+upstream(t).URL+`/mcp"
  auth:
    issuers: [{issuer: "https://login.example.com", jwks: "http://127.0.0.1:1/keys", audiences: [x], scopes: [tools]}]
`)
	resp := c.at("/a").ask(initialize, "")
	challenge := resp.Header.Get("WWW-Authenticate")
	if resp.StatusCode != 401 || !strings.Contains(challenge, `resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/api/a"`) {
		t.Errorf("%d %s", resp.StatusCode, challenge)
	}
	status, text := fetch(t, c.site+"/.well-known/oauth-protected-resource/a")
	for _, want := range []string{`"resource":"https://mcp.example.com/api/a"`, `"authorization_servers":["https://login.example.com"]`, `"scopes_supported":["tools"]`} {
		if status != 200 || !strings.Contains(text, want) {
			t.Errorf("the document lacks %s: %d %s", want, status, text)
		}
	}
	c.end()
}
