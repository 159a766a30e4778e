package configs

import (
	"net"
	"slices"
	"strconv"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// Validate reports all that is wrong with c, as Problems. Which protocol
// versions exist is told by the caller.
func (c Config) Validate(known []mcp.Version) error {
	var p Problems
	c.Server.check(&p)
	for i, r := range c.Routes {
		p.in(routeAt(i), r.check(c.Stdio, known))
		if r.Auth.Certificates != CertificatesNone && c.ClientCAFile == "" {
			p.add(routeAt(i)+".auth.certificates", "no client is asked for a certificate; name their authorities as tls.client_ca_file")
		}
	}
	c.checkRoutes(&p)
	c.checkLogins(&p)
	return p.err()
}

// routeAt returns the path of a route.
func routeAt(i int) string { return "routes[" + strconv.Itoa(i) + "]" }

func (s Server) check(p *Problems) {
	s.checkAddresses(p)
	s.checkCertificate(p)
	s.checkKeys(p)
	s.checkPublicURL(p)
	s.checkGuests(p)
	s.checkEdge(p)
	p.oneOf("log.level", s.LogLevel, LogLevels())
	if s.LogFormat != "" {
		p.oneOf("log.format", string(s.LogFormat), LogFormats())
	}
	if s.DrainTimeout < 0 {
		p.add("drain_timeout", "%s is no time to wait; write 0s or more, as 30s", s.DrainTimeout)
	}
	if s.MaxHeader <= 0 {
		p.add("max_header", "%d is no size; write one above zero, as 64KiB", s.MaxHeader)
	}
}

func (r Route) check(stdio bool, known []mcp.Version) Problems {
	var p Problems
	if len(r.Upstreams) > 0 {
		r.checkUpstreams(&p, known)
	} else {
		r.checkServer(&p)
	}
	r.checkOne(&p, known)
	if !stdio {
		r.checkPlaces(&p)
	}
	r.Auth.check(&p)
	r.OAuth.check(&p)
	r.checkLimits(&p)
	return p
}

// checkOne checks what there is for each server of a route by itself.
func (r Route) checkOne(p *Problems, known []mcp.Version) {
	r.checkRoots(p)
	r.checkInteractive(p)
	r.checkTransports(p)
	r.checkSockets(p)
	r.checkHeaders(p)
	r.checkHeaderRules(p)
	r.checkVersions(p, known)
	r.checkOptions(p, known)
}

func (s Server) checkAddresses(p *Problems) {
	if !s.Stdio {
		checkAddress(p, "listen", s.Listen)
	}
	admin, ok := s.AdminAddress()
	if !ok {
		return
	}
	checkAddress(p, "admin", admin)
	if !s.Stdio && sameAddress(admin, s.Listen) {
		p.add("admin", "%q is the address of the endpoint too; choose another, or %q for none", admin, AdminOff)
	}
}

func checkAddress(p *Problems, field, addr string) {
	if path, ok := UnixSocket(addr); ok {
		checkSocketPath(p, field, path)
		return
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		p.add(field, "%q is not an address; write HOST:PORT, as 127.0.0.1:8080 or [::1]:8080, or unix:PATH", addr)
		return
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		p.add(field, "the port of %q is not a number from 0 to 65535", addr)
	}
}

func (r Route) checkVersions(p *Problems, known []mcp.Version) {
	names := versionNames(known)
	if r.UpstreamVersion != "" {
		p.oneOf("upstream_version", string(r.UpstreamVersion), names)
	}
	p.oneOf("upstream_era", string(r.UpstreamEra), UpstreamEras())
	for _, v := range r.ClientVersions {
		p.oneOf("client_versions", string(v), names)
	}
}

func (r Route) checkOptions(p *Problems, known []mcp.Version) {
	var own Problems
	checkPolicy(&own, r.Options)
	*p = append(*p, own...)
	if r.SessionRebind != "" {
		p.oneOf("session_rebind", string(r.SessionRebind), SessionRebinds())
	}
	if r.Probe != "" {
		p.oneOf("probe", string(r.Probe), negotiate.ProbeNames())
	}
	handshakes := slices.DeleteFunc(rewrite.Standard().Handshakes().Versions(), func(v mcp.Version) bool { return !slices.Contains(known, v) })
	for i, c := range r.Clients {
		p.in("clients["+strconv.Itoa(i)+"]", c.check(versionNames(handshakes), own))
	}
}
