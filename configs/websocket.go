package configs

import "net/url"

// Sockets returns the path of the WebSocket endpoint; ok is false when there
// is none.
func (r Route) Sockets() (path string, ok bool) { return r.WSPath, !isOff(r.WSPath) }

// UpstreamSocket reports an upstream that speaks WebSocket: its URL says so.
func (r Route) UpstreamSocket() bool {
	u, err := url.Parse(r.Upstream)
	return err == nil && isSocketScheme(u.Scheme)
}

func isSocketScheme(scheme string) bool { return scheme == "ws" || scheme == "wss" }

func (r Route) checkSockets(p *Problems) {
	if r.UpstreamSocket() && r.UpstreamTransport != TransportAuto {
		p.add("upstream_transport", "%q contradicts the URL of the upstream, which is that of a WebSocket; leave it out", r.UpstreamTransport)
	}
}
