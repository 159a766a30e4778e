package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"
)

const secret = "s3cret-token-of-16-or-more"

func hashed(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestStaticTokens(t *testing.T) {
	const other = "another-secret-of-the-kind"
	config := Config{Tokens: []Token{{Name: "ci", Secret: secret}, {Name: "desk", SHA256: strings.ToUpper(hashed(other))}}}
	a := newAuthenticator(t, newClock(), config)
	for token, name := range map[string]string{secret: "ci", other: "desk"} {
		id := admitted(t, a, token)
		if want := (Identity{Kind: Static, Name: name}); id != want {
			t.Errorf("identity %+v; want %+v", id, want)
		}
		if !id.Until().IsZero() || id.ExpiredAt(time.Now().AddDate(100, 0, 0)) {
			t.Error("a static token has an end")
		}
	}
	for _, wrong := range []string{secret + "x", secret[:len(secret)-1], strings.ToUpper(secret), hashed(other), hashed(secret), "a.b.c"} {
		refused(t, a, wrong, UnknownToken)
	}
}

// However many tokens there are, each is found and takes the same work: all
// are compared with.
func TestManyStaticTokens(t *testing.T) {
	var config Config
	for n := range 1000 {
		config.Tokens = append(config.Tokens, Token{Name: fmt.Sprint("n", n), Secret: fmt.Sprintf("secret-number-%08d", n)})
	}
	a := newAuthenticator(t, newClock(), config)
	for _, n := range []int{0, 1, 500, 999} {
		if id := admitted(t, a, fmt.Sprintf("secret-number-%08d", n)); id.Name != fmt.Sprint("n", n) {
			t.Errorf("token %d is of %q", n, id.Name)
		}
	}
	refused(t, a, "secret-number-00001000", UnknownToken)
}

func TestStaticTokensThatAreNone(t *testing.T) {
	for want, tokens := range map[string][]Token{
		"token 1 has no name":         {{Secret: secret}},
		`"a": give either`:            {{Name: "a"}},
		`"b": give either`:            {{Name: "b", Secret: secret, SHA256: hashed("x")}},
		"64 hexadecimal digits":       {{Name: "a", SHA256: "abc"}},
		"too short":                   {{Name: "a", Secret: "fifteen-letters"}},
		"no client can send":          {{Name: "a", Secret: "with a space in the middle"}},
		`two tokens have the name`:    {{Name: "a", Secret: secret}, {Name: "a", Secret: secret + "2"}},
		`"b" is the same as another`:  {{Name: "a", Secret: secret}, {Name: "b", SHA256: hashed(secret)}},
		"no client can send this tok": {{Name: "a", Secret: strings.Repeat("a", MaxToken+1)}},
	} {
		_, err := New(Config{Tokens: tokens})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want %q", err, want)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error holds the secret: %v", err)
		}
	}
}
