package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/configs"
)

func routeTo(up, more string) string {
	return "routes:\n- {name: a, upstream: \"" + up + "\", headers: {X-Key: k}" + more + "}\n"
}

// New sessions get the new configuration, running ones keep theirs.
func TestReload(t *testing.T) {
	up := upstream(t).URL + "/mcp"
	c := serveFileOf(t, routeTo(up, ""))
	old := c.at("/a")
	old.initialize("2024-11-05")
	stream := openStream(t, c.site+"/a")
	stream.send(initialize)
	stream.next()
	c.write(routeTo(up, ", inject_text: never"))
	c.err.await(t, "the configuration was reloaded")
	fresh := c.at("/a")
	fresh.initialize("2024-11-05")
	if _, answer := fresh.post(callTool); strings.Contains(answer, "text") {
		t.Errorf("a new session: %s", answer)
	}
	if _, answer := old.post(callTool); !strings.Contains(answer, `"text"`) {
		t.Errorf("a running session: %s", answer)
	}
	stream.send(callTool)
	if answer := stream.next(); !strings.Contains(answer, `"text"`) {
		t.Errorf("a running session on a stream: %s", answer)
	}
	_, numbers := fetch(t, c.admin+"/metrics")
	if want := `mcpbridge_config_reloads_total{outcome="done"} 1`; !strings.Contains(numbers, want) {
		t.Errorf("the metrics have no line %s", want)
	}
	c.end()
}

// A wrong file changes nothing and says why; the next right one counts.
func TestReloadOfAWrongFile(t *testing.T) {
	up := upstream(t).URL + "/mcp"
	c := serveFileOf(t, routeTo(up, ""))
	for text, want := range map[string]string{
		"routes: [":                            ":1:9: this is neither YAML nor JSON",
		routeTo(up, ", loss: maybe"):           "routes[0].loss: ",
		routeTo(up, "") + "max_header: 1KiB\n": "max_header: what stands here cannot change while the bridge runs; restart it",
	} {
		c.write(text)
		c.err.await(t, want)
	}
	one := c.at("/a")
	one.initialize("2024-11-05")
	if _, answer := one.post(callTool); !strings.Contains(answer, `"text"`) {
		t.Errorf("after wrong files: %s", answer)
	}
	c.write(routeTo(up, ", inject_text: never"))
	c.err.await(t, "the configuration was reloaded")
	c.end()
}

// A change between the reading of the file and the first look at it is noticed.
func TestReloadOfAnEarlyChange(t *testing.T) {
	up := upstream(t).URL + "/mcp"
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte(routeTo(up, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	from := &source{file: file, lookup: os.LookupEnv, server: func(s *configs.Server) error {
		s.Listen, s.Admin = "127.0.0.1:0", "off"
		return nil
	}}
	loaded, err := from.load()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(routeTo(up, ", loss: refuse")), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSurroundings(nil)
	result := make(chan error, 1)
	go func() { result <- serve(loaded.Config, s.process(), nil, from, loaded) }()
	s.err.await(t, "the configuration was reloaded")
	s.stop <- syscall.SIGTERM
	if err := <-result; err != nil {
		t.Error(err)
	}
}

// SIGHUP reads the file again even where nothing is seen of its change, and
// does not stop the bridge.
func TestReloadBySignal(t *testing.T) {
	c := serveFileOf(t, routeTo(upstream(t).URL, ""))
	c.stop <- syscall.SIGHUP
	c.err.await(t, "the configuration was reloaded")
	c.end()
}

// A route that is gone or has moved goes on for the sessions that it has.
func TestReloadRemovesARoute(t *testing.T) {
	up := upstream(t).URL + "/mcp"
	both := "routes:\n- {name: a, upstream: \"" + up + "\"}\n- {name: b, upstream: \"" + up + "\"}\n"
	c := serveFileOf(t, both)
	gone, moved := c.at("/a"), c.at("/b")
	gone.initialize("2024-11-05")
	moved.initialize("2025-06-18")
	c.write("routes:\n- {name: b, path: /elsewhere, upstream: \"" + up + "\"}\n")
	c.err.await(t, "the configuration was reloaded")
	for name, one := range map[string]*client{"gone": gone, "moved": moved} {
		if status, answer := one.post(callTool); status != 200 || !strings.Contains(answer, `"result"`) {
			t.Errorf("%s: a running session: %d %s", name, status, answer)
		}
	}
	for _, path := range []string{"/a", "/b"} {
		if status, answer := c.at(path).initialize("2024-11-05"); status != 404 || !strings.Contains(answer, "no longer served here") {
			t.Errorf("%s: a new session: %d %s", path, status, answer)
		}
	}
	if status, answer := c.at("/elsewhere").initialize("2024-11-05"); status != 200 {
		t.Errorf("where it moved: %d %s", status, answer)
	}
	c.end()
}

// Sessions of a route that is gone or has moved go on too where another is
// found by now, also one of the same name that was put back.
func TestReloadReusesAPath(t *testing.T) {
	up := upstream(t).URL + "/mcp"
	at := func(name, path string) string {
		return "- {name: " + name + ", path: " + path + ", upstream: \"" + up + "\"}\n"
	}
	c := serveFileOf(t, "routes:\n"+at("a", "/a")+at("b", "/b"))
	reload := func(routes, change string) {
		t.Helper()
		c.write("routes:\n" + routes)
		c.err.await(t, change)
	}
	old := map[string]*client{"/a": c.at("/a"), "/b": c.at("/b")}
	streams := map[string]*eventStream{}
	for path, one := range old {
		one.initialize("2024-11-05")
		streams[path] = openStream(t, c.site+path)
		streams[path].send(initialize)
		streams[path].next()
	}
	reload(at("b", "/b"), `"removed":["a"]`)
	reload(at("b", "/b")+at("a", "/a"), `"added":["a"]`)       // put back
	reload(at("b", "/a")+at("a", "/b"), `"changed":["b","a"]`) // exchanged
	reload(at("c", "/a"), `"added":["c"]`)                     // another one, and none
	for path, one := range old {
		if status, answer := one.post(callTool); status != 200 || !strings.Contains(answer, `"result"`) {
			t.Errorf("%s: a running session: %d %s", path, status, answer)
		}
		streams[path].send(callTool)
		if answer := streams[path].next(); !strings.Contains(answer, `"result"`) {
			t.Errorf("%s: a running session on a stream: %s", path, answer)
		}
	}
	fresh := c.at("/a")
	fresh.initialize("2024-11-05")
	if status, answer := fresh.post(callTool); status != 200 || !strings.Contains(answer, `"result"`) {
		t.Errorf("a new session: %d %s", status, answer)
	}
	c.end()
}

// Certificates are exchanged while connections go on.
func TestReloadOfACertificate(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certify(t, cert, key, 1)
	c := serveFileOf(t, "tls: {cert_file: "+cert+", key_file: "+key+"}\n"+routeTo(upstream(t).URL, ""))
	if !strings.HasPrefix(c.site, "https://") {
		t.Errorf("the endpoint is %s", c.site)
	}
	if got := serialAt(t, c.site); got != 1 {
		t.Errorf("certificate %d", got)
	}
	for _, protocol := range []string{"h2", "http/1.1"} {
		if got := spoken(t, c.site, protocol); got != protocol {
			t.Errorf("asked for %s it speaks %q", protocol, got)
		}
	}
	certify(t, cert, key, 2)
	c.stop <- syscall.SIGHUP
	c.err.await(t, "the configuration was reloaded")
	if got := serialAt(t, c.site); got != 2 {
		t.Errorf("after the reload: certificate %d", got)
	}
	if err := os.WriteFile(cert, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.err.await(t, "are no pair in PEM")
	if got := serialAt(t, c.site); got != 2 {
		t.Errorf("after a wrong file: certificate %d", got)
	}
	c.end()
}

// serialAt returns the serial number of the certificate that is shown.
func serialAt(t *testing.T, site string) int64 {
	t.Helper()
	d := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} // which one it is matters here
	conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(site, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// spoken returns the protocol that a client gets which offers one.
func spoken(t *testing.T, site, protocol string) string {
	t.Helper()
	d := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}} // whose it is is another test's
	conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(site, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().NegotiatedProtocol
}

func certify(t *testing.T, certFile, keyFile string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "bridge"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
