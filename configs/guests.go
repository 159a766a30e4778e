package configs

import (
	"net/url"
	"strings"
)

// anyone, as a host or an origin, allows every one.
const anyone = "*"

// checkGuests checks who may address the endpoint.
func (s Server) checkGuests(p *Problems) {
	for _, host := range s.AllowedHosts {
		if host == "" || strings.ContainsAny(host, "/ @\t") {
			p.add("allow_hosts", "%q is not a host name; write it without scheme and path, as bridge.example.com", host)
		}
	}
	for _, origin := range s.AllowedOrigins {
		if origin != anyone && !isOrigin(origin) {
			p.add("allow_origins", "%q is not a web origin; write it as https://app.example.com, without a path", origin)
		}
	}
}

func isOrigin(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && u.Host != "" && u.User == nil &&
		(u.Path == "" || u.Path == "/") && u.RawQuery == "" && u.Fragment == ""
}
