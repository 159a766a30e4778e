package streamable

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
)

// listenWith puts a Server on a loopback port.
func listenWith(t *testing.T, host transports.Host, config ServerConfig, start func(*httptest.Server)) *httptest.Server {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	guard, err := transports.NewGuard(web.Listener.Addr().String(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	web.Config.Handler = NewServer(host, guard, config)
	start(web)
	t.Cleanup(web.Close)
	return web
}

func listen(t *testing.T, host transports.Host, config ServerConfig) *httptest.Server {
	t.Helper()
	return listenWith(t, host, config, (*httptest.Server).Start)
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
		"HTTP/2": func(web *httptest.Server) {
			web.EnableHTTP2 = true
			web.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that the end of a test cuts off
			web.StartTLS()
		},
		"HTTP/2 in clear text": func(web *httptest.Server) {
			web.Config.Protocols = new(http.Protocols)
			web.Config.Protocols.SetUnencryptedHTTP2(true)
			web.Start()
		},
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Run(t, func(t *testing.T) transporttest.Pair { return pair(t, start) })
		})
	}
}

func pair(t *testing.T, start func(*httptest.Server)) transporttest.Pair {
	host := transporttest.NewHost(1 << 20)
	web := listenWith(t, host, ServerConfig{}, start)
	config := ClientConfig{}
	if web.TLS != nil {
		config.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
		config.TLS.RootCAs.AddCert(web.Certificate())
	}
	client := dial(t, web.URL, config)
	client.site.Transport.Protocols = web.Config.Protocols // nil is HTTP/1, and HTTP/2 over TLS
	return transporttest.Pair{
		Client: client.Conversation(),
		Serve:  host.Serve,
		Close: func() {
			web.CloseClientConnections()
			web.Close()
			host.Wait()
		},
		InFlight: 16 << 20, // socket buffers of both ends grow to about 10 MiB
	}
}
