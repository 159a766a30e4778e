package configs

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// ClientAuth says whether clients must show a certificate of the authorities
// in ClientCAFile.
type ClientAuth string

// What clients must show.
const (
	ClientAuthRequire ClientAuth = "require"         // no connection without one
	ClientAuthIfGiven ClientAuth = "verify_if_given" // none will do, a wrong one not
)

// ClientAuths returns what clients may have to show.
func ClientAuths() []string { return []string{string(ClientAuthRequire), string(ClientAuthIfGiven)} }

// minAdminToken is the least length of the token of the admin listener, in
// bytes.
const minAdminToken = 16

// Proxies returns the networks of TrustedProxies, which must be valid; nil
// where none were given, which means loopback, and an empty list for nobody.
func (s Server) Proxies() []netip.Prefix {
	if s.TrustedProxies == nil {
		return nil
	}
	networks := []netip.Prefix{}
	for _, text := range s.TrustedProxies {
		if n, ok := parseNetwork(text); ok {
			networks = append(networks, n)
		}
	}
	return networks
}

// parseNetwork reads a network, or an address, which is the smallest one.
func parseNetwork(text string) (netip.Prefix, bool) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	n, err := netip.ParsePrefix(text)
	return n.Masked(), err == nil && !n.Addr().Is4In6()
}

// checkEdge checks who may connect, and whom the bridge believes.
func (s Server) checkEdge(p *Problems) {
	for i, text := range s.TrustedProxies {
		if _, ok := parseNetwork(text); !ok {
			p.add("trusted_proxies["+strconv.Itoa(i)+"]", "%q is no network; write it as 10.0.0.0/8, or an address", text)
		}
	}
	if s.MaxConnections < 1 {
		p.add("max_connections", "%d is too few; write 1 or more", s.MaxConnections)
	}
	s.checkClientCA(p)
	s.checkAdminToken(p)
}

func (s Server) checkClientCA(p *Problems) {
	if s.ClientAuth != "" {
		p.oneOf("tls.client_auth", string(s.ClientAuth), ClientAuths())
	}
	switch {
	case s.ClientCAFile == "":
	case !s.Encrypted():
		p.add("tls.client_ca_file", "clients show certificates over TLS only; give cert_file and key_file too")
	default:
		if _, err := s.ClientCAs(); err != nil {
			p.add("tls.client_ca_file", "%v", err)
		}
	}
}

// checkAdminToken never repeats the token.
func (s Server) checkAdminToken(p *Problems) {
	const field = "admin_token"
	token := s.AdminToken
	switch addr, ok := s.AdminAddress(); {
	case token != "" && len(token) < minAdminToken:
		p.add(field, "the token has %d bytes; use at least %d random ones, as `openssl rand -hex 32` makes", len(token), minAdminToken)
	case strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }):
		p.add(field, "the token holds a blank or a character beyond ASCII, which no header can carry; use letters and digits")
	case token != "" && s.AdminAllowAnonymous:
		p.add("admin_allow_anonymous", "this contradicts the admin token; leave one of the two out")
	case ok && token == "" && !s.AdminAllowAnonymous && !staysHere(addr):
		p.add("admin", "other machines can reach %q, and metrics and health name upstreams; give the token that they must show (admin_token: ${file:PATH}, or --admin-token-file), listen on 127.0.0.1 or on unix:PATH, or let everybody in (admin_allow_anonymous, --admin-allow-anonymous)", addr)
	}
}

// staysHere reports the address of a listener that only this machine reaches.
// A malformed one has its own problem.
func staysHere(addr string) bool {
	if _, ok := UnixSocket(addr); ok {
		return true
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil || strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}
