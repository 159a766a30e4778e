package oauth

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Base is where clients reach the bridge: an origin, and the prefix of its
// paths where a proxy in front takes one away. The zero Base is no place.
type Base struct {
	origin string // https://mcp.example.com, lower case, without a default port
	prefix string // "" or /api, escaped
}

var errBase = errors.New("oauth: the public URL must be an http:// or https:// URL without user, query or fragment; write it as https://mcp.example.com")

// ParseBase reads the public URL that an operator configured: that of the
// bridge, not that of a route.
func ParseBase(raw string) (Base, error) {
	u, err := url.Parse(raw)
	if err != nil || u.RawQuery != "" || u.ForceQuery || strings.Contains(raw, "#") {
		return Base{}, errBase
	}
	b, ok := BaseAt(u)
	if !ok {
		return Base{}, errBase
	}
	return b, nil
}

// BaseAt returns the base at a URL: where the client of a request reached the
// bridge, with the prefix that a proxy took away as its path. Whose word that
// is, a guard and the trust in proxies must have settled. ok is false for nil,
// for a scheme that is not http or https, and for a host that cannot stand in
// a URL as it is.
func BaseAt(u *url.URL) (b Base, ok bool) {
	if u == nil || u.Scheme != "http" && u.Scheme != "https" {
		return Base{}, false
	}
	origin, ok := originOf(u)
	if !ok {
		return Base{}, false
	}
	return Base{origin: origin, prefix: strings.TrimRight(u.EscapedPath(), "/")}, true
}

// Origin returns the origin without a path, as https://mcp.example.com.
func (b Base) Origin() string { return b.origin }

// URL returns the public URL of a path of the bridge, without a slash at its
// end: what clients of that path have typed.
func (b Base) URL(path string) string { return b.origin + b.prefix + escaped(path) }

// wellKnown returns where a document about the resource at that path is: the
// name stands between the origin and the path (RFC 9728, 3.1; RFC 8414, 3.1).
func (b Base) wellKnown(name, path string) string { return b.origin + name + b.prefix + escaped(path) }

func escaped(path string) string {
	u := url.URL{Path: strings.TrimRight(path, "/")}
	return u.EscapedPath()
}

// originOf returns the origin of a URL in its usual form. WebSocket URLs have
// that of the handshake. ok is false for a URL that has none, that holds a
// user, or whose host is no name or address.
func originOf(u *url.URL) (origin string, ok bool) {
	scheme, usual := "", ""
	switch u.Scheme {
	case "http", "ws":
		scheme, usual = "http", "80"
	case "https", "wss":
		scheme, usual = "https", "443"
	default:
		return "", false
	}
	port := u.Port()
	host := strings.ToLower(strings.TrimSuffix(u.Host, ":"+port))
	if u.Opaque != "" || u.User != nil || !validHost(host) || !validPort(u, port) {
		return "", false
	}
	if port != "" && port != usual {
		host += ":" + port
	}
	return scheme + "://" + host, true
}

func validPort(u *url.URL, port string) bool {
	if port == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.Atoi(port)
	return err == nil && n > 0 && n <= 65535 && strconv.Itoa(n) == port
}

// validHost reports whether a host is a name of letters that need no escape
// anywhere, or an address.
func validHost(host string) bool {
	if inner, is6 := strings.CutPrefix(host, "["); is6 {
		inner, closed := strings.CutSuffix(inner, "]")
		a, err := netip.ParseAddr(inner)
		return closed && err == nil && a.Zone() == "" && a.Is6()
	}
	for i := range len(host) {
		if c := host[i]; !isAlphanumeric(c) && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return host != ""
}
