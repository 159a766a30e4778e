package auth

import (
	"crypto"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func newAuthority(t testing.TB, name string, above *authority) *authority {
	key := pair(jose.ES256, "authority "+name).private
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(2 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	by := &authority{template, key}
	if above != nil {
		by = above
	}
	return &authority{issue(t, template, by, key.Public()), key}
}

func issue(t testing.TB, template *x509.Certificate, by *authority, key crypto.PublicKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, by.cert, key, by.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// client makes a client certificate.
func (a *authority) client(t testing.TB, subject pkix.Name, usage x509.ExtKeyUsage, above []*authority, uris ...string) *tls.Certificate {
	key := pair(jose.ES256, "client").private
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: subject, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour).Truncate(time.Second),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage},
	}
	for _, text := range uris {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		template.URIs = append(template.URIs, u)
	}
	leaf := issue(t, template, a, key.Public())
	c := &tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
	for _, between := range above {
		c.Certificate = append(c.Certificate, between.cert.Raw)
	}
	return c
}

// checked is the answer to one request over TLS.
type checked struct {
	id      Identity
	problem *Problem
}

// listener serves the check of each authenticator under the path of its
// number, as routes of one listener.
func listener(t *testing.T, all ...*Authenticator) func(c *tls.Certificate, path, authorization string) (checked, error) {
	results := make(chan checked, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, p := all[r.URL.Path[1]-'0'].Check(r)
		results <- checked{id, p}
	}))
	s.TLS = &tls.Config{}
	RequestCertificates(s.TLS, append(all, nil)...)
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	return func(c *tls.Certificate, path, authorization string) (checked, error) {
		config := s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		if c != nil {
			// Sent whatever the listener says that it knows.
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return c, nil }
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		answer, err := client.Do(r)
		if err != nil {
			return checked{}, err
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		return <-results, nil
	}
}

func TestCertificates(t *testing.T) {
	root, foreign := newAuthority(t, "root", nil), newAuthority(t, "foreign", nil)
	middle := newAuthority(t, "middle", root)
	second := newAuthority(t, "second", nil)
	now := &clock{t: time.Now()}
	with := func(c Config) *Authenticator { return newAuthenticator(t, now, c) }
	roots := []*x509.Certificate{root.cert}
	subjects := with(Config{Certificates: &Certificates{Authorities: roots}})
	uris := with(Config{Certificates: &Certificates{Authorities: roots, URI: true}})
	others := with(Config{Certificates: &Certificates{Authorities: []*x509.Certificate{second.cert}}})
	tokens := with(Config{Tokens: []Token{{Name: "ci", Secret: secret}}})
	both := with(Config{Tokens: []Token{{Name: "ci", Secret: secret}}, Certificates: &Certificates{Authorities: roots}})
	ask := listener(t, subjects, uris, others, tokens, both)

	alice := pkix.Name{CommonName: "alice, the 1st", Organization: []string{"Example"}}
	const named = `CN=alice\, the 1st,O=Example`
	client, server := x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth
	plain := root.client(t, alice, client, nil)
	below := middle.client(t, alice, client, []*authority{middle})
	spiffe := root.client(t, pkix.Name{}, client, nil, "spiffe://example.org/alice")
	for name, tc := range map[string]struct {
		cert          *tls.Certificate
		path          string
		authorization string
		want          Identity
		reason        Reason
		status        int
	}{
		"subject":               {plain, "/0", "", Identity{Kind: Certificate, Subject: named}, accepted, 0},
		"below another":         {below, "/0", "", Identity{Kind: Certificate, Subject: named}, accepted, 0},
		"none":                  {nil, "/0", "", Identity{}, NoCredential, 403},
		"a token instead":       {nil, "/0", "Bearer " + secret, Identity{}, NoCredential, 403},
		"a token beside":        {plain, "/0", "Bearer x", Identity{Kind: Certificate, Subject: named}, accepted, 0},
		"no subject":            {spiffe, "/0", "", Identity{}, BadCertificate, 403},
		"URI":                   {spiffe, "/1", "", Identity{Kind: Certificate, Subject: "spiffe://example.org/alice"}, accepted, 0},
		"no URI":                {plain, "/1", "", Identity{}, BadCertificate, 403},
		"two URIs":              {root.client(t, alice, client, nil, "a:b", "a:c"), "/1", "", Identity{}, BadCertificate, 403},
		"of another route":      {plain, "/2", "", Identity{}, BadCertificate, 403},
		"where tokens are due":  {plain, "/3", "", Identity{}, NoCredential, 401},
		"either: certificate":   {plain, "/4", "", Identity{Kind: Certificate, Subject: named}, accepted, 0},
		"either: token":         {nil, "/4", "Bearer " + secret, Identity{Kind: Static, Name: "ci"}, accepted, 0},
		"either: both":          {plain, "/4", "Bearer " + secret, Identity{Kind: Static, Name: "ci"}, accepted, 0},
		"either: wrong token":   {plain, "/4", "Bearer wrong", Identity{}, UnknownToken, 401},
		"either: other scheme":  {plain, "/4", "Basic eA==", Identity{Kind: Certificate, Subject: named}, accepted, 0},
		"either: neither":       {nil, "/4", "", Identity{}, NoCredential, 401},
		"either: not of theirs": {second.client(t, alice, client, nil), "/4", "", Identity{}, BadCertificate, 401},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(tc.cert, tc.path, tc.authorization)
			if err != nil {
				t.Fatal(err)
			}
			if tc.reason != accepted {
				if got.problem == nil || got.problem.Reason != tc.reason || got.problem.Status != tc.status ||
					(got.problem.Challenge == "") != (tc.status == 403) {
					t.Errorf("%+v, %+v; want %s", got.id, got.problem, tc.reason)
				}
				return
			}
			if got.problem != nil {
				t.Fatalf("refused: %s", got.problem.Reason)
			}
			if tc.want.Kind == Certificate && !got.id.Until().Equal(tc.cert.Leaf.NotAfter) {
				t.Errorf("until %s; want %s", got.id.Until(), tc.cert.Leaf.NotAfter)
			}
			if got.id.until = (time.Time{}); got.id != tc.want {
				t.Errorf("%+v; want %+v", got.id, tc.want)
			}
		})
	}
	for name, c := range map[string]*tls.Certificate{
		"foreign": foreign.client(t, alice, client, nil), "server's": root.client(t, alice, server, nil),
	} {
		if _, err := ask(c, "/0", ""); err == nil {
			t.Errorf("a %s certificate may connect", name)
		}
	}

	// The connection may be older than the end of the certificate.
	now.pass(time.Hour + time.Minute)
	if got, err := ask(plain, "/0", ""); err != nil || got.problem == nil || got.problem.Reason != BadCertificate {
		t.Errorf("%+v, %v", got, err)
	}
}

// A certificate that nobody verified proves nothing.
func TestUnverifiedCertificates(t *testing.T) {
	root := newAuthority(t, "root", nil)
	a := newAuthenticator(t, newClock(), Config{Certificates: &Certificates{Authorities: []*x509.Certificate{root.cert}}})
	c := root.client(t, pkix.Name{CommonName: "alice"}, x509.ExtKeyUsageClientAuth, nil)
	for _, state := range []*tls.ConnectionState{
		nil, {}, {PeerCertificates: []*x509.Certificate{c.Leaf}}, {PeerCertificates: []*x509.Certificate{c.Leaf}, VerifiedChains: [][]*x509.Certificate{{}}},
	} {
		r := request()
		r.TLS = state
		if id, p := a.Check(r); p == nil {
			t.Errorf("%+v was let in", id)
		}
	}
}

// The authority may end before what it signed.
func TestUntilOfTheAuthority(t *testing.T) {
	root := newAuthority(t, "root", nil)
	now := &clock{t: time.Now()}
	key := pair(jose.ES256, "client").private
	leaf := issue(t, &x509.Certificate{
		SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: "alice"}, NotBefore: time.Now(), NotAfter: time.Now().Add(100 * time.Hour),
	}, root, key.Public())
	certs := &Certificates{Authorities: []*x509.Certificate{root.cert}}
	id, ok := certs.identify(&tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf, root.cert}}}, now.now())
	if !ok || !id.Until().Equal(root.cert.NotAfter) {
		t.Errorf("%+v, %v", id, ok)
	}
}

// A token that is bound to a certificate is good with that certificate alone.
func TestBoundTokens(t *testing.T) {
	root := newAuthority(t, "root", nil)
	now := &clock{t: time.Now()}
	k := pair(jose.ES256, "k")
	a := newAuthenticator(t, now, Config{
		Issuers:      []Issuer{{Issuer: issuerName, JWKS: []string{newKeyServer(t, k.public()).URL}, Audiences: []string{audience}}},
		Certificates: &Certificates{Authorities: []*x509.Certificate{root.cert}},
	})
	ask := listener(t, a)
	own := root.client(t, pkix.Name{CommonName: "alice"}, x509.ExtKeyUsageClientAuth, nil)
	other := root.client(t, pkix.Name{CommonName: "thief"}, x509.ExtKeyUsageClientAuth, nil)
	sum := sha256.Sum256(own.Leaf.Raw)
	bound := map[string]any{"cnf": map[string]string{"x5t#S256": base64.RawURLEncoding.EncodeToString(sum[:])}}
	token := "Bearer " + k.sign(t, now.claims(bound), nil)
	for range 2 { // the second time the token is known
		if got, err := ask(own, "/0", token); err != nil || got.problem != nil || got.id.Subject != "alice" {
			t.Fatalf("%+v, %v", got, err)
		}
		for _, c := range []*tls.Certificate{nil, other} {
			if got, err := ask(c, "/0", token); err != nil || got.problem == nil || got.problem.Reason != NotBound {
				t.Errorf("%+v, %v", got, err)
			}
		}
	}
}
