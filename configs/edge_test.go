package configs_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/mcp"
)

// pairOfFiles writes a certificate and its key.
func pairOfFiles(t *testing.T, dir string, serial int64) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// Where other machines reach the admin listener it needs a token, or the word
// that it needs none.
func TestAdminNeedsAToken(t *testing.T) {
	const secret = "s3cr3t"
	enough := strings.Repeat("k", 16)
	for name, c := range map[string]struct {
		admin, token string
		anonymous    bool
		field, text  string
	}{
		"loopback":             {admin: "127.0.0.1:9090"},
		"loopback, IPv6":       {admin: "[::1]:9090"},
		"loopback, mapped":     {admin: "[::ffff:127.0.0.1]:9090"},
		"loopback, another":    {admin: "127.9.9.9:9090"},
		"localhost":            {admin: "localhost:9090"},
		"socket file":          {admin: "unix:/run/admin.sock"},
		"off":                  {admin: "off"},
		"all interfaces":       {admin: "0.0.0.0:9090", field: "admin", text: "admin_allow_anonymous"},
		"all, IPv6":            {admin: "[::]:9090", field: "admin", text: "--admin-token-file"},
		"all, no host":         {admin: ":9090", field: "admin", text: "other machines"},
		"an address":           {admin: "192.0.2.1:9090", field: "admin", text: "other machines"},
		"a name":               {admin: "localhost.example.com:9090", field: "admin", text: "other machines"},
		"with a token":         {admin: "0.0.0.0:9090", token: enough},
		"loopback with one":    {admin: "127.0.0.1:9090", token: enough},
		"too short":            {admin: "0.0.0.0:9090", token: secret, field: "admin_token", text: "has 6 bytes; use at least 16"},
		"too short, loopback":  {admin: "127.0.0.1:9090", token: secret, field: "admin_token", text: "has 6 bytes"},
		"with a blank":         {admin: "0.0.0.0:9090", token: enough + " " + secret, field: "admin_token", text: "blank"},
		"with a line":          {admin: "0.0.0.0:9090", token: enough + "\n" + secret, field: "admin_token", text: "blank"},
		"anonymous":            {admin: "0.0.0.0:9090", anonymous: true},
		"anonymous and token":  {admin: "0.0.0.0:9090", token: enough, anonymous: true, field: "admin_allow_anonymous", text: "contradicts"},
		"anonymous on loopack": {admin: "127.0.0.1:9090", anonymous: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := configs.DefaultServer()
			s.Admin, s.AdminToken, s.AdminAllowAnonymous = c.admin, c.token, c.anonymous
			expect(t, s, c.field, c.text)
			if err := validated(s); err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the token is shown: %v", err)
			}
		})
	}
}

func validated(s configs.Server) error {
	r := configs.DefaultRoute()
	r.Upstream = "http://127.0.0.1:3000/mcp"
	return configs.Config{Server: s, Routes: []configs.Route{r}}.Validate(published)
}

// expect checks that a server has one problem, or none.
func expect(t *testing.T, s configs.Server, field, text string) {
	t.Helper()
	problems, _ := validated(s).(configs.Problems)
	switch {
	case field == "" && len(problems) > 0:
		t.Errorf("unexpected: %v", problems)
	case field != "" && (len(problems) != 1 || problems[0].Path != field || !strings.Contains(problems[0].Text, text)):
		t.Errorf("%v, want one of %s with %q", problems, field, text)
	}
}

func TestTrustedProxies(t *testing.T) {
	s := configs.DefaultServer()
	if s.Proxies() != nil {
		t.Error("the default is not that of the listener")
	}
	s.TrustedProxies = []string{}
	if s.Proxies() == nil || len(s.Proxies()) != 0 {
		t.Error("an empty list is not nobody")
	}
	s.TrustedProxies = []string{"10.1.2.3/8", "192.0.2.7", "fd00::/8", "::1"}
	want := []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.7/32"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("::1/128"),
	}
	if got := s.Proxies(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	expect(t, s, "", "")
	for _, bad := range []string{"", "10.0.0.0/33", "proxy.example.com", "*", "10.0.0.1:80", "fe80::1%eth0", "::ffff:10.0.0.0/104"} {
		s.TrustedProxies = []string{bad}
		expect(t, s, "trusted_proxies[0]", "is no network")
	}
}

func TestConnectionsHaveABound(t *testing.T) {
	s := configs.DefaultServer()
	s.MaxConnections = 0
	expect(t, s, "max_connections", "too few")
}

func TestClientCertificates(t *testing.T) {
	cert, key := pairOfFiles(t, t.TempDir(), 1)
	set := func(change func(*configs.Server)) configs.Server {
		s := configs.DefaultServer()
		s.CertFile, s.KeyFile = cert, key
		change(&s)
		return s
	}
	expect(t, set(func(s *configs.Server) { s.ClientCAFile = cert }), "", "")
	expect(t, set(func(s *configs.Server) { s.ClientCAFile, s.ClientAuth = cert, "verify_if_given" }), "", "")
	expect(t, set(func(s *configs.Server) { s.ClientCAFile, s.ClientAuth = cert, "request" }), "tls.client_auth", "is not known")
	expect(t, set(func(s *configs.Server) { s.ClientCAFile = key }), "tls.client_ca_file", "holds no certificate")
	expect(t, set(func(s *configs.Server) { s.ClientCAFile = cert + "x" }), "tls.client_ca_file", "no such file")
	expect(t, set(func(s *configs.Server) { s.CertFile, s.KeyFile, s.ClientCAFile = "", "", cert }), "tls.client_ca_file", "over TLS only")
}

func TestUpstreamCertificate(t *testing.T) {
	cert, key := pairOfFiles(t, t.TempDir(), 1)
	otherCert, _ := pairOfFiles(t, t.TempDir(), 2)
	for name, c := range map[string]struct {
		cert, key, url string
		field, text    string
	}{
		"a pair":      {cert, key, "https://a/mcp", "", ""},
		"socket":      {cert, key, "wss://a/mcp", "", ""},
		"no key":      {cert, "", "https://a/mcp", "upstream_key_file", "needs its key"},
		"no cert":     {"", key, "https://a/mcp", "upstream_cert_file", "needs its certificate"},
		"no pair":     {otherCert, key, "https://a/mcp", "upstream_cert_file", "are no pair"},
		"no file":     {cert + "x", key, "https://a/mcp", "upstream_cert_file", "no such file"},
		"no TLS":      {cert, key, "http://a/mcp", "upstream_cert_file", "not encrypted"},
		"socket, too": {cert, key, "ws://a/mcp", "upstream_cert_file", "not encrypted"},
	} {
		t.Run(name, func(t *testing.T) {
			r := configs.DefaultRoute()
			r.Upstream, r.UpstreamCertFile, r.UpstreamKeyFile = c.url, c.cert, c.key
			problems, _ := configs.Config{Server: configs.DefaultServer(), Routes: []configs.Route{r}}.Validate(published).(configs.Problems)
			switch {
			case c.field == "" && len(problems) > 0:
				t.Errorf("unexpected: %v", problems)
			case c.field != "" && (len(problems) != 1 || problems[0].Key() != c.field || !strings.Contains(problems[0].Text, c.text)):
				t.Errorf("%v", problems)
			}
			if c.field != "" {
				return
			}
			if config, err := r.UpstreamTLS(); err != nil || len(config.Certificates) != 1 || config.RootCAs != nil {
				t.Errorf("%+v %v", config, err)
			}
		})
	}
}

// A route whose files hold something else is another route, also where their
// names are the same, and they are watched.
func TestFilesOfARouteArePartOfIt(t *testing.T) {
	dir := t.TempDir()
	cert, key := pairOfFiles(t, dir, 1)
	text := "routes: [{name: a, upstream: \"https://a/mcp\", upstream_ca_file: " + cert + ", upstream_cert_file: " + cert + ", upstream_key_file: " + key + "}]\n"
	first, err := load(t, "a.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := load(t, "a.yaml", text)
	if !first.Routes[0].Equal(again.Routes[0]) {
		t.Error("the same files make another route")
	}
	pairOfFiles(t, dir, 2)
	if again, err = load(t, "a.yaml", text); err != nil || first.Routes[0].Equal(again.Routes[0]) {
		t.Errorf("other files make the same route: %v", err)
	}
	for _, file := range []string{cert, key} {
		if first.Files[file] == "" {
			t.Errorf("%s is not watched: %q", file, first.Files)
		}
	}
}

func TestHeaderLists(t *testing.T) {
	for name, c := range map[string]struct {
		forward, drop []string
		credentials   mcp.Credentials
		field, text   string
	}{
		"names and patterns": {forward: []string{"Authorization", "X-Tenant-*", "x-[a-c]"}, drop: []string{"X-Debug", "Cookie"}},
		"nothing":            {forward: []string{}},
		"no pattern":         {forward: []string{"X-[a"}, field: "forward_headers[0]", text: "is no pattern"},
		"no name":            {drop: []string{"X-A", "X Y"}, field: "drop_headers[1]", text: "is not the name of a header"},
		"empty":              {drop: []string{""}, field: "drop_headers[0]", text: "is not the name of a header"},
		"a cookie":           {forward: []string{"cookie"}, field: "forward_headers[0]", text: "never crosses"},
		"a forwarded one":    {forward: []string{"X-Forwarded-For"}, field: "forward_headers[0]", text: "never crosses"},
		"a session":          {forward: []string{"Mcp-Session-Id"}, field: "forward_headers[0]", text: "never crosses"},
		"no credentials":     {forward: []string{"X-A"}, credentials: mcp.CredentialsForward, field: "forward_headers", text: "Authorization is not among them"},
		"with credentials":   {forward: []string{"*"}, credentials: mcp.CredentialsForward},
	} {
		t.Run(name, func(t *testing.T) {
			r := configs.DefaultRoute()
			r.Upstream, r.ForwardHeaders, r.DropHeaders, r.Credentials = "http://a/", c.forward, c.drop, c.credentials
			problems, _ := configs.Config{Server: configs.DefaultServer(), Routes: []configs.Route{r}}.Validate(published).(configs.Problems)
			switch {
			case c.field == "" && len(problems) > 0:
				t.Errorf("unexpected: %v", problems)
			case c.field != "" && (len(problems) != 1 || problems[0].Path != "routes[0]."+c.field || !strings.Contains(problems[0].Text, c.text)):
				t.Errorf("%v", problems)
			}
			if rules := r.HeaderRules(); (rules.Forward == nil) != (c.forward == nil) {
				t.Errorf("%+v", rules)
			}
		})
	}
}
