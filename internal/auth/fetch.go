package auth

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	maxKeySet    = 1 << 20 // bytes
	maxRedirects = 3
)

// newClient returns the client that loads key sets. It follows redirects
// within one origin only: whoever answers for the keys decides who everybody
// is.
func newClient(config *tls.Config) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			TLSClientConfig:        config.Clone(),
			TLSHandshakeTimeout:    5 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			DisableCompression:     true,
			ForceAttemptHTTP2:      true,
			IdleConnTimeout:        30 * time.Second,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch first := via[0].URL; {
			case len(via) > maxRedirects:
				return errors.New("it redirects too often")
			case r.URL.Scheme != first.Scheme || !strings.EqualFold(r.URL.Host, first.Host):
				return errors.New("it redirects to another origin; give the URL where the keys are")
			}
			return nil
		},
	}
}

// fetch returns what loads the key set of a URL.
func fetch(client *http.Client, from string) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("Accept", "application/jwk-set+json, application/json")
		r.Header.Set("User-Agent", "mcpbridge")
		answer, err := client.Do(r)
		if err != nil {
			return nil, withoutURL(err)
		}
		defer func() { _ = answer.Body.Close() }()
		if answer.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("it answers with the HTTP status %d", answer.StatusCode)
		}
		return readCapped(answer.Body)
	}
}

// withoutURL takes the URL out of an error of the client: its query may be
// secret.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

func readFile(name string) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		return readCapped(f)
	}
}

func readCapped(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxKeySet+1))
	if err == nil && len(text) > maxKeySet {
		return nil, fmt.Errorf("it is larger than %d bytes", maxKeySet)
	}
	return text, err
}

// checkURL refuses a URL whose answer somebody on the way could change. It
// returns how to name it in messages.
func checkURL(text string) (name string, err error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "", errors.New("the URL of the keys is malformed") // the parser's error repeats it
	case u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return "", errors.New("the URL of the keys needs https:// and a host")
	case u.User != nil:
		return "", errors.New("the URL of the keys holds a user name or password; key sets are public")
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
		return "", errors.New("the URL of the keys must be https://: only on this machine http:// is safe")
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), nil
}

// isLoopback reports whether a host is this machine by its name (RFC 6761
// section 6.3) or address.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
