package web

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// ProxyOf returns the proxy through which requests to a URL go, as logs may show
// it: without its credentials. It is "" when there is none.
func (s *Site) ProxyOf(to *url.URL) string {
	if s.Transport.Proxy == nil {
		return ""
	}
	u, err := s.Transport.Proxy(&http.Request{URL: to})
	if err != nil || u == nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// Explain adds to the error of a request that did not reach the server what
// its text leaves out.
func (s *Site) Explain(to *url.URL, err error) error {
	if proxy := s.ProxyOf(to); proxy != "" {
		err = &ByProxy{Proxy: proxy, Err: err}
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		err = &Untrusted{err}
	}
	return err
}

// ByProxy is the failure of a request that went through a proxy.
type ByProxy struct {
	Proxy string // its URL without credentials
	Err   error
}

func (e *ByProxy) Error() string { return fmt.Sprintf("through the proxy %s: %v", e.Proxy, e.Err) }

// Unwrap returns the cause.
func (e *ByProxy) Unwrap() error { return e.Err }

// Words implements transports.Worded.
func (e *ByProxy) Words() string {
	return "cannot reach the upstream server through the proxy " + e.Proxy +
		": check that the proxy runs, lets the bridge connect and reaches the server, or exempt the server from it (NO_PROXY)"
}

// Untrusted says that the server showed a certificate of an authority that the
// bridge does not know, or one for another name.
type Untrusted struct{ Err error }

func (e *Untrusted) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Untrusted) Unwrap() error { return e.Err }

// Words implements transports.Worded.
func (e *Untrusted) Words() string {
	return "the bridge does not trust the certificate of the upstream server: check its name and validity, " +
		"and give the bridge the certificate of its authority if that is one of your own"
}

// errProxyAuth is what the proxy says to a request in clear text; a tunnel is
// refused by the library.
var errProxyAuth = errors.New("the proxy wants credentials (HTTP status 407): give them in the URL of HTTP_PROXY")
