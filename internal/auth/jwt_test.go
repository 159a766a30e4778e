package auth

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
)

func TestTokensOfEveryAlgorithm(t *testing.T) {
	c := newClock()
	for _, name := range Algorithms() {
		t.Run(name, func(t *testing.T) {
			k := pair(jose.SignatureAlgorithm(name), "k")
			s := newKeyServer(t, k.public())
			a := trusting(t, c, s)
			id := admitted(t, a, k.sign(t, c.claims(nil), map[jose.HeaderKey]any{"typ": "at+jwt"}))
			if id.Kind != JWT || id.Issuer != issuerName || id.Subject != "alice" {
				t.Errorf("identity %+v", id)
			}
			if want := c.now().Add(10*time.Minute + defaultLeeway); !id.Until().Equal(want) {
				t.Errorf("until %s; want %s", id.Until(), want)
			}
			only := trusting(t, c, s, func(i *Issuer) {
				i.Algorithms = []string{map[bool]string{true: "ES256", false: "RS256"}[name == "RS256"]}
			})
			refused(t, only, k.sign(t, c.claims(nil), nil), BadAlgorithm)
		})
	}
}

func TestClaims(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	a := trusting(t, c, newKeyServer(t, k.public()))
	now := c.now().Unix()
	for name, tc := range map[string]struct {
		claims map[string]any
		want   Reason
	}{
		"good":                    {nil, accepted},
		"several audiences":       {map[string]any{"aud": []string{"x", audience}}, accepted},
		"other audience":          {map[string]any{"aud": "https://other.example"}, WrongAudience},
		"part of the audience":    {map[string]any{"aud": audience + "/"}, WrongAudience},
		"no audience":             {map[string]any{"aud": nil}, WrongAudience},
		"empty audiences":         {map[string]any{"aud": []string{}}, WrongAudience},
		"audience is a number":    {map[string]any{"aud": 7}, BadClaims},
		"other issuer":            {map[string]any{"iss": issuerName + "/"}, WrongIssuer},
		"no issuer":               {map[string]any{"iss": nil}, BadClaims},
		"issuer is a list":        {map[string]any{"iss": []string{issuerName}}, BadClaims},
		"no subject":              {map[string]any{"sub": nil}, BadClaims},
		"empty subject":           {map[string]any{"sub": ""}, BadClaims},
		"subject is a number":     {map[string]any{"sub": 1}, BadClaims},
		"no end":                  {map[string]any{"exp": nil}, BadClaims},
		"end is null":             {map[string]any{"exp": json.RawMessage("null")}, BadClaims},
		"end is a text":           {map[string]any{"exp": "2031"}, BadClaims},
		"end beyond all numbers":  {map[string]any{"exp": json.RawMessage("1e400")}, BadClaims},
		"end beyond all times":    {map[string]any{"exp": json.RawMessage("9223372036854775807")}, BadClaims},
		"end with a fraction":     {map[string]any{"exp": float64(now) + 0.5}, accepted},
		"expired within leeway":   {map[string]any{"exp": now - 29}, accepted},
		"expired":                 {map[string]any{"exp": now - 30}, Expired},
		"long expired":            {map[string]any{"exp": 0}, Expired},
		"not yet, within leeway":  {map[string]any{"nbf": now + 30}, accepted},
		"not yet":                 {map[string]any{"nbf": now + 31}, NotYetValid},
		"issued in the future":    {map[string]any{"iat": now + 31}, NotYetValid},
		"start is a text":         {map[string]any{"nbf": "x"}, BadClaims},
		"no start":                {map[string]any{"nbf": nil, "iat": nil}, accepted},
		"name in the wrong case":  {map[string]any{"SUB": "bob", "Sub": "bob"}, accepted},
		"scopes are a number":     {map[string]any{"scope": 1}, BadClaims},
		"a scope is a number":     {map[string]any{"scp": []any{"a", 1}}, BadClaims},
		"bound to a DPoP key":     {map[string]any{"cnf": map[string]string{"jkt": "x"}}, NotBound},
		"bound to nothing":        {map[string]any{"cnf": "x"}, NotBound},
		"bound twice":             {map[string]any{"cnf": map[string]string{"x5t#S256": "x", "jkt": "x"}}, NotBound},
		"bound to a certificate":  {map[string]any{"cnf": map[string]string{"x5t#S256": "x"}}, NotBound},
		"claims of others' types": {map[string]any{"realm_access": map[string]any{"roles": []int{1}}}, accepted},
	} {
		t.Run(name, func(t *testing.T) {
			token := k.sign(t, c.claims(tc.claims), nil)
			if tc.want != accepted {
				refused(t, a, token, tc.want)
			} else if id := admitted(t, a, token); id.Subject != "alice" {
				t.Errorf("identity %+v", id)
			}
		})
	}
}

func TestLeeway(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	a := trusting(t, c, newKeyServer(t, k.public()), func(i *Issuer) { i.Leeway = -1 })
	token := k.sign(t, c.claims(nil), nil)
	id := admitted(t, a, token)
	c.pass(10*time.Minute - time.Nanosecond)
	admitted(t, a, token)
	c.pass(time.Nanosecond)
	refused(t, a, token, Expired) // although it was seen before
	if !id.ExpiredAt(c.now()) {
		t.Error("the identity goes on")
	}
}

func TestScopes(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	a := trusting(t, c, newKeyServer(t, k.public()), func(i *Issuer) { i.Scopes = []string{"mcp:tools", "mcp:read"} })
	for name, claims := range map[string]map[string]any{
		"text":          nil,
		"other claim":   {"scope": nil, "scp": "mcp:read mcp:tools"},
		"list":          {"scope": nil, "scp": []string{"mcp:read", "x", "mcp:tools"}},
		"in two claims": {"scope": "mcp:read", "scp": []string{"mcp:tools"}},
	} {
		t.Run(name, func(t *testing.T) { admitted(t, a, k.sign(t, c.claims(claims), nil)) })
	}
	for name, claims := range map[string]map[string]any{
		"none":   {"scope": nil},
		"one":    {"scope": "mcp:read"},
		"longer": {"scope": "mcp:read mcp:tools2"},
		"joined": {"scope": nil, "scp": []string{"mcp:read mcp:tools"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := refused(t, a, k.sign(t, c.claims(claims), nil), MissingScope)
			if p.Status != http.StatusForbidden || p.Challenge != `Bearer error="insufficient_scope", scope="mcp:tools mcp:read"` {
				t.Errorf("%d, challenge %s", p.Status, p.Challenge)
			}
		})
	}
	// Scopes say nothing before the signature does.
	forged := k.sign(t, c.claims(map[string]any{"scope": nil}), nil)
	refused(t, a, spoil(forged), BadSignature)
}

// spoil changes a bit of the signature.
func spoil(token string) string {
	head, signature, _ := strings.Cut(token[strings.Index(token, ".")+1:], ".")
	b, _ := base64.RawURLEncoding.DecodeString(signature)
	b[10] ^= 1
	return token[:strings.Index(token, ".")+1] + head + "." + base64.RawURLEncoding.EncodeToString(b)
}

// Two issuers have keys of their own, and neither can speak for the other.
func TestTwoIssuers(t *testing.T) {
	c := newClock()
	one, two := pair(jose.ES256, "one"), pair(jose.RS256, "two")
	const other = "https://second.example"
	a := newAuthenticator(t, c, Config{Issuers: []Issuer{
		{Issuer: issuerName, JWKS: []string{newKeyServer(t, one.public()).URL}, Audiences: []string{audience}, Scopes: []string{"b", "a"}},
		{Issuer: other, JWKS: []string{newKeyServer(t, two.public()).URL}, Audiences: []string{"second"}, Scopes: []string{"a"}},
	}})
	scoped := map[string]any{"scope": "a b"}
	if id := admitted(t, a, one.sign(t, c.claims(scoped), nil)); id.Issuer != issuerName {
		t.Errorf("identity %+v", id)
	}
	second := map[string]any{"iss": other, "aud": "second", "scope": "a"}
	if id := admitted(t, a, two.sign(t, c.claims(second), nil)); id.Issuer != other {
		t.Errorf("identity %+v", id)
	}
	refused(t, a, two.sign(t, c.claims(scoped), nil), UnknownKey)
	refused(t, a, one.sign(t, c.claims(map[string]any{"iss": other}), nil), WrongAudience)
	if p := refused(t, a, "x", UnknownToken); p.Challenge != `Bearer error="invalid_token", scope="a b"` {
		t.Errorf("challenge %s", p.Challenge)
	}
}

func TestPrincipals(t *testing.T) {
	all := []Identity{
		{}, {Kind: Static, Name: "a"}, {Kind: Static, Name: "b"}, {Kind: Certificate, Subject: "a"},
		{Kind: JWT, Issuer: "a", Subject: "b"}, {Kind: JWT, Issuer: "b", Subject: "a"}, {Kind: JWT, Issuer: `a","b`, Subject: ""},
		{Kind: JWT, Issuer: "a\x00", Subject: "b"}, {Kind: JWT, Issuer: "a", Subject: "\x00b"},
	}
	seen := map[string]bool{}
	for _, i := range all {
		if seen[i.Principal()] {
			t.Errorf("%+v has the principal of another: %s", i, i.Principal())
		}
		seen[i.Principal()] = true
	}
	if (Identity{}).Principal() != "" {
		t.Error("an anonymous one has a principal")
	}
	renewed := Identity{Kind: JWT, Issuer: "a", Subject: "b", until: time.Now()}
	if renewed.Principal() != all[4].Principal() {
		t.Error("a renewed token has another principal")
	}
}
