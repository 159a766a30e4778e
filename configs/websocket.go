package configs

import "net/url"

// Sockets returns the path of the WebSocket endpoint; ok is false when there
// is none.
func (c Config) Sockets() (path string, ok bool) { return c.WSPath, !isOff(c.WSPath) }

// UpstreamSocket reports an upstream that speaks WebSocket: its URL says so.
func (c Config) UpstreamSocket() bool {
	u, err := url.Parse(c.Upstream)
	return err == nil && isSocketScheme(u.Scheme)
}

func isSocketScheme(scheme string) bool { return scheme == "ws" || scheme == "wss" }

func (c Config) checkSockets(p *Problems) {
	if c.UpstreamSocket() && c.UpstreamTransport != TransportAuto {
		p.add("upstream_transport", "%q contradicts the URL of the upstream, which is that of a WebSocket; leave it out", c.UpstreamTransport)
	}
}
