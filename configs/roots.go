package configs

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"
)

// maxRoots is the largest file of certificates that is read, in bytes; the
// bundles of all public authorities have less than 1 MiB.
const maxRoots = 16 << 20

// UpstreamTLS returns how the certificate of the server is checked, and what it
// is shown; nil is as the system does, and nothing. It reads the files.
func (r Route) UpstreamTLS() (*tls.Config, error) {
	if r.UpstreamCAFile == "" && r.UpstreamCertFile == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if r.UpstreamCAFile != "" {
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool() // then those of the file are all there are
		}
		if err := addRoots(roots, r.UpstreamCAFile); err != nil {
			return nil, fmt.Errorf("configs: upstream_ca_file: %w", err)
		}
		config.RootCAs = roots
	}
	if r.UpstreamCertFile != "" {
		pair, err := keyPair(r.UpstreamCertFile, r.UpstreamKeyFile)
		if err != nil {
			return nil, fmt.Errorf("configs: upstream_cert_file: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// ClientCAs returns the authorities in ClientCAFile.
func (s Server) ClientCAs() (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	return pool, addRoots(pool, s.ClientCAFile)
}

func keyPair(certFile, keyFile string) (tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return pair, fmt.Errorf("the certificate %s and its key %s are no pair in PEM: %w", certFile, keyFile, err)
	}
	return pair, nil
}

// digest tells one content of the files of a route from another; "" where it
// has none.
func (r Route) digest(more ...string) string {
	sum, any := sha256.New(), false
	for _, file := range append(more, r.UpstreamCAFile, r.UpstreamCertFile, r.UpstreamKeyFile) {
		if file == "" {
			continue
		}
		any = true
		text, err := readSmall(file)
		if err != nil { // which is told by those who need it
			text = []byte(err.Error())
		}
		part := sha256.Sum256(text)
		_, _ = sum.Write(part[:]) // never fails (hash.Hash)
	}
	if !any {
		return ""
	}
	return string(sum.Sum(nil))
}

// addRoots adds the certificates of a PEM file. Other blocks, as keys, are
// passed over.
func addRoots(pool *x509.CertPool, file string) error {
	text, err := readSmall(file)
	if err != nil {
		return err
	}
	found := 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		found++
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return fmt.Errorf("%s: certificate number %d is broken: %w", file, found, err)
		}
		pool.AddCert(cert)
	}
	if found == 0 {
		return fmt.Errorf("%s holds no certificate; it must be in PEM form, which begins with -----BEGIN CERTIFICATE-----", file)
	}
	return nil
}

func readSmall(file string) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, withoutOp(err, file)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a directory; name a file of certificates", file)
	case info.Size() > maxRoots:
		return nil, fmt.Errorf("%s is too large for a file of certificates", file)
	}
	text, err := os.ReadFile(file)
	return text, withoutOp(err, file)
}

// withoutOp leaves the name of a system call out of an error.
func withoutOp(err error, file string) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return fmt.Errorf("%s: %w", file, path.Err)
	}
	return err
}

// checkRoots reads the files, so that a wrong one is told of early.
func (r Route) checkRoots(p *Problems) {
	for _, one := range []struct{ field, file string }{
		{"upstream_ca_file", r.UpstreamCAFile}, {"upstream_cert_file", r.UpstreamCertFile}, {"upstream_key_file", r.UpstreamKeyFile},
	} {
		if one.file != "" && r.Command.Given() {
			p.add(one.field, "a command shows and sees no certificate; leave it out")
			return
		}
	}
	if r.UpstreamCAFile != "" {
		if err := addRoots(x509.NewCertPool(), r.UpstreamCAFile); err != nil {
			p.add("upstream_ca_file", "%v", err)
		}
	}
	switch {
	case r.UpstreamCertFile == "" && r.UpstreamKeyFile == "":
	case r.UpstreamCertFile == "":
		p.add("upstream_cert_file", "a key needs its certificate; name the file that holds it in PEM")
	case r.UpstreamKeyFile == "":
		p.add("upstream_key_file", "a certificate needs its key; name the file that holds it in PEM")
	case strings.HasPrefix(r.Upstream, "http://"), strings.HasPrefix(r.Upstream, "ws://"):
		p.add("upstream_cert_file", "the URL of the upstream is not encrypted, so nothing is shown there; write https:// or wss://")
	default:
		if _, err := keyPair(r.UpstreamCertFile, r.UpstreamKeyFile); err != nil {
			p.add("upstream_cert_file", "%v", err)
		}
	}
}
