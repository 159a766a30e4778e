package configs

import "strconv"

// Encrypted reports that the endpoint speaks TLS.
func (s Server) Encrypted() bool { return s.CertFile != "" || s.KeyFile != "" }

// minKey is the least length of a key to seal with, in bytes.
const minKey = 32

// checkKeys never repeats a key.
func (s Server) checkKeys(p *Problems) {
	for i, key := range s.SecretKeys {
		if len(key) < minKey {
			p.add("secrets.keys["+strconv.Itoa(i)+"]", "the key has %d bytes; use at least %d random ones, as `openssl rand -base64 32` makes", len(key), minKey)
		}
	}
}

func (s Server) checkCertificate(p *Problems) {
	switch {
	case !s.Encrypted():
	case s.CertFile == "":
		p.add("tls.cert_file", "a key needs its certificate; name the file that holds it in PEM")
	case s.KeyFile == "":
		p.add("tls.key_file", "a certificate needs its key; name the file that holds it in PEM")
	}
}
