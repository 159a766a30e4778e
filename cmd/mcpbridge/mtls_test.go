package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// authority issues certificates for tests.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{t, cert, key}
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// write writes the certificate of the authority itself.
func (a *authority) write(file string) string {
	a.t.Helper()
	replace(a.t, file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}))
	return file
}

// issue writes a certificate for 127.0.0.1, for servers and clients, and its key.
func (a *authority) issue(certFile, keyFile string, serial int64) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: fmt.Sprint("peer ", serial)}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	replace(a.t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	replace(a.t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// replace writes a file at once.
func replace(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

// knock connects to a site with these certificates and asks for a page; 0 is
// no connection. A server that wants a certificate says so after the handshake
// of TLS 1.3, so something must be asked.
func knock(site string, ca *authority, shown ...tls.Certificate) int {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.pool(), GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if len(shown) == 0 {
			return new(tls.Certificate), nil
		}
		return &shown[0], nil // whatever authorities the server names
	}}}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get(site + "/none")
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// Clients must show a certificate of an authority that the file names, as it
// is now.
func TestClientCertificates(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	own, ours, theirs := newAuthority(t, "own"), newAuthority(t, "ours"), newAuthority(t, "theirs")
	own.issue(at("cert.pem"), at("key.pem"), 2)
	friend, foe := ours.issue(at("c1"), at("k1"), 3), theirs.issue(at("c2"), at("k2"), 4)
	itself := tls.Certificate{Certificate: [][]byte{own.cert.Raw}, PrivateKey: own.key}
	text := func(more string) string {
		return "tls: {cert_file: " + at("cert.pem") + ", key_file: " + at("key.pem") + ", client_ca_file: " + at("ca.pem") + more + "}\n" + routeTo(upstream(t).URL, "")
	}
	ours.write(at("ca.pem"))
	c := serveFileOf(t, text(""))
	expect := func(when string, of map[string]int) {
		t.Helper()
		for who, want := range of {
			var got int
			switch who {
			case "friend":
				got = knock(c.site, own, friend)
			case "foe":
				got = knock(c.site, own, foe)
			case "itself":
				got = knock(c.site, own, itself)
			default:
				got = knock(c.site, own)
			}
			if got != want {
				t.Errorf("%s: %s gets %d, want %d", when, who, got, want)
			}
		}
	}
	expect("at first", map[string]int{"friend": 404, "foe": 0, "itself": 0, "nobody": 0})
	theirs.write(at("ca.pem")) // it is watched
	c.err.await(t, "the configuration was reloaded")
	expect("with another authority", map[string]int{"friend": 0, "foe": 404, "nobody": 0})
	c.write(text(", client_auth: verify_if_given"))
	awaitCount(t, c.err, "the configuration was reloaded", 2)
	expect("if given", map[string]int{"friend": 0, "foe": 404, "nobody": 404})
	replace(t, at("ca.pem"), []byte("nothing"))
	c.err.await(t, "holds no certificate")
	expect("after a wrong file", map[string]int{"friend": 0, "foe": 404, "nobody": 404})
	c.end()
}

// awaitCount waits until a text was written so often.
func awaitCount(t *testing.T, r *record, text string, n int) {
	t.Helper()
	for {
		r.mu.Lock()
		all, changed := r.text.String(), r.changed
		r.mu.Unlock()
		if strings.Count(all, text) >= n {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("%q was not written %d times:\n%s", text, n, all)
		}
	}
}

// strict is a server that only takes clients of an authority, and notes the
// serial number of the last.
type strict struct {
	*httptest.Server
	serial atomic.Int64
}

func newStrict(t *testing.T, own tls.Certificate, clients *authority) *strict {
	t.Helper()
	s := &strict{}
	plain := upstream(t).Config.Handler
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serial.Store(r.TLS.PeerCertificates[0].SerialNumber.Int64())
		if websocket.IsWebSocketUpgrade(r) {
			speak(w, r)
			return
		}
		plain.ServeHTTP(w, r)
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: clients.pool(), ClientAuth: tls.RequireAndVerifyClientCert}
	s.Config.ErrorLog = nil
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// speak is an MCP server on a WebSocket, as far as a handshake goes.
func speak(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{Subprotocols: []string{"mcp"}}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	for {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if conn.ReadJSON(&m) != nil {
			return
		}
		if m.ID != nil && m.Method == "initialize" {
			conn.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"up","version":"1"}}}`))
		}
	}
}

// The server is shown the certificate of the route, and a new one once its
// files have changed, over https and wss.
func TestUpstreamCertificate(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	own, clients := newAuthority(t, "own"), newAuthority(t, "clients")
	server := newStrict(t, own.issue(at("s1"), at("s2"), 2), clients)
	own.write(at("ca.pem"))
	clients.issue(at("cert.pem"), at("key.pem"), 11)
	keys := ", upstream_ca_file: " + at("ca.pem") + ", upstream_cert_file: " + at("cert.pem") + ", upstream_key_file: " + at("key.pem") + "}\n"
	c := serveFileOf(t, "routes:\n- {name: web, upstream: \""+server.URL+"/mcp\""+keys+"- {name: socket, upstream: \"wss"+strings.TrimPrefix(server.URL, "https")+"/mcp\""+keys+
		"- {name: bare, upstream: \""+server.URL+"/mcp\", upstream_ca_file: "+at("ca.pem")+"}\n")
	expect := func(path string, status int, serial int64) {
		t.Helper()
		server.serial.Store(0)
		if got, answer := c.at(path).initialize("2025-11-25"); got != status || strings.Contains(answer, `"result"`) != (serial != 0) || server.serial.Load() != serial {
			t.Errorf("%s: %d %s, shown %d", path, got, answer, server.serial.Load())
		}
	}
	expect("/web", 200, 11)
	expect("/socket", 200, 11)
	if _, answer := c.at("/bare").initialize("2025-11-25"); strings.Contains(answer, `"result"`) {
		t.Errorf("without a certificate: %s", answer)
	}
	clients.issue(at("cert.pem"), at("key.pem"), 12)
	c.stop <- syscall.SIGHUP
	c.err.await(t, `"changed":["web","socket"]`)
	expect("/web", 200, 12)
	expect("/socket", 200, 12)
	replace(t, at("cert.pem"), []byte("nothing"))
	c.stop <- syscall.SIGHUP
	c.err.await(t, "upstream_cert_file: the certificate")
	expect("/web", 200, 12)
	c.end()
}
