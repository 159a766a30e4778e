package auth

import (
	"context"
	"errors"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Kind is how an identity was proven.
type Kind string

// The kinds of identities. The empty one is nobody that was verified.
const (
	Anonymous   Kind = ""
	Static      Kind = "token"       // a bearer token that the operator chose
	JWT         Kind = "jwt"         // a JSON Web Token with a good signature
	Certificate Kind = "certificate" // a client certificate of a known authority
)

// Identity is who a request speaks for, as far as that was verified. The zero
// Identity is anonymous.
type Identity struct {
	Kind    Kind
	Issuer  string // of a JSON Web Token
	Subject string // of a JSON Web Token or a certificate
	Name    string // of a static token

	until time.Time
}

// Principal returns a text that is the same for all credentials of one
// identity and different for any other; "" for an anonymous one. It is not
// secret, but names a person: hash it where it may be seen.
func (i Identity) Principal() string {
	switch i.Kind {
	case Static:
		return string(mcp.Strings([]string{string(Static), i.Name}))
	case JWT:
		return string(mcp.Strings([]string{string(JWT), i.Issuer, i.Subject}))
	case Certificate:
		return string(mcp.Strings([]string{string(Certificate), i.Subject}))
	}
	return ""
}

// Until returns when the credential ends that proved the identity, leeway
// included; the zero time means never. Whatever goes on longer than one
// message has to look at it, see [Lease].
func (i Identity) Until() time.Time { return i.until }

// ExpiredAt reports whether the credential has ended.
func (i Identity) ExpiredAt(now time.Time) bool { return !i.until.IsZero() && !now.Before(i.until) }

// ErrExpired is the cause with which a [Lease] ends.
var ErrExpired = errors.New("auth: the client's credential has expired")

type identityKey struct{}

// With returns a context that carries an identity.
func With(ctx context.Context, i Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, i)
}

// From returns the identity that a context carries, or an anonymous one.
func From(ctx context.Context) Identity {
	i, _ := ctx.Value(identityKey{}).(Identity)
	return i
}
