package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	jose "github.com/go-jose/go-jose/v4"
)

// The public key is public: a token that is signed with it as a shared secret
// proves nothing, in whatever form the key is taken for one.
func TestPublicKeysAreNoSecrets(t *testing.T) {
	c := newClock()
	k := pair(jose.RS256, "k")
	s := newKeyServer(t, k.public())
	a := trusting(t, c, s)
	der, err := x509.MarshalPKIXPublicKey(k.private.Public())
	if err != nil {
		t.Fatal(err)
	}
	jwk, _ := k.public().MarshalJSON()
	for name, shared := range map[string][]byte{
		"DER": der, "PEM": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), "JWK": jwk,
	} {
		for _, alg := range []string{"HS256", "RS256"} {
			input := encode(`{"alg":"`+alg+`","kid":"k"}`) + "." + encode(c.text(nil))
			mac := hmac.New(sha256.New, shared)
			mac.Write([]byte(input))
			want := map[string]Reason{"HS256": BadAlgorithm, "RS256": BadSignature}[alg]
			t.Run(name+" "+alg, func(t *testing.T) {
				refused(t, a, input+"."+base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), want)
			})
		}
	}
}

// A shared secret in a key set could be used by whoever reads the set.
func TestSecretsInKeySetsAreNoKeys(t *testing.T) {
	c := newClock()
	shared := []byte(strings.Repeat("s", 32))
	private := pair(jose.ES256, "k")
	for name, key := range map[string]jose.JSONWebKey{
		"shared":  {Key: shared, KeyID: "k", Algorithm: "ES256"},
		"private": {Key: private.private, KeyID: "k", Algorithm: "ES256"},
	} {
		t.Run(name, func(t *testing.T) {
			a := trusting(t, c, newKeyServer(t, key))
			refused(t, a, private.sign(t, c.claims(nil), nil), UnknownKey)
		})
	}
}

func TestHeadersOfHostileTokens(t *testing.T) {
	c := newClock()
	k, thief := pair(jose.ES256, "k"), pair(jose.ES256, "thief")
	s := newKeyServer(t, k.public())
	a := trusting(t, c, s)
	claims := c.text(nil)
	own, _ := thief.public().MarshalJSON()
	evil := newKeyServer(t, jose.JSONWebKey{Key: thief.private.Public(), KeyID: "k"})
	for name, tc := range map[string]struct {
		by     signer
		header string
		want   Reason
	}{
		"good":                     {k, `{"alg":"ES256","kid":"k"}`, accepted},
		"escaped names":            {k, `{"\u0061lg":"ES256","k\u0069d":"k"}`, accepted},
		"other type":               {k, `{"alg":"ES256","kid":"k","typ":"logout+jwt"}`, BadHeader},
		"type is a number":         {k, `{"alg":"ES256","kid":"k","typ":1}`, BadHeader},
		"long type":                {k, `{"alg":"ES256","kid":"k","typ":"application/AT+JWT"}`, accepted},
		"unknown extension":        {k, `{"alg":"ES256","kid":"k","crit":["exp2"],"exp2":1}`, BadHeader},
		"known extension":          {k, `{"alg":"ES256","kid":"k","crit":["b64"],"b64":true}`, BadHeader},
		"empty extensions":         {k, `{"alg":"ES256","kid":"k","crit":[]}`, BadHeader},
		"payload not encoded":      {k, `{"alg":"ES256","kid":"k","b64":false}`, BadHeader},
		"no algorithm":             {k, `{"kid":"k"}`, BadAlgorithm},
		"none":                     {k, `{"alg":"none","kid":"k"}`, BadAlgorithm},
		"NONE":                     {k, `{"alg":"NonE"}`, BadAlgorithm},
		"algorithm is a list":      {k, `{"alg":["ES256"],"kid":"k"}`, BadAlgorithm},
		"lower case":               {k, `{"alg":"es256","kid":"k"}`, BadAlgorithm},
		"name in the wrong case":   {k, `{"ALG":"ES256","kid":"k"}`, BadAlgorithm},
		"algorithm of other keys":  {k, `{"alg":"ES384","kid":"k"}`, UnknownKey},
		"algorithm of another key": {k, `{"alg":"RS256","kid":"k"}`, UnknownKey},
		"key id is a number":       {k, `{"alg":"ES256","kid":1}`, BadHeader},
		"key id is a path":         {k, `{"alg":"ES256","kid":"../../etc/passwd"}`, UnknownKey},
		"no key id":                {k, `{"alg":"ES256"}`, accepted},
		"no key id, forged":        {thief, `{"alg":"ES256"}`, BadSignature},
		"algorithm twice":          {k, `{"alg":"none","kid":"k","alg":"ES256"}`, Malformed},
		"algorithm twice, escaped": {k, `{"\u0061lg":"none","kid":"k","alg":"ES256"}`, Malformed},
		"another's key":            {thief, `{"alg":"ES256","kid":"k"}`, BadSignature},
		"brings its key":           {thief, `{"alg":"ES256","jwk":` + string(own) + `}`, BadSignature},
		"brings its key, named":    {thief, `{"alg":"ES256","kid":"thief","jwk":` + string(own) + `}`, UnknownKey},
		"says where its key is":    {thief, `{"alg":"ES256","kid":"k","jku":"` + evil.URL + `","x5u":"` + evil.URL + `"}`, BadSignature},
		"is told where its key is": {k, `{"alg":"ES256","kid":"k","jku":"` + evil.URL + `"}`, accepted},
		"no object":                {k, `["ES256"]`, Malformed},
		"no JSON":                  {k, `{"alg":"ES256",}`, Malformed},
		"more than JSON":           {k, `{"alg":"ES256","kid":"k"}{}`, Malformed},
		"no UTF-8":                 {k, "{\"alg\":\"ES256\",\"kid\":\"k\xff\"}", Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			token := tc.by.raw(t, tc.header, claims)
			if tc.want == accepted {
				admitted(t, a, token)
				return
			}
			refused(t, a, token, tc.want)
		})
	}
	if evil.asked.Load() != 0 {
		t.Error("the bridge went where a token sent it")
	}
}

func TestClaimsThatOccurTwice(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	a := trusting(t, c, newKeyServer(t, k.public()))
	good := c.text(nil)
	for name, tc := range map[string]struct {
		more string
		want Reason
	}{
		"subject":           {`"sub":"admin"`, Malformed},
		"escaped subject":   {`"s\u0075b":"admin"`, Malformed},
		"the same subject":  {`"sub":"alice"`, Malformed},
		"audience":          {`"aud":"x"`, Malformed},
		"end":               {`"exp":99999999999`, Malformed},
		"an unknown claim":  {`"x":1,"x":2`, Malformed},
		"not at the top":    {`"x":{"sub":1},"y":{"sub":2}`, accepted},
		"an unpaired quote": {`"x":"`, Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			token := k.raw(t, `{"alg":"ES256","kid":"k"}`, "{"+tc.more+","+good[1:])
			if tc.want == accepted {
				admitted(t, a, token)
				return
			}
			refused(t, a, token, tc.want)
		})
	}
}

func TestTokensThatAreNone(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	s := newKeyServer(t, k.public())
	a := trusting(t, c, s)
	good := k.sign(t, c.claims(nil), nil)
	head, rest, _ := strings.Cut(good, ".")
	body, signature, _ := strings.Cut(rest, ".")
	deep := strings.Repeat(`{"a":`, 4000) + "1" + strings.Repeat("}", 4000)
	for name, tc := range map[string]struct {
		token string
		want  Reason
	}{
		"opaque":                {"opaque", UnknownToken},
		"two parts":             {head + "." + body, UnknownToken},
		"encrypted":             {strings.Repeat("a.", 4) + "a", UnknownToken},
		"dots":                  {strings.Repeat(".", MaxToken), UnknownToken},
		"empty parts":           {"..", Malformed},
		"no signature":          {head + "." + body + ".", BadSignature},
		"none, unsigned":        {encode(`{"alg":"none"}`) + "." + body + ".", BadAlgorithm},
		"another signature":     {spoil(good), BadSignature},
		"short signature":       {good[:len(good)-4], BadSignature},
		"signature is no code":  {head + "." + body + "." + "a", BadSignature},
		"other claims":          {head + "." + encode(c.text(map[string]any{"sub": "admin"})) + "." + signature, BadSignature},
		"padded":                {head + "=." + rest, Malformed},
		"claims are no code":    {head + ".a." + signature, Malformed},
		"claims are a list":     {head + "." + encode("[]") + "." + signature, Malformed},
		"claims without claims": {head + "." + encode("{}") + "." + signature, BadClaims},
		"deep":                  {head + "." + encode(deep)[:MaxToken/2] + "." + signature, Malformed},
	} {
		t.Run(name, func(t *testing.T) { refused(t, a, tc.token, tc.want) })
	}
	long := k.sign(t, c.claims(map[string]any{"x": strings.Repeat("x", MaxToken)}), nil)
	refused(t, a, long, TooLong)
	asked := s.asked.Load()
	for n := range 1000 {
		refused(t, a, fmt.Sprintf("%s.%s.%d", head, encode(c.text(map[string]any{"aud": fmt.Sprint(n)})), n), WrongAudience)
	}
	if s.asked.Load() != asked {
		t.Error("tokens for others made the bridge load keys")
	}
}

// A client learns nothing of why it was refused, and the operator nothing of
// the credential.
func TestRefusalsTellNothing(t *testing.T) {
	c := newClock()
	k := pair(jose.ES256, "k")
	a := trusting(t, c, newKeyServer(t, k.public()))
	want := *refused(t, a, "opaque", UnknownToken)
	if want.Status != http.StatusUnauthorized || want.Challenge != `Bearer error="invalid_token"` {
		t.Errorf("%+v", want)
	}
	for reason, token := range map[Reason]string{
		Expired:       k.sign(t, c.claims(map[string]any{"exp": 1}), nil),
		WrongAudience: k.sign(t, c.claims(map[string]any{"aud": "x"}), nil),
		WrongIssuer:   k.sign(t, c.claims(map[string]any{"iss": "x"}), nil),
		BadSignature:  spoil(k.sign(t, c.claims(nil), nil)),
		UnknownKey:    pair(jose.ES256, "k2").sign(t, c.claims(nil), nil),
		BadAlgorithm:  encode(`{"alg":"none"}`) + "." + encode(c.text(nil)) + ".",
		Malformed:     "..",
	} {
		p := *refused(t, a, token, reason)
		if got := p.Error(); got != "auth: refused: "+string(reason) {
			t.Errorf("the reason is told as %q", got)
		}
		if p.Reason = want.Reason; p != want {
			t.Errorf("%s: the client is told %+v; others %+v", reason, p, want)
		}
	}
}

// Whatever is signed, who comes out of it is who every other reader of JSON
// finds in it, and the token is for this bridge and this time.
func FuzzSignedTokens(f *testing.F) {
	c := newClock()
	k := pair(jose.ES256, "k")
	s := newKeyServer(f, k.public())
	a := trusting(f, c, s)
	jwk, _ := k.public().MarshalJSON()
	f.Add(`{"alg":"ES256","kid":"k"}`, c.text(nil))
	f.Add(`{"alg":"ES256","jwk":`+string(jwk)+`}`, c.text(map[string]any{"aud": []string{"other"}}))
	f.Add(`{"alg":"ES256","x5c":["AA=="],"nonce":1}`, `{"iss":"`+issuerName+`","sub":"a","sub":"b"}`)
	f.Add(`{"alg":"none"}`, `{"exp":1e99,"SUB":"x"}`)
	f.Fuzz(func(t *testing.T, header, claims string) {
		token := k.raw(t, header, claims)
		id, p := a.Check(request("Bearer " + token))
		if p != nil {
			return
		}
		var h, m map[string]any
		if json.Unmarshal([]byte(header), &h) != nil || json.Unmarshal([]byte(claims), &m) != nil {
			t.Fatalf("%q, %q: let in", header, claims)
		}
		end, _ := m["exp"].(float64)
		if h["alg"] != "ES256" || m["iss"] != issuerName || m["sub"] != id.Subject || end+1 < float64(c.now().Add(-defaultLeeway).Unix()) {
			t.Errorf("%q, %q: let in as %+v", header, claims, id)
		}
		if list, ok := m["aud"].([]any); m["aud"] != audience && m["aud"] != "other" && (!ok || !slices.Contains(list, any(audience)) && !slices.Contains(list, any("other"))) {
			t.Errorf("%q: let in, for whomever", claims)
		}
	})
}
