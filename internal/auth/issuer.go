package auth

import (
	"context"
	"errors"
	"slices"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// issuer checks the tokens of one authorization server.
type issuer struct {
	Issuer
	sources    []*source
	algorithms []jose.SignatureAlgorithm
}

func newIssuer(config Issuer) *issuer {
	i := &issuer{Issuer: config}
	for _, a := range config.Algorithms {
		i.algorithms = append(i.algorithms, jose.SignatureAlgorithm(a))
	}
	return i
}

// admits checks all of a token but its signature and its scopes.
func (i *issuer) admits(c *claimed, now time.Time) Reason {
	if !slices.Contains(i.Algorithms, c.algorithm) {
		return BadAlgorithm
	}
	err := c.ValidateWithLeeway(jwt.Expected{Issuer: i.Issuer.Issuer, AnyAudience: i.Audiences, Time: now}, i.Leeway)
	switch {
	case errors.Is(err, jwt.ErrInvalidAudience):
		return WrongAudience
	case errors.Is(err, jwt.ErrExpired), i.identity(c).ExpiredAt(now):
		return Expired
	case err != nil:
		return NotYetValid
	case c.foreign:
		return NotBound
	}
	return accepted
}

func (i *issuer) identity(c *claimed) Identity {
	return Identity{Kind: JWT, Issuer: c.Issuer, Subject: c.Subject, until: c.Expiry.Time().Add(i.Leeway)}
}

// candidate is a key that a token may be signed with, and where it is from.
type candidate struct {
	key
	from       *source
	generation uint64
}

// find returns the keys that a token may be signed with. If there is none the
// sources are asked again: the server may have a new one.
func (i *issuer) find(ctx context.Context, c *claimed) ([]candidate, Reason) {
	keys, _ := i.fitting(c)
	if len(keys) > 0 {
		return keys, accepted
	}
	again(ctx, i.sources)
	keys, whole := i.fitting(c)
	switch {
	case len(keys) > 0:
		return keys, accepted
	case !whole:
		return nil, KeysUnavailable
	}
	return nil, UnknownKey
}

// fitting looks through what the sources hold now; whole is false when one of
// them holds nothing that may be used.
func (i *issuer) fitting(c *claimed) (keys []candidate, whole bool) {
	whole = true
	for _, from := range i.sources {
		set := from.usable()
		if set == nil {
			whole = false
			continue
		}
		for _, k := range set.keys {
			if k.fits(c) && len(keys) < maxTries {
				keys = append(keys, candidate{key: k, from: from, generation: set.generation})
			}
		}
	}
	return keys, whole
}

// signed returns the key that the token is signed with, or nil.
func (i *issuer) signed(token string, keys []candidate) *candidate {
	parsed, err := jose.ParseSignedCompact(token, i.algorithms)
	if err != nil {
		return nil
	}
	for n := range keys {
		if _, err := parsed.Verify(keys[n].public); err == nil {
			return &keys[n]
		}
	}
	return nil
}

// proof says what a token proves that is signed with the key.
func (i *issuer) proof(c *claimed, by *candidate) *proof {
	missing := func(scope string) bool { return !slices.Contains(c.scopes, scope) }
	return &proof{
		identity: i.identity(c), issuer: i, from: by.from, generation: by.generation, bound: c.bound,
		scoped: !slices.ContainsFunc(i.Scopes, missing),
	}
}
