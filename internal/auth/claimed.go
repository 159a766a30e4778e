package auth

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// claimed is what a JSON Web Token says. Nothing of it is verified.
type claimed struct {
	jwt.Claims
	algorithm string
	keyID     string
	scopes    []string
	bound     string // SHA-256 of the certificate it is bound to (RFC 8705), base64url
	foreign   bool   // it is bound to a proof that is not known here
}

// parseClaimed reads a JSON Web Token without looking at its signature.
func parseClaimed(token string) (*claimed, Reason) {
	if strings.Count(token, ".") != 2 {
		return nil, UnknownToken // 4 dots are an encrypted token
	}
	head, rest, _ := strings.Cut(token, ".")
	body, _, _ := strings.Cut(rest, ".")
	c := &claimed{}
	if reason := c.readHeader(head); reason != accepted {
		return nil, reason
	}
	return c, c.readClaims(body)
}

// part decodes one part of a token to an object whose members all have names
// of their own: of a name that occurs twice, two readers may take different
// values (RFC 7515 section 4, RFC 8725 section 2.4).
// It returns nil for any other.
func part(encoded string) *mcp.Object {
	text, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return nil
	}
	raw, err := mcp.ParseRaw(text)
	if err != nil {
		return nil
	}
	o, ok := mcp.ParseObject(raw)
	if !ok || o.Duplicate() != "" {
		return nil
	}
	return o
}

// readHeader takes what chooses the key. Extensions that a reader must
// understand are not understood, and where the token says that its key is to
// be found does not matter.
func (c *claimed) readHeader(encoded string) Reason {
	o := part(encoded)
	if o == nil {
		return Malformed
	}
	if o.Has("crit") || o.Has("b64") || !isAccessToken(o) {
		return BadHeader
	}
	if v, ok := o.Get("kid"); ok && !v.IsString() {
		return BadHeader
	}
	c.algorithm, c.keyID = o.Text("alg"), o.Text("kid")
	return accepted
}

// isAccessToken reports whether the type of a token, if it has one, says that
// it may be an access token (RFC 9068 section 2.1, RFC 8725 section 3.11).
func isAccessToken(header *mcp.Object) bool {
	if !header.Has("typ") {
		return true
	}
	switch strings.TrimPrefix(strings.ToLower(header.Text("typ")), "application/") {
	case "jwt", "at+jwt":
		return true
	}
	return false
}

func (c *claimed) readClaims(encoded string) Reason {
	o := part(encoded)
	if o == nil {
		return Malformed
	}
	if err := json.Unmarshal(registered(o), &c.Claims); err != nil {
		return BadClaims
	}
	if c.Issuer == "" || c.Subject == "" || c.Expiry == nil {
		return BadClaims
	}
	scopes, ok := scopesOf(o)
	if !ok {
		return BadClaims
	}
	c.scopes = scopes
	c.readBinding(o)
	return accepted
}

// registered returns the claims that the library reads and no others, under
// their exact names: the standard decoder does not mind case.
func registered(o *mcp.Object) []byte {
	only := mcp.NewObject()
	for _, name := range []string{"iss", "sub", "aud", "exp", "nbf", "iat"} {
		if v, ok := o.Get(name); ok {
			only.Set(name, v)
		}
	}
	return only.Append(nil)
}

// scopesOf returns the scopes of a token: a string in the claim of RFC 9068,
// or either a string or a list in the one of others.
func scopesOf(o *mcp.Object) (scopes []string, ok bool) {
	for _, name := range []string{"scope", "scp"} {
		v, has := o.Get(name)
		if !has {
			continue
		}
		if text, isText := v.Text(); isText {
			scopes = append(scopes, strings.Fields(text)...)
			continue
		}
		list, isList := mcp.ParseArray(v)
		if !isList {
			return nil, false
		}
		for n := range list.Len() {
			text, isText := list.At(n).Text()
			if !isText {
				return nil, false
			}
			scopes = append(scopes, text)
		}
	}
	return scopes, true
}

// readBinding takes what the token is bound to. A token that is bound to a key
// is no bearer token: to take it without the key would let a thief use it.
func (c *claimed) readBinding(o *mcp.Object) {
	if !o.Has("cnf") {
		return
	}
	cnf := o.Object("cnf")
	if c.bound = cnf.Text("x5t#S256"); c.bound == "" || cnf.Len() != 1 {
		c.foreign = true
	}
}
