package transports

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
)

// Wildcard, as a host or an origin that a Guard allows, allows every one.
const Wildcard = "*"

// Guard refuses requests that a page of a foreign site makes a browser send
// (MCP basic "Transports", Security Warning). Origin alone is not enough:
// after a DNS rebinding a browser takes the request for one of the same
// origin and sends none, but the Host header still names the foreign site.
//
// A nil Guard refuses everything.
type Guard struct {
	port   string          // of the listener; "" for a socket file
	names  map[string]bool // the listener's own names, without port
	admits atomic.Pointer[admitted]
}

// admitted is who may come beside those who address a listener by its own
// names.
type admitted struct {
	hosts     map[string]bool // with or without port
	origins   map[string]bool
	anyHost   bool
	anyOrigin bool
}

// NewGuard returns the guard of a listener on address, which is the host:port
// that it really has. A listener on a loopback or an unspecified address is
// known as localhost, 127.0.0.1 and [::1]; one on another address by that
// address; all other names must be in hosts. A host without port is allowed
// with any. The listener's own origins are allowed, others must be in
// origins, written as a browser does: "https://app.example.com".
//
// The address of a listener on a Unix domain socket is written unix:PATH. It
// is known as localhost, 127.0.0.1 and [::1] too, whatever the port, which
// means nothing there; no browser opens a socket file, so it has no origin of
// its own.
func NewGuard(address string, hosts, origins []string) (*Guard, error) {
	host, port, err := listenerOf(address)
	if err != nil {
		return nil, fmt.Errorf("transports: guarding a listener: %w", err)
	}
	g := &Guard{port: port, names: ownNames(host)}
	g.Admit(hosts, origins)
	return g, nil
}

// Admit lets other hosts and origins in from now on, in place of those that
// the guard was made with. It is safe for concurrent use.
func (g *Guard) Admit(hosts, origins []string) {
	a := &admitted{hosts: map[string]bool{}, origins: map[string]bool{}}
	for _, h := range hosts {
		a.anyHost = a.anyHost || h == Wildcard
		a.hosts[strings.ToLower(h)] = true
	}
	for _, o := range origins {
		a.anyOrigin = a.anyOrigin || o == Wildcard
		a.origins[strings.ToLower(strings.TrimSuffix(o, "/"))] = true
	}
	g.admits.Store(a)
}

// listenerOf takes the address of a listener apart; one on a socket file has
// no port.
func listenerOf(address string) (host, port string, err error) {
	if strings.HasPrefix(address, "unix:") {
		return "localhost", "", nil
	}
	return net.SplitHostPort(address)
}

func ownNames(host string) map[string]bool {
	ip, err := netip.ParseAddr(host)
	if host == "" || host == "localhost" || err == nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		return map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}
	}
	return map[string]bool{strings.ToLower(host): true}
}

var (
	errHost   = errors.New("the Host header names a host that this listener does not serve; add it to the allowed hosts if it should")
	errOrigin = errors.New("the request comes from a web page of an origin that is not allowed; add it to the allowed origins if it should be")
)

// Check returns why the request must be refused with 403, or nil.
func (g *Guard) Check(r *http.Request) error {
	if g == nil || !g.allowsHost(r.Host) {
		return errHost
	}
	for _, o := range r.Header.Values("Origin") {
		if !g.allowsOrigin(strings.ToLower(o), r.TLS != nil) {
			return errOrigin
		}
	}
	return nil
}

// Knows reports whether a Host header names this listener.
func (g *Guard) Knows(host string) bool { return g != nil && g.allowsHost(host) }

func (g *Guard) allowsHost(host string) bool {
	a := g.admits.Load()
	if a.anyHost {
		return true
	}
	host = strings.ToLower(host)
	name, port := splitPort(host)
	switch {
	case name == "":
		return false
	case a.hosts[host], a.hosts[name], a.hosts["["+name+"]"]:
		return true
	}
	return g.names[name] && (port == "" || port == g.port || g.port == "")
}

func (g *Guard) allowsOrigin(origin string, tls bool) bool {
	if a := g.admits.Load(); a.anyOrigin || a.origins[origin] {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme+"://"+u.Host != origin {
		return false // "null" is one of these
	}
	scheme, port := "http", "80"
	if tls {
		scheme, port = "https", "443"
	}
	if p := u.Port(); p != "" {
		port = p
	}
	return u.Scheme == scheme && port == g.port && g.names[u.Hostname()]
}

// splitPort cuts the port off a Host header; name is "" when it is malformed.
func splitPort(host string) (name, port string) {
	if name, port, err := net.SplitHostPort(host); err == nil {
		return name, port
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok {
			return "", ""
		}
		return inner, ""
	}
	if strings.Contains(host, ":") {
		return "", ""
	}
	return host, ""
}
