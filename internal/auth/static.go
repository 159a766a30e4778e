package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
)

// minSecret is how many bytes a token has at least: shorter ones can be
// guessed.
const minSecret = 16

// Token is a bearer token that the operator chose. It is given as it is, or as
// its SHA-256, so that a configuration need not hold it.
type Token struct {
	Name   string // who the token stands for; unique
	Secret string // the token, at least 16 characters of RFC 6750's b64token
	SHA256 string // the SHA-256 of the token, in hexadecimal; instead of Secret
}

// tokens knows the static tokens by their hashes.
type tokens struct {
	names []string
	sums  [][sha256.Size]byte
}

func newTokens(config []Token) (*tokens, error) {
	t := &tokens{}
	names, sums := map[string]bool{}, map[[sha256.Size]byte]bool{}
	for n, c := range config {
		sum, err := c.sum()
		switch {
		case c.Name == "":
			return nil, fmt.Errorf("token %d has no name", n+1)
		case err != nil:
			return nil, fmt.Errorf("token %q: %w", c.Name, err)
		case names[c.Name]:
			return nil, fmt.Errorf("two tokens have the name %q", c.Name)
		case sums[sum]:
			return nil, fmt.Errorf("token %q is the same as another one", c.Name)
		}
		names[c.Name], sums[sum] = true, true
		t.names, t.sums = append(t.names, c.Name), append(t.sums, sum)
	}
	return t, nil
}

// sum returns the hash of the token. Its errors hold nothing of the token.
func (c Token) sum() (sum [sha256.Size]byte, err error) {
	switch {
	case (c.Secret == "") == (c.SHA256 == ""):
		return sum, errors.New("give either the token or its SHA-256")
	case c.SHA256 != "":
		b, err := hex.DecodeString(c.SHA256)
		if err != nil || len(b) != sha256.Size {
			return sum, errors.New("the SHA-256 must be 64 hexadecimal digits")
		}
		return [sha256.Size]byte(b), nil
	case len(c.Secret) < minSecret:
		return sum, fmt.Errorf("the token is too short: it needs at least %d characters", minSecret)
	case len(c.Secret) > MaxToken || !isB64Token(c.Secret):
		return sum, errors.New("no client can send this token: use letters, digits and -._~+/ only (RFC 6750), 16 KiB at most")
	}
	return sha256.Sum256([]byte(c.Secret)), nil
}

// find returns the name of a token. It compares with every one, so that the
// time tells neither which one it is nor how much of it is right.
func (t *tokens) find(token string) (name string, ok bool) {
	sum := sha256.Sum256([]byte(token))
	at := -1
	for n := range t.sums {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], t.sums[n][:]), n, at)
	}
	if at < 0 {
		return "", false
	}
	return t.names[at], true
}
