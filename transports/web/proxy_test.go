package web_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

func echo(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }

func trusting(t *testing.T, file string) *tls.Config {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := &tls.Config{RootCAs: x509.NewCertPool()}
	c.RootCAs.AppendCertsFromPEM(text)
	return c
}

// post sends one request to a site, and returns the body of the answer.
func post(t *testing.T, s *web.Site) (string, error) {
	t.Helper()
	defer s.CloseIdleConnections()
	trip := s.Trip(t.Context(), context.Background(), nil)
	defer trip.Close()
	resp, _, err := trip.Do(http.MethodPost, s.Endpoint, []byte("hello"), s.RequestHeader(nil))
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return resp.Status + " " + string(body), nil
}

// Requests go through the proxy, by a tunnel where they are secret, and what
// goes wrong there names it.
func TestProxy(t *testing.T) {
	secure, ca := transporttest.NewTLSServer(t, "upstream.invalid", http.HandlerFunc(echo))
	clear := httptest.NewServer(http.HandlerFunc(echo))
	defer clear.Close()
	user := url.UserPassword("user", "secret")
	proxy := transporttest.NewProxy(t, user, map[string]string{
		"upstream.invalid:443": secure.Listener.Addr().String(), "other.invalid:443": secure.Listener.Addr().String(),
		"upstream.invalid:80": clear.Listener.Addr().String(),
	})
	down, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = down.Close()
	stranger := &url.URL{Scheme: "http", Host: proxy.URL().Host, User: url.UserPassword("user", "secreter")}
	for name, c := range map[string]struct {
		url         string
		proxy       *url.URL
		ca          string
		want, words string // words of an error
		asked       string
	}{
		"tunnel":         {"https://upstream.invalid/", proxy.URL(), ca, "200 OK hello", "", "CONNECT upstream.invalid:443"},
		"forward":        {"http://upstream.invalid/", proxy.URL(), "", "200 OK hello", "", "POST upstream.invalid:80"},
		"forbidden":      {"https://upstream.invalid:8443/", proxy.URL(), ca, "through the proxy " + proxy.Server.URL + ": Forbidden", "through the proxy " + proxy.Server.URL, "CONNECT upstream.invalid:8443"},
		"stranger":       {"https://upstream.invalid/", stranger, ca, "through the proxy " + proxy.Server.URL + ": Proxy Authentication Required", "through the proxy", ""},
		"clear stranger": {"http://upstream.invalid/", stranger, "", "through the proxy " + proxy.Server.URL + ": the proxy wants credentials", "through the proxy", ""},
		"down":           {"https://upstream.invalid/", &url.URL{Scheme: "http", Host: down.Addr().String(), User: user}, ca, "through the proxy http://" + down.Addr().String() + ": proxyconnect tcp:", "check that the proxy runs", ""},
		"unknown":        {"https://upstream.invalid/", proxy.URL(), "", "certificate signed by unknown authority", "does not trust the certificate", ""},
		"other name":     {"https://other.invalid/", proxy.URL(), ca, "not other.invalid", "does not trust the certificate", ""},
		"no proxy":       {secure.URL, nil, "", "certificate", "does not trust the certificate", ""},
	} {
		t.Run(name, func(t *testing.T) {
			config := web.SiteConfig{Proxy: func(*http.Request) (*url.URL, error) { return c.proxy, nil }}
			if c.ca != "" {
				config.TLS = trusting(t, c.ca)
			}
			s, err := web.NewSite(c.url, config)
			if err != nil {
				t.Fatal(err)
			}
			got, err := post(t, s)
			if c.words != "" {
				worded, ok := errors.AsType[transports.Worded](err)
				if !ok || !strings.Contains(worded.Words(), c.words) || strings.Contains(worded.Words(), "secret") {
					t.Errorf("words of %v", err)
				}
				if _, ok := errors.AsType[*transports.Unreachable](err); !ok || strings.Contains(err.Error(), "secret") {
					t.Errorf("%v", err)
				}
				got = err.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if c.asked != "" && !slices.Contains(proxy.Asked(), c.asked) {
				t.Errorf("the proxy was asked for %q, not %s", proxy.Asked(), c.asked)
			}
		})
	}
}

// A proxy is not blamed for what happens once the server has the request.
func TestProxyOnceBegun(t *testing.T) {
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	defer cut.Close()
	s, err := web.NewSite("http://upstream.invalid/", web.SiteConfig{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: cut.Listener.Addr().String()})})
	if err != nil {
		t.Fatal(err)
	}
	_, err = post(t, s)
	if _, worded := errors.AsType[transports.Worded](err); err == nil || worded || !strings.Contains(err.Error(), "through the proxy "+cut.URL) {
		t.Errorf("%v", err)
	}
}
