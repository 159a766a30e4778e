package auth

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
)

func TestConfigurationsThatAreNone(t *testing.T) {
	good := Issuer{Issuer: issuerName, JWKS: []string{"https://login.example/keys"}, Audiences: []string{audience}}
	with := func(change func(*Issuer)) Config {
		i := good
		change(&i)
		return Config{Issuers: []Issuer{i}}
	}
	url := func(u string) Config { return with(func(i *Issuer) { i.JWKS = []string{u} }) }
	for name, tc := range map[string]struct {
		config Config
		want   string
	}{
		"nothing":            {Config{}, "nobody could be let in"},
		"no authority":       {Config{Certificates: &Certificates{}}, "at least one authority"},
		"no issuer":          {with(func(i *Issuer) { i.Issuer = "" }), "needs a name"},
		"twice":              {Config{Issuers: []Issuer{good, good}}, "given twice"},
		"no keys":            {with(func(i *Issuer) { i.JWKS = nil }), "keys are not known"},
		"no audience":        {with(func(i *Issuer) { i.Audiences = nil }), "audience is required"},
		"empty audience":     {with(func(i *Issuer) { i.Audiences = []string{""} }), "audience is required"},
		"leeway":             {with(func(i *Issuer) { i.Leeway = 6 * time.Minute }), "5m0s is the most"},
		"none":               {with(func(i *Issuer) { i.Algorithms = []string{"None"} }), "is no signature"},
		"HS256":              {with(func(i *Issuer) { i.Algorithms = []string{"RS256", "HS256"} }), "has no public key"},
		"unknown algorithm":  {with(func(i *Issuer) { i.Algorithms = []string{"rs256"} }), "not known"},
		"two words":          {with(func(i *Issuer) { i.Scopes = []string{"a b"} }), "is no scope"},
		"quote":              {with(func(i *Issuer) { i.Scopes = []string{`a"`} }), "is no scope"},
		"empty scope":        {with(func(i *Issuer) { i.Scopes = []string{""} }), "is no scope"},
		"http":               {url("http://login.example/keys"), "must be https"},
		"http, nearly local": {url("http://127.0.0.1.example/keys"), "must be https"},
		"file":               {url("file:///etc/keys"), "needs https://"},
		"no host":            {url("https:///keys"), "needs https://"},
		"no URL":             {url("https://login.example/%hush"), "malformed"},
		"user":               {url("https://user:hush@login.example/"), "public"},
	} {
		a, err := New(tc.config)
		if err == nil {
			a.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: error %v; want %q", name, err, tc.want)
		}
	}
	for _, u := range []string{"http://localhost:1/", "http://127.1.2.3/", "http://[::1]:80/k", "https://login.example"} {
		a, err := New(url(u))
		if err != nil {
			t.Fatalf("%s: %v", u, err)
		}
		a.Close()
	}
}

// Key sets come over https from whom the operator trusts, and nobody else.
func TestKeysOverTLS(t *testing.T) {
	c := newClock()
	k := pair(jose.RS256, "k")
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(keySetOf(k.public()))) }))
	defer s.Close()
	s.Config.ErrorLog = nil
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	config := Config{Issuers: []Issuer{{Issuer: issuerName, JWKS: []string{s.URL}, Audiences: []string{audience}}}}
	token := k.sign(t, c.claims(nil), nil)
	refused(t, newAuthenticator(t, c, config), token, KeysUnavailable)
	config.TLS = &tls.Config{RootCAs: pool}
	admitted(t, newAuthenticator(t, c, config), token)
}

func TestCheckAtOnce(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	a := trusting(t, c, newKeyServer(t, k.public()))
	good := k.sign(t, c.claims(nil), nil)
	bad := spoil(good)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if _, p := a.Check(request("Bearer " + good)); p != nil {
				t.Errorf("refused: %s", p.Reason)
			}
		})
		all.Go(func() {
			if id, p := a.Check(request("Bearer " + bad)); p == nil || p.Reason != BadSignature {
				t.Errorf("%+v, %v", id, p)
			}
		})
	}
	all.Wait()
}
