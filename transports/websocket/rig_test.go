package websocket

import (
	"crypto/tls"
	"crypto/x509"
	"net/http/httptest"
	"testing"
	"time"
)

// trusting is the TLS configuration of a client that trusts a test server,
// nil where that has no TLS.
func trusting(web *httptest.Server) *tls.Config {
	if web.TLS == nil {
		return nil
	}
	c := &tls.Config{RootCAs: x509.NewCertPool()}
	c.RootCAs.AddCert(web.Certificate())
	return c
}

func within(t testing.TB, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("it did not happen")
	}
}
