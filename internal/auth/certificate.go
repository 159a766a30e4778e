package auth

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"time"
)

// RequestCertificates makes a listener ask clients for certificates, on behalf
// of all authenticators that take them: the connection begins before the route
// is known. Clients without one may still connect, and those with one of an
// unknown authority may not; Check decides for each request.
func RequestCertificates(c *tls.Config, all ...*Authenticator) {
	for _, a := range all {
		if a == nil || a.certificates == nil {
			continue
		}
		if c.ClientCAs == nil {
			c.ClientCAs = x509.NewCertPool()
		}
		for _, authority := range a.certificates.Authorities {
			c.ClientCAs.AddCert(authority)
		}
		c.ClientAuth = tls.VerifyClientCertIfGiven
	}
}

// identify returns who the certificate of a connection is for. The connection
// has verified it, but perhaps for another route with other authorities, and
// perhaps long ago.
func (c *Certificates) identify(state *tls.ConnectionState, now time.Time) (Identity, bool) {
	at := slices.IndexFunc(state.VerifiedChains, func(chain []*x509.Certificate) bool {
		return len(chain) > 0 && slices.ContainsFunc(c.Authorities, chain[len(chain)-1].Equal)
	})
	if at < 0 {
		return Identity{}, false
	}
	chain := state.VerifiedChains[at]
	subject, ok := c.subject(chain[0])
	id := Identity{Kind: Certificate, Subject: subject, until: chain[0].NotAfter}
	for _, above := range chain[1:] {
		if above.NotAfter.Before(id.until) {
			id.until = above.NotAfter
		}
	}
	return id, ok && !id.ExpiredAt(now)
}

// subject returns the name of a certificate: its subject in the form of RFC
// 2253, or its URI. A certificate with several URIs has no one identity.
func (c *Certificates) subject(leaf *x509.Certificate) (string, bool) {
	if c.URI {
		if len(leaf.URIs) != 1 {
			return "", false
		}
		return leaf.URIs[0].String(), true
	}
	subject := leaf.Subject.String()
	return subject, subject != ""
}
