package main

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"

	"github.com/mcpbridge/mcpbridge/configs"
)

// certificate is what a listener proves itself with, and what it wants to see
// of clients. It can be exchanged: connections to come use the new one.
type certificate struct {
	now atomic.Pointer[tls.Config]
}

// read reads what the files of a configuration hold now.
func (*certificate) read(s configs.Server) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("the certificate %s and its key %s are no pair in PEM: %w", s.CertFile, s.KeyFile, err)
	}
	// Each configuration has keys of its own for the resumption of sessions, so
	// that a client whose authority is gone cannot resume one.
	c := &tls.Config{
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
		Certificates: []tls.Certificate{pair},
	}
	if s.ClientCAFile == "" {
		return c, nil
	}
	if c.ClientCAs, err = s.ClientCAs(); err != nil {
		return nil, fmt.Errorf("tls.client_ca_file: %w", err)
	}
	c.ClientAuth = tls.RequireAndVerifyClientCert
	if s.ClientAuth == configs.ClientAuthIfGiven {
		c.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return c, nil
}

// load puts to work what the files hold now. After an error all stays as it is.
func (c *certificate) load(s configs.Server) error {
	now, err := c.read(s)
	if err == nil {
		c.now.Store(now)
	}
	return err
}

// config is that of the listener. Its own certificate is never shown; the
// server only looks whether there is one.
func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetCertificate:     func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &c.now.Load().Certificates[0], nil },
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.now.Load(), nil },
	}
}
