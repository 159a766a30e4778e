package auth

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Config says who is let in. At least one of Tokens, Issuers and Certificates
// must be given.
type Config struct {
	Tokens       []Token       // bearer tokens that the operator chose
	Issuers      []Issuer      // whose JSON Web Tokens are taken
	Certificates *Certificates // client certificates; nil takes none

	// ResourceMetadata returns the URL of the protected resource metadata (RFC
	// 9728) that clients of this request are told; nil or "" is none.
	ResourceMetadata func(*http.Request) string
	// Trouble is told of key sets that cannot be loaded, at most once in 10 s
	// each; the errors hold no credential. nil tells nobody.
	Trouble func(error)
	// TLS is for the connections to key sets; nil is the system's.
	TLS *tls.Config
}

// Issuer is an authorization server whose JSON Web Tokens are taken.
type Issuer struct {
	Issuer string // its name, as in the iss claim, exactly
	// JWKS are the URLs of its key sets: https, or http on this machine.
	JWKS []string
	// JWKSFile is a file with a key set, beside or instead of URLs. Changes of
	// it are seen as those of a URL.
	JWKSFile string
	// Audiences are what this bridge is called in tokens: one of them must be
	// in the aud claim. Required.
	Audiences []string
	// Algorithms are those that tokens may be signed with; default all of
	// [Algorithms].
	Algorithms []string
	Scopes     []string // that a token must have, all of them
	// Leeway is how much the clocks may differ; default 30 s, negative is none,
	// 5 minutes is the most.
	Leeway time.Duration
	// MaxAge is how long keys are used that cannot be loaded again; default 1 h.
	MaxAge time.Duration
}

// Certificates are client certificates (mutual TLS). See [RequestCertificates].
type Certificates struct {
	// Authorities are those whose clients are let in. Required.
	Authorities []*x509.Certificate
	// URI takes the identity from the one URI among the certificate's
	// alternative names, as SPIFFE has it, instead of its subject.
	URI bool
}

const (
	defaultLeeway = 30 * time.Second
	maxLeeway     = 5 * time.Minute
	defaultMaxAge = time.Hour
)

func (c Config) check() error {
	if len(c.Tokens) == 0 && len(c.Issuers) == 0 && c.Certificates == nil {
		return errors.New("nobody could be let in: give tokens, issuers or certificates")
	}
	if c.Certificates != nil && len(c.Certificates.Authorities) == 0 {
		return errors.New("certificates need at least one authority")
	}
	return nil
}

// settled returns the issuer with its defaults, or what is wrong with it.
func (i Issuer) settled() (Issuer, error) {
	if i.Leeway == 0 {
		i.Leeway = defaultLeeway
	}
	i.Leeway = max(i.Leeway, 0)
	if i.MaxAge <= 0 {
		i.MaxAge = defaultMaxAge
	}
	i.MaxAge = max(i.MaxAge, freshFor)
	if len(i.Algorithms) == 0 {
		i.Algorithms = Algorithms()
	}
	switch {
	case i.Issuer == "":
		return i, errors.New("an issuer needs a name, as it stands in the iss claim")
	case len(i.JWKS) == 0 && i.JWKSFile == "":
		return i, errors.New("its keys are not known: give the URL or the file of its key set (JWKS)")
	case len(i.Audiences) == 0 || slices.Contains(i.Audiences, ""):
		return i, errors.New("an audience is required: without it a token for any other service would be taken")
	case i.Leeway > maxLeeway:
		return i, fmt.Errorf("the leeway is %s; %s is the most", i.Leeway, maxLeeway)
	}
	return i, errors.Join(i.checkAlgorithms(), i.checkScopes())
}

func (i Issuer) checkAlgorithms() error {
	for _, a := range i.Algorithms {
		switch {
		case strings.EqualFold(a, "none"):
			return errors.New(`the algorithm "none" is no signature`)
		case strings.HasPrefix(strings.ToUpper(a), "HS"):
			return fmt.Errorf("the algorithm %q has no public key, so that no key set can hold one", a)
		case !slices.Contains(Algorithms(), a):
			return fmt.Errorf("the algorithm %q is not known; known are %s", a, strings.Join(Algorithms(), ", "))
		}
	}
	return nil
}

// checkScopes holds scopes to RFC 6749 section 3.3.
func (i Issuer) checkScopes() error {
	for _, s := range i.Scopes {
		if s == "" || strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '"' || c == '\\' }) {
			return fmt.Errorf("%q is no scope: a scope is one word of ASCII without quotes and backslashes", s)
		}
	}
	return nil
}
