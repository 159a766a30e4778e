package transporttest

import (
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// Proxy is an HTTP proxy on loopback: it tunnels (CONNECT) and forwards. It
// alone knows where names lead, so what reaches a name has come through it.
type Proxy struct {
	*httptest.Server
	places map[string]string // addresses by host:port as clients write it
	user   *url.Userinfo     // who may use it; nil is everybody

	mu    sync.Mutex
	asked []string
}

// NewProxy starts a proxy for the places. Where user is not nil, it wants
// these credentials.
func NewProxy(t testing.TB, user *url.Userinfo, places map[string]string) *Proxy {
	t.Helper()
	p := &Proxy{places: places, user: user}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// URL returns where clients find the proxy, with what they need for it.
func (p *Proxy) URL() *url.URL {
	return &url.URL{Scheme: "http", Host: p.Listener.Addr().String(), User: p.user}
}

// Asked returns what was asked for so far, as "CONNECT host:port" or "POST
// host:port".
func (p *Proxy) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host := r.Host
	if r.Method != http.MethodConnect && r.URL.Port() == "" {
		host += ":80"
	}
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+host)
	p.mu.Unlock()
	place := p.places[host]
	switch {
	case !p.admits(r):
		w.Header().Set("Proxy-Authenticate", "Basic realm=proxy")
		w.WriteHeader(http.StatusProxyAuthRequired)
	case place == "":
		w.WriteHeader(http.StatusForbidden)
	case r.Method == http.MethodConnect:
		tunnel(w, place)
	default:
		forward := httputil.ReverseProxy{Rewrite: func(out *httputil.ProxyRequest) {
			out.Out.URL.Scheme, out.Out.URL.Host, out.Out.Host = "http", place, r.Host
		}, FlushInterval: -1}
		forward.ServeHTTP(w, r)
	}
}

func (p *Proxy) admits(r *http.Request) bool {
	if p.user == nil {
		return true
	}
	password, _ := p.user.Password()
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(p.user.Username()+":"+password))
	return r.Header.Get("Proxy-Authorization") == want
}

// tunnel joins the client's connection to one with a place until either ends.
func tunnel(w http.ResponseWriter, place string) {
	far, err := net.Dial("tcp", place)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer far.Close() //nolint:errcheck // of a test
	w.WriteHeader(http.StatusOK)
	near, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close() //nolint:errcheck // of a test
	done := make(chan struct{}, 2)
	join := func(to io.Writer, from io.Reader) {
		_, _ = io.Copy(to, from) // one of them left
		done <- struct{}{}
	}
	go join(far, buffered)
	go join(near, far)
	<-done
	_, _ = near.Close(), far.Close()
	<-done
}
