package main

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"
)

// certificate is what a listener proves itself with. It can be exchanged.
type certificate struct {
	now atomic.Pointer[tls.Certificate]
}

// load reads a certificate and its key. After an error the one before stays.
func (c *certificate) load(certFile, keyFile string) error {
	one, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return fmt.Errorf("the certificate %s and its key %s are no pair in PEM: %w", certFile, keyFile, err)
	}
	c.now.Store(&one)
	return nil
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.now.Load(), nil },
	}
}
