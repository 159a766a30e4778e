package auth

import (
	"fmt"
	"net"
	"strings"
)

// Route is what the rule of [Exposure] asks of a route.
type Route struct {
	Name string
	// Static says that its upstream gets credentials of the bridge's own: an
	// Authorization or another configured header, secrets in the environment
	// of a program, a client certificate.
	Static bool
	Auth   bool // its clients must authenticate at the bridge
}

// Exposed is a listener through which anybody who reaches it would use the
// operator's credentials.
type Exposed struct {
	Listen string   // its address
	Routes []string // the names of the routes
}

func (e *Exposed) Error() string {
	return fmt.Sprintf("the listener on %s can be reached from other machines, and anybody who reaches it could use the bridge's own credentials "+
		"for the upstream of %s: make clients authenticate, listen on 127.0.0.1, or pass --allow-anonymous if something in front of the bridge lets only the right clients through",
		e.Listen, strings.Join(e.Routes, ", "))
}

// Exposure returns an *[Exposed] when a listener must not start: it is not
// loopback, and a route of it has static credentials upstream and no
// authentication downstream. The address is host:port, or unix:PATH, which
// only those reach whom the file lets.
func Exposure(listen string, routes []Route, allowAnonymous bool) error {
	if allowAnonymous || isLocal(listen) {
		return nil
	}
	e := &Exposed{Listen: listen}
	for _, r := range routes {
		if r.Static && !r.Auth {
			e.Routes = append(e.Routes, fmt.Sprintf("the route %q", r.Name))
		}
	}
	if e.Routes == nil {
		return nil
	}
	return e
}

// isLocal reports whether only this machine reaches an address. One without a
// host is on all interfaces.
func isLocal(listen string) bool {
	if strings.HasPrefix(listen, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(listen)
	return err == nil && isLoopback(host)
}
