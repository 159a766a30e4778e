package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
)

// idle waits until no load is under way, those included that nobody waits for.
func idle(t *testing.T, a *Authenticator) {
	t.Helper()
	for _, s := range a.sources() {
		s.mu.Lock()
		running := s.running
		s.mu.Unlock()
		if running != nil {
			<-running
		}
	}
}

func TestKeysRotate(t *testing.T) {
	c := newClock()
	one, two := pair(jose.ES256, "one"), pair(jose.EdDSA, "two")
	s := newKeyServer(t, one.public())
	a := trusting(t, c, s)
	first := one.sign(t, c.claims(map[string]any{"exp": c.now().Add(time.Hour).Unix()}), nil)
	second := two.sign(t, c.claims(map[string]any{"exp": c.now().Add(time.Hour).Unix()}), nil)
	admitted(t, a, first)
	refused(t, a, second, UnknownKey)
	s.publish(one.public(), two.public())
	refused(t, a, second, UnknownKey) // asked a moment ago
	c.pass(pause)
	admitted(t, a, second)
	admitted(t, a, first)
	if n := s.asked.Load(); n != 2 {
		t.Errorf("asked %d times; want 2", n)
	}

	// A key that was taken back is good no longer than the keys are fresh, also
	// for tokens that were seen.
	s.publish(two.public())
	admitted(t, a, first)
	c.pass(freshFor)
	admitted(t, a, first) // by the keys at hand; meanwhile they are loaded
	idle(t, a)
	refused(t, a, first, UnknownKey)
	admitted(t, a, second)
}

// Many tokens with made-up key ids cost one load in 10 seconds.
func TestFloodOfUnknownKeys(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	s := newKeyServer(t, k.public())
	a := trusting(t, c, s)
	claims := c.text(nil)
	var all sync.WaitGroup
	for n := range 200 {
		token := encode(fmt.Sprintf(`{"alg":"ES256","kid":"%d"}`, n)) + "." + encode(claims) + "." + encode(strings.Repeat("x", 64))
		all.Go(func() {
			if _, p := a.Check(request("Bearer " + token)); p == nil || p.Reason != UnknownKey {
				t.Errorf("problem %v", p)
			}
		})
	}
	all.Wait()
	if n := s.asked.Load(); n != 1 {
		t.Errorf("asked %d times; want once", n)
	}
	for round := range int32(3) {
		c.pass(pause)
		for n := range 20 {
			refused(t, a, encode(fmt.Sprintf(`{"alg":"ES256","kid":"x%d"}`, n))+"."+encode(claims)+".x", UnknownKey)
		}
		if n := s.asked.Load(); n != 2+round {
			t.Errorf("asked %d times; want %d", n, 2+round)
		}
	}
	admitted(t, a, k.sign(t, c.claims(nil), nil))
}

// While the server is down the last keys are used, but not for ever.
func TestKeysWithoutTheirServer(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	s := newKeyServer(t, k.public())
	var troubles troubles
	a := newAuthenticator(t, c, Config{Trouble: troubles.add, Issuers: []Issuer{{
		Issuer: issuerName, JWKS: []string{s.URL}, Audiences: []string{audience}, MaxAge: 30 * time.Minute,
	}}})
	token := k.sign(t, c.claims(map[string]any{"exp": c.now().Add(3 * time.Hour).Unix()}), nil)
	admitted(t, a, token)
	s.with(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	for range 3 {
		c.pass(10*time.Minute - time.Second)
		admitted(t, a, token)
		idle(t, a)
	}
	if n := len(troubles.all()); n != 3 {
		t.Errorf("%d troubles; want 3", n)
	}
	c.pass(3 * time.Second)
	p := refused(t, a, token, KeysUnavailable)
	if p.Status != http.StatusServiceUnavailable || p.Challenge != "" {
		t.Errorf("%+v", p)
	}
	// It is not asked again before the pause is over, and then it is back.
	s.publish(k.public())
	asked := s.asked.Load()
	refused(t, a, token, KeysUnavailable)
	if s.asked.Load() != asked {
		t.Error("the server was asked too soon")
	}
	c.pass(pause)
	admitted(t, a, token)
}

type troubles struct {
	mu  sync.Mutex
	was []error
}

func (s *troubles) add(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.was = append(s.was, err)
}

func (s *troubles) all() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.was
}

func TestAnswersThatAreNoKeySets(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	token := k.sign(t, c.claims(nil), nil)
	other := newKeyServer(t, k.public())
	key := k.public()
	many := make([]jose.JSONWebKey, maxKeys+1)
	for n := range many {
		many[n] = key
	}
	text := func(s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(s)) }
	}
	to := func(where string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, where, http.StatusFound) }
	}
	for want, answer := range map[string]http.HandlerFunc{
		"HTTP status 404":               http.NotFound,
		"it is no JSON":                 text("<html>"),
		`it has no list "keys"`:         text(`[]`),
		`is no key set: it has no list`: text(`{"keys":{}}`),
		"or a name twice":               text(`{"keys":[],"keys":[]}`),
		"it has 101 keys":               text(keySetOf(many...)),
		"larger than 1048576 bytes":     text(`{"keys":[],"x":"` + strings.Repeat("x", maxKeySet) + `"}`),
		"redirects to another origin":   to(other.URL),
		"redirects too often":           to("/again"),
		"EOF": func(w http.ResponseWriter, _ *http.Request) {
			c, _, _ := w.(http.Hijacker).Hijack()
			c.Close()
		},
	} {
		t.Run(want, func(t *testing.T) {
			s := newKeyServer(t)
			s.with(answer)
			var troubles troubles
			a := newAuthenticator(t, c, Config{Trouble: troubles.add, Issuers: []Issuer{{
				Issuer: issuerName, JWKS: []string{s.URL + "/keys?code=hush"}, Audiences: []string{audience},
			}}})
			refused(t, a, token, KeysUnavailable)
			all := troubles.all()
			if len(all) != 1 || !strings.Contains(all[0].Error(), want) || !strings.Contains(all[0].Error(), s.URL+"/keys:") {
				t.Fatalf("troubles %v; want %q", all, want)
			}
			if strings.Contains(all[0].Error(), "hush") {
				t.Errorf("the error holds the query: %v", all[0])
			}
			if err := a.Warm(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Warm: %v", err)
			}
		})
	}
	if other.asked.Load() != 0 {
		t.Error("a redirect led to another origin")
	}
}

// Redirects within the origin are followed; keys that are not for signatures,
// too weak or unknown are left out, and the rest is used.
func TestKeySetsAsTheyAre(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	good, _ := k.public().MarshalJSON()
	withCert := strings.Replace(string(good), `"kty"`, `"x5c":["%%"],"x5t":"?","kty"`, 1)
	n := strings.Repeat("A", 100)
	set := ` {"keys": [
		{"kty":"AKP","kid":"k","alg":"ML-DSA-44","pub":"AAAA"}, {"kty":"quantum","kid":"k"}, {"kid":"k"}, 7, null,
		{"kty":"EC","crv":"secp256k1","kid":"k","x":"AA","y":"AA"}, {"kty":"EC","crv":"P-256","kid":"k","x":"AA","y":"AA"},
		{"kty":"RSA","kid":"k","e":"AQAB","n":"` + "v" + n + `"}, {"kty":"OKP","crv":"X25519","kid":"k","x":"AA"},
		` + strings.Replace(string(good), `"sig"`, `"enc"`, 1) + `, ` + strings.Replace(string(good), `"use":"sig"`, `"key_ops":["sign"]`, 1) + `,
		` + strings.Replace(string(good), `"use":"sig"`, `"use":"sig","use":"sig"`, 1) + `,
		` + strings.Replace(withCert, `"use":"sig"`, `"key_ops":["verify"]`, 1) + `] } `
	keys, unfit, err := parseKeys([]byte(set))
	if err != nil || len(keys) != 1 || unfit != 12 {
		t.Fatalf("%d keys, %d unfit, %v", len(keys), unfit, err)
	}
	s := newKeyServer(t)
	s.with(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			http.Redirect(w, r, "/moved", http.StatusTemporaryRedirect)
			return
		}
		w.Write([]byte(set))
	})
	admitted(t, trusting(t, c, s), k.sign(t, c.claims(nil), nil))
}

// A set without keys takes all back, and the operator hears of it.
func TestEmptyKeySet(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	s := newKeyServer(t)
	s.serve(`{"keys":[]}`)
	var troubles troubles
	a := newAuthenticator(t, c, Config{Trouble: troubles.add, Issuers: []Issuer{{Issuer: issuerName, JWKS: []string{s.URL}, Audiences: []string{audience}}}})
	refused(t, a, k.sign(t, c.claims(nil), nil), UnknownKey)
	if all := troubles.all(); len(all) != 1 || !strings.Contains(all[0].Error(), "holds no key that can be used") {
		t.Errorf("troubles %v", all)
	}
	if err := a.Warm(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestKeysInAFile(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	name := filepath.Join(t.TempDir(), "keys.json")
	var troubles troubles
	a := newAuthenticator(t, c, Config{Trouble: troubles.add, Issuers: []Issuer{{Issuer: issuerName, JWKSFile: name, Audiences: []string{audience}}}})
	if err := a.Warm(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Warm: %v", err)
	}
	if err := os.WriteFile(name, []byte(keySetOf(k.public())), 0o600); err != nil {
		t.Fatal(err)
	}
	c.pass(pause)
	if err := a.Warm(t.Context()); err != nil {
		t.Error(err)
	}
	admitted(t, a, k.sign(t, c.claims(nil), nil))
}

// One server that is silent does not hold up the tokens of another.
func TestOneOfTwoServersIsSilent(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	s, silent := newKeyServer(t, k.public()), newKeyServer(t)
	silent.with(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	a := trusting(t, c, s, func(i *Issuer) { i.JWKS = append(i.JWKS, silent.URL) })
	ctx, cancel := context.WithCancel(t.Context())
	r := request("Bearer " + k.sign(t, c.claims(nil), nil)).WithContext(ctx)
	live := a.issuers[issuerName].sources[0]
	if err := live.warm(ctx); err != nil {
		t.Fatal(err)
	}
	if _, p := a.Check(r); p != nil {
		t.Fatalf("refused: %s", p.Reason)
	}
	cancel() // a client that left waits for nothing
	unknown := request("Bearer " + pair(jose.ES256, "k2").sign(t, c.claims(nil), nil)).WithContext(ctx)
	if _, p := a.Check(unknown); p == nil || p.Reason != KeysUnavailable {
		t.Errorf("problem %v", p)
	}
	if err := a.Warm(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Warm: %v", err)
	}
	a.Close()
	if a.issuers[issuerName].sources[1].start() != nil {
		t.Error("a load began after the end")
	}
}
