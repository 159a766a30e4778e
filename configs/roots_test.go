package configs_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/configs"
)

// certificate is that of a test server, in PEM.
func certificate(s *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// The authorities of a file are trusted, and those of the system stay.
func TestUpstreamTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	key := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("secret")})
	broken := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("no certificate")})
	for name, c := range map[string]struct {
		text    []byte
		problem string
	}{
		"one":         {certificate(server), ""},
		"with a key":  {append(key, certificate(server)...), ""},
		"only a key":  {key, "holds no certificate"},
		"one broken":  {append(certificate(server), broken...), "certificate number 2 is broken"},
		"empty":       {nil, "holds no certificate"},
		"not in PEM":  {server.Certificate().Raw, "holds no certificate"},
		"cut in half": {certificate(server)[:200], "holds no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			r := configs.DefaultRoute()
			r.UpstreamCAFile = filepath.Join(t.TempDir(), "ca.pem")
			if err := os.WriteFile(r.UpstreamCAFile, c.text, 0o600); err != nil {
				t.Fatal(err)
			}
			config, err := r.UpstreamTLS()
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
			defer client.CloseIdleConnections()
			resp, err := client.Get(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
		})
	}
	if config, err := configs.DefaultRoute().UpstreamTLS(); config != nil || err != nil {
		t.Errorf("without a file: %v, %v", config, err)
	}
}
