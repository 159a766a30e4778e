package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
)

const (
	issuerName = "https://login.example"
	audience   = "https://bridge.example/mcp"
)

// signer is an authorization server's key pair.
type signer struct {
	id        string
	algorithm jose.SignatureAlgorithm
	private   crypto.Signer
}

// pair makes a key pair once for all tests.
var pair = func() func(algorithm jose.SignatureAlgorithm, id string) signer {
	var mu sync.Mutex
	made := map[string]crypto.Signer{}
	return func(algorithm jose.SignatureAlgorithm, id string) signer {
		mu.Lock()
		defer mu.Unlock()
		name := string(algorithm) + id
		if made[name] == nil {
			made[name] = generate(algorithm)
		}
		return signer{id, algorithm, made[name]}
	}
}()

func generate(algorithm jose.SignatureAlgorithm) crypto.Signer {
	var key crypto.Signer
	var err error
	switch algorithm {
	case jose.ES256:
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case jose.ES384:
		key, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case jose.ES512:
		key, err = ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case jose.EdDSA:
		_, key, err = ed25519.GenerateKey(rand.Reader)
	default:
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		panic(err)
	}
	return key
}

// public is the key as a key set has it.
func (s signer) public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: s.private.Public(), KeyID: s.id, Algorithm: string(s.algorithm), Use: "sig"}
}

// sign makes a token of claims and of header members beside alg and kid.
func (s signer) sign(t testing.TB, claims any, header map[jose.HeaderKey]any) string {
	t.Helper()
	text, isText := claims.(string)
	if !isText {
		b, err := json.Marshal(claims)
		if err != nil {
			t.Fatal(err)
		}
		text = string(b)
	}
	options := &jose.SignerOptions{ExtraHeaders: header}
	made, err := jose.NewSigner(jose.SigningKey{Algorithm: s.algorithm, Key: jose.JSONWebKey{Key: s.private, KeyID: s.id}}, options)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := made.Sign([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// raw makes an ES256 token whose header is written by hand.
func (s signer) raw(t testing.TB, header, claims string) string {
	t.Helper()
	input := encode(header) + "." + encode(claims)
	h := crypto.SHA256.New()
	h.Write([]byte(input))
	r, v, err := ecdsa.Sign(rand.Reader, s.private.(*ecdsa.PrivateKey), h.Sum(nil))
	if err != nil {
		t.Fatal(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	v.FillBytes(signature[32:])
	return input + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func keySetOf(keys ...jose.JSONWebKey) string {
	b, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// keyServer is where an authorization server publishes its keys.
type keyServer struct {
	*httptest.Server
	asked  atomic.Int32
	answer atomic.Pointer[http.HandlerFunc]
}

func newKeyServer(t testing.TB, keys ...jose.JSONWebKey) *keyServer {
	s := &keyServer{}
	s.publish(keys...)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		(*s.answer.Load())(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *keyServer) publish(keys ...jose.JSONWebKey) { s.serve(keySetOf(keys...)) }

func (s *keyServer) serve(text string) {
	s.with(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(text)) })
}

func (s *keyServer) with(f http.HandlerFunc) { s.answer.Store(&f) }

// clock is a time that tests set.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// claims are those of a good token, with changes; nil takes a claim away.
func (c *clock) claims(changes map[string]any) map[string]any {
	now := c.now().Unix()
	all := map[string]any{
		"iss": issuerName, "sub": "alice", "aud": audience, "iat": now, "nbf": now, "exp": now + 600, "scope": "mcp:tools mcp:read",
	}
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

func (c *clock) text(changes map[string]any) string {
	b, err := json.Marshal(c.claims(changes))
	if err != nil {
		panic(err)
	}
	return string(b)
}

func newAuthenticator(t testing.TB, c *clock, config Config) *Authenticator {
	t.Helper()
	a, err := newWith(config, c.now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// trusting returns an authenticator for the tokens of one key server.
func trusting(t testing.TB, c *clock, s *keyServer, changes ...func(*Issuer)) *Authenticator {
	t.Helper()
	i := Issuer{Issuer: issuerName, JWKS: []string{s.URL + "/keys"}, Audiences: []string{"other", audience}}
	for _, change := range changes {
		change(&i)
	}
	return newAuthenticator(t, c, Config{Issuers: []Issuer{i}})
}

func request(authorization ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://bridge.example/mcp", nil)
	if authorization != nil {
		r.Header["Authorization"] = authorization
	}
	return r
}

// refused checks that a token is refused for the reason.
func refused(t *testing.T, a *Authenticator, token string, want Reason) *Problem {
	t.Helper()
	id, p := a.Check(request("Bearer " + token))
	switch {
	case p == nil:
		t.Fatalf("%+v was let in; want %s", id, want)
	case p.Reason != want:
		t.Errorf("refused for %q; want %q", p.Reason, want)
	case id != Identity{}:
		t.Errorf("a refused request has the identity %+v", id)
	}
	return p
}

func admitted(t *testing.T, a *Authenticator, token string) Identity {
	t.Helper()
	id, p := a.Check(request("Bearer " + token))
	if p != nil {
		t.Fatalf("refused: %s", p.Reason)
	}
	return id
}
