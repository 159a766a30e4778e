package sse

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// endpoints puts the endpoints of a server under their default paths.
func endpoints(s *Server) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(StreamPath, s.Stream())
	mux.Handle(MessagePath, s.Messages())
	return mux
}

// listenWith puts a Server on a loopback port.
func listenWith(t *testing.T, host transports.PipeHost, config ServerConfig, start func(*httptest.Server)) *httptest.Server {
	t.Helper()
	site := httptest.NewUnstartedServer(nil)
	guard, err := transports.NewGuard(site.Listener.Addr().String(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	site.Config.Handler = endpoints(NewServer(host, guard, config))
	start(site)
	t.Cleanup(func() {
		site.CloseClientConnections()
		site.Close()
	})
	return site
}

func dial(t *testing.T, url string, config ClientConfig) *Client {
	t.Helper()
	c, err := NewClient(url, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func TestSuite(t *testing.T) {
	for name, start := range map[string]func(*httptest.Server){
		"HTTP/1.1": (*httptest.Server).Start,
		"HTTP/2": func(site *httptest.Server) {
			site.EnableHTTP2 = true
			site.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that the end of a test cuts off
			site.StartTLS()
		},
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T) transporttest.Pair { return pair(t, start) })
		})
	}
}

func pair(t *testing.T, start func(*httptest.Server)) transporttest.Pair {
	host := transporttest.NewHost(1 << 20)
	site := listenWith(t, host, ServerConfig{}, start)
	config := ClientConfig{}
	if site.TLS != nil {
		config.SiteConfig = web.SiteConfig{TLS: &tls.Config{RootCAs: x509.NewCertPool()}}
		config.TLS.RootCAs.AddCert(site.Certificate())
	}
	return transporttest.Pair{
		Client: dial(t, site.URL+StreamPath, config).Conversation(),
		Serve:  host.Serve,
		Close: func() {
			site.CloseClientConnections()
			site.Close()
			host.Wait()
		},
		InFlight: 16 << 20, // socket buffers of both ends grow to about 10 MiB
	}
}
