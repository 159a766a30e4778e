package interop

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// The places where an authorization server has its metadata.
const (
	rfc8414 = "/.well-known/oauth-authorization-server"
	openid  = "/.well-known/openid-configuration"
)

// revocation is where the test takes a token's life, as time does.
const revocation = "/revoke"

// authServer is an authorization server at the root of its origin. Its login page
// takes everybody for logged in.
type authServer struct {
	name     string // in the ledger
	issuer   string // its origin; set before it serves
	metadata string // where its metadata is; "" is nowhere
	jwt      bool   // its access tokens are JSON Web Tokens, else opaque
	renews   bool   // it gives out refresh tokens
	demands  bool   // it issues no token that is for no server in particular
	heedless bool   // it does not know resources: its tokens are for its own server
	iss      bool   // it tells its name in authorization responses (RFC 9207)
	ledger   *ledger
	key      *ecdsa.PrivateKey

	home func(resource string) string // who may see a token for that

	mu       sync.Mutex
	clients  map[string]registration // by id
	codes    map[string]grant
	renewals map[string]grant
	tokens   map[string]grant
	asked    []asked
}

type registration struct {
	name, secret string
	redirects    []string
}

// grant is what a person has allowed a client.
type grant struct{ client, redirect, challenge, resource, scope string }

// asked is a request as far as it is about what a token is for.
type asked struct{ client, endpoint, resource string }

func newAuthServer(s *style, l *ledger) (*authServer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return &authServer{
		name: "authorization server of " + s.name, metadata: s.metadata, jwt: s.jwt, renews: s.renews, iss: s.iss,
		demands: s.describes || s.checked, heedless: s.own,
		ledger: l, key: key,
		clients: map[string]registration{}, codes: map[string]grant{}, renewals: map[string]grant{}, tokens: map[string]grant{},
	}, err
}

// mount adds its endpoints.
func (a *authServer) mount(mux *http.ServeMux) {
	mux.HandleFunc("GET /authorize", a.authorize)
	mux.HandleFunc("POST /token", a.token)
	mux.HandleFunc("POST /register", a.register)
	mux.HandleFunc("GET /jwks", a.jwks)
	mux.HandleFunc("POST "+revocation, a.revoke)
	if a.metadata != "" {
		mux.HandleFunc("GET "+a.metadata, a.describe)
	}
}

func (a *authServer) describe(w http.ResponseWriter, _ *http.Request) {
	doc := map[string]any{
		"issuer":                 a.issuer,
		"authorization_endpoint": a.issuer + "/authorize", "token_endpoint": a.issuer + "/token",
		"registration_endpoint": a.issuer + "/register", "jwks_uri": a.issuer + "/jwks",
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"client_secret_post"},
	}
	if a.iss {
		doc["authorization_response_iss_parameter_supported"] = true
	}
	if a.metadata == openid {
		doc["subject_types_supported"] = []string{"public"}
		doc["id_token_signing_alg_values_supported"] = []string{"ES256"}
	}
	respond(w, http.StatusOK, doc)
}

func (a *authServer) register(w http.ResponseWriter, r *http.Request) {
	var wanted map[string]any
	var named struct {
		Name      string   `json:"client_name"`
		Redirects []string `json:"redirect_uris"`
	}
	body := readBody(r)
	if json.Unmarshal(body, &wanted) != nil || json.Unmarshal(body, &named) != nil || named.Name == "" || len(named.Redirects) == 0 {
		refuse(w, "invalid_client_metadata")
		return
	}
	id, secret := "client-"+rand.Text(), a.ledger.give("secret", a.name)
	a.mu.Lock()
	a.clients[id] = registration{named.Name, secret, named.Redirects}
	a.asked = append(a.asked, asked{named.Name, "register", ""})
	a.mu.Unlock()
	answer := map[string]any{"client_id": id, "client_secret": secret, "client_id_issued_at": time.Now().Unix(), "client_secret_expires_at": 0}
	maps.Copy(wanted, answer)
	respond(w, http.StatusCreated, wanted)
}

func (a *authServer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	a.mu.Lock()
	defer a.mu.Unlock()
	client, known := a.clients[q.Get("client_id")]
	if !known || !slices.Contains(client.redirects, q.Get("redirect_uri")) || len(q["resource"]) > 1 {
		refuse(w, "invalid_request")
		return
	}
	a.asked = append(a.asked, asked{client.name, "authorize", q.Get("resource")})
	if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" {
		refuse(w, "invalid_request")
		return
	}
	back := url.Values{}
	if a.demands && q.Get("resource") == "" {
		back.Set("error", "invalid_target")
	} else {
		back.Set("code", a.ledger.give("code", a.name))
		a.codes[back.Get("code")] = grant{q.Get("client_id"), q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("resource"), q.Get("scope")}
	}
	if q.Has("state") {
		back.Set("state", q.Get("state"))
	}
	if a.iss {
		back.Set("iss", a.issuer)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (a *authServer) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil || r.PostForm.Get("grant_type") == "" {
		refuse(w, "invalid_request")
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	id, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	if user, password, ok := r.BasicAuth(); ok {
		id, secret = user, password
	}
	client, known := a.clients[id]
	if !known || secret != client.secret {
		refuse(w, "invalid_client")
		return
	}
	resource := r.PostForm.Get("resource")
	a.asked = append(a.asked, asked{client.name, r.PostForm.Get("grant_type"), resource})
	switch g, ok := a.redeem(r.PostForm); {
	case !ok || g.client != id:
		refuse(w, "invalid_grant")
	case g.resource != resource:
		refuse(w, "invalid_target")
	default:
		respond(w, http.StatusOK, a.issue(g, client.name))
	}
}

// redeem returns what a code, once, or a refresh token stands for. It is called with the
// lock held.
func (a *authServer) redeem(form url.Values) (g grant, ok bool) {
	switch form.Get("grant_type") {
	case "authorization_code":
		code := form.Get("code")
		g, ok = a.codes[code]
		delete(a.codes, code)
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		return g, ok && g.redirect == form.Get("redirect_uri") && g.challenge == base64.RawURLEncoding.EncodeToString(sum[:])
	case "refresh_token":
		g, ok = a.renewals[form.Get("refresh_token")]
	}
	return g, ok
}

// issue makes the answer to a request for a token. It is called with the lock held.
func (a *authServer) issue(g grant, subject string) map[string]any {
	if g.scope == "" {
		g.scope = "mcp:read"
	}
	whole := g // what is renewed
	if a.heedless {
		g.resource = ""
	}
	home := a.home(g.resource)
	access := ""
	if a.jwt {
		access = a.sign(g, subject)
		a.ledger.note(access, "token", home)
	} else {
		access = a.ledger.give("token", home)
	}
	a.tokens[access] = g
	answer := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 3600, "scope": g.scope}
	if a.renews {
		renewal := a.ledger.give("renewal", a.name)
		a.renewals[renewal] = whole
		answer["refresh_token"] = renewal
	}
	return answer
}

func (a *authServer) revoke(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	token := r.PostFormValue("token")
	if _, known := a.tokens[token]; !known {
		refuse(w, "invalid_request")
		return
	}
	delete(a.tokens, token)
	w.WriteHeader(http.StatusOK)
}

// granted tells what a token is good for.
func (a *authServer) granted(token string) (g grant, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g, ok = a.tokens[token]
	return g, ok
}

// askedBy lists what a client asked for, but for its registration.
func (a *authServer) askedBy(client string) (list []asked) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.asked {
		if one.client == client && one.endpoint != "register" {
			list = append(list, one)
		}
	}
	return list
}

func respond(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

func refuse(w http.ResponseWriter, code string) {
	respond(w, http.StatusBadRequest, map[string]string{"error": code})
}

func bearerOf(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}
