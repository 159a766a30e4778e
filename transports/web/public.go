package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// PublicURL returns where the client of a request reached this listener:
// scheme, host and, as its path, the prefix that proxies took away, without a
// slash at its end. They are those of the request itself, unless a trusted
// proxy says otherwise by X-Forwarded-Proto, -Host and -Prefix: of the first
// two the last value counts, which the nearest proxy wrote. What cannot stand
// in a URL counts for nothing. It is nil where the request names no host.
func PublicURL(r *http.Request) *url.URL {
	u := &url.URL{Scheme: "http", Host: strings.ToLower(r.Host)}
	if r.TLS != nil {
		u.Scheme = "https"
	}
	if FromProxy(r) {
		switch strings.ToLower(lastOf(r.Header.Values("X-Forwarded-Proto"))) {
		case "https", "wss":
			u.Scheme = "https"
		case "http", "ws":
			u.Scheme = "http"
		}
		if host := strings.ToLower(lastOf(r.Header.Values("X-Forwarded-Host"))); isAuthority(host) {
			u.Host = host
		}
		u.RawPath = forwardedPrefix(r.Header.Values("X-Forwarded-Prefix"))
		u.Path, _ = url.PathUnescape(u.RawPath) // it was checked
	}
	if !isAuthority(u.Host) {
		return nil
	}
	return u
}

// Prefix returns the path of [PublicURL]: the prefix that trusted proxies took
// away, or "".
func Prefix(r *http.Request) string {
	if !FromProxy(r) {
		return ""
	}
	return forwardedPrefix(r.Header.Values("X-Forwarded-Prefix"))
}

// ClientAddress returns the address of the client, for logs: the peer's, or
// the last one in X-Forwarded-For that is no trusted proxy's. Each trusted
// proxy vouches for the address to its left only, so what a client writes
// there itself counts for nothing.
func ClientAddress(r *http.Request) string {
	if !FromProxy(r) {
		return r.RemoteAddr
	}
	proxies, address := proxiesOf(r), r.RemoteAddr
	list := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
	for list != "" {
		i := strings.LastIndexByte(list, ',')
		a, ok := forwardedAddr(list[i+1:])
		if !ok {
			break
		}
		address = a.String()
		if !proxies.trusts(a) || i < 0 {
			break
		}
		list = list[:i]
	}
	return address
}

// forwardedAddr reads an element of X-Forwarded-For; some proxies write a port
// with it.
func forwardedAddr(s string) (netip.Addr, bool) {
	s = strings.TrimSpace(s)
	if at, err := netip.ParseAddrPort(s); err == nil {
		return plainAddr(at.Addr()), true
	}
	a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	return plainAddr(a), err == nil
}

// lastOf returns the last element of a field that is a list.
func lastOf(values []string) string {
	if len(values) == 0 {
		return ""
	}
	list := values[len(values)-1]
	return strings.TrimSpace(list[strings.LastIndexByte(list, ',')+1:])
}

// isAuthority reports whether a host, with or without port, can stand in a URL
// as it is.
func isAuthority(host string) bool {
	name := host
	if h, port, err := net.SplitHostPort(host); err == nil {
		if port == "" || len(port) > 5 || strings.Trim(port, "0123456789") != "" {
			return false
		}
		name = h
		if strings.Contains(h, ":") {
			name = "[" + h + "]"
		}
	}
	if inner, ok := strings.CutPrefix(name, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		a, err := netip.ParseAddr(inner)
		return ok && err == nil && a.Is6() && a.Zone() == ""
	}
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") == ""
}

// longestPrefix bounds what a proxy may put before a path.
const longestPrefix = 1024

// forwardedPrefix joins the prefixes that proxies took away, the outermost
// first. One that is no plain path counts for nothing: "//host" would lead to
// another origin.
func forwardedPrefix(values []string) string {
	var prefix string
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		part = strings.TrimSuffix(strings.TrimSpace(part), "/")
		if part != "" && !plainPath(part) {
			return ""
		}
		prefix += part
	}
	if _, err := url.PathUnescape(prefix); err != nil || len(prefix) > longestPrefix {
		return ""
	}
	return prefix
}

func plainPath(p string) bool {
	if p[0] != '/' || strings.HasPrefix(p, "//") {
		return false
	}
	for _, c := range []byte(p) {
		if c <= ' ' || c >= 0x7F || strings.IndexByte(`\?#<>"`, c) >= 0 {
			return false
		}
	}
	return true
}
