package configs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// maxRoots is the largest file of certificates that is read, in bytes; the
// bundles of all public authorities have less than 1 MiB.
const maxRoots = 16 << 20

// UpstreamTLS returns how the certificate of the server is checked; nil is as
// the system does. It reads UpstreamCAFile.
func (r Route) UpstreamTLS() (*tls.Config, error) {
	if r.UpstreamCAFile == "" {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // then those of the file are all there are
	}
	if err := addRoots(roots, r.UpstreamCAFile); err != nil {
		return nil, fmt.Errorf("configs: upstream_ca_file: %w", err)
	}
	return &tls.Config{RootCAs: roots}, nil
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

// checkRoots reads the file, so that a wrong one is told of early.
func (r Route) checkRoots(p *Problems) {
	const field = "upstream_ca_file"
	switch {
	case r.UpstreamCAFile == "":
	case r.Command.Given():
		p.add(field, "a command shows no certificate; leave it out")
	default:
		if err := addRoots(x509.NewCertPool(), r.UpstreamCAFile); err != nil {
			p.add(field, "%v", err)
		}
	}
}
