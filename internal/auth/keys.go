package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	jose "github.com/go-jose/go-jose/v4"

	"github.com/mcpbridge/mcpbridge/mcp"
)

const (
	maxKeys    = 100 // of a key set
	maxTries   = 4   // keys that one token is checked with
	minRSABits = 2048
	maxRSABits = 8192 // larger ones cost too much to check
)

// Algorithms returns the signature algorithms that can be allowed. All have
// public keys: with a shared secret, whoever checks tokens could make them.
func Algorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

// key is a public key of an authorization server.
type key struct {
	id        string
	algorithm string // the only one it is for, or ""
	public    any
}

// fits reports whether a token may be signed with the key. The key decides
// which algorithms that are, never the token alone.
func (k key) fits(c *claimed) bool {
	if k.id != "" && c.keyID != "" && k.id != c.keyID {
		return false
	}
	if k.algorithm != "" && k.algorithm != c.algorithm {
		return false
	}
	return slices.Contains(algorithmsOf(k.public), c.algorithm)
}

func algorithmsOf(public any) []string {
	switch k := public.(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits >= minRSABits && bits <= maxRSABits {
			return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
		}
	case *ecdsa.PublicKey:
		switch k.Curve.Params().BitSize {
		case 256:
			return []string{"ES256"}
		case 384:
			return []string{"ES384"}
		case 521:
			return []string{"ES512"}
		}
	case ed25519.PublicKey:
		return []string{"EdDSA"}
	}
	return nil
}

// parseKeys reads a JSON Web Key Set (RFC 7517). Keys that are no public keys
// for signatures are left out, as section 5 has it; unfit tells how many.
func parseKeys(text []byte) (keys []key, unfit int, err error) {
	raw, err := mcp.ParseRaw(text)
	if err != nil {
		return nil, 0, errors.New("it is no JSON")
	}
	set, ok := mcp.ParseObject(raw)
	list := set.Array("keys")
	switch {
	case !ok || list == nil || set.Duplicate() != "":
		return nil, 0, errors.New(`it is no key set: it has no list "keys", or a name twice`)
	case list.Len() > maxKeys:
		return nil, 0, fmt.Errorf("it has %d keys; %d is the most", list.Len(), maxKeys)
	}
	for n := range list.Len() {
		k, ok := parseKey(list.Object(n))
		if !ok {
			unfit++
			continue
		}
		keys = append(keys, k)
	}
	return keys, unfit, nil
}

func parseKey(o *mcp.Object) (key, bool) {
	if o == nil || o.Duplicate() != "" || isPrivate(o) || !verifies(o) {
		return key{}, false
	}
	for _, name := range []string{"x5c", "x5t", "x5t#S256", "x5u"} {
		o.Delete(name) // certificates say nothing that the set does not
	}
	var k jose.JSONWebKey
	if json.Unmarshal(o.Append(nil), &k) != nil || !k.Valid() || algorithmsOf(k.Key) == nil {
		return key{}, false
	}
	return key{id: k.KeyID, algorithm: k.Algorithm, public: k.Key}, true
}

// isPrivate reports a key that whoever reads the set could sign with.
func isPrivate(o *mcp.Object) bool {
	return slices.ContainsFunc([]string{"k", "d", "p", "q", "dp", "dq", "qi", "oth", "priv"}, o.Has)
}

// verifies reports whether a key is for signatures, as far as it says.
func verifies(o *mcp.Object) bool {
	if o.Has("use") && o.Text("use") != "sig" {
		return false
	}
	if !o.Has("key_ops") {
		return true
	}
	ops := o.Array("key_ops")
	for n := range ops.Len() {
		if ops.At(n).Is("verify") {
			return true
		}
	}
	return false
}
