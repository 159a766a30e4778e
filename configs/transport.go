package configs

import (
	"net/url"
)

// EndpointPath is where clients of Streamable HTTP find the bridge unless the
// operator chose another path.
const EndpointPath = "/mcp"

// Off, as an address or a path, means that there is none.
const Off = "off"

// UpstreamTransport is how the server is spoken to.
type UpstreamTransport string

// The transports toward the server.
const (
	TransportAuto       UpstreamTransport = "auto" // found out at the first handshake
	TransportStreamable UpstreamTransport = "streamable-http"
	TransportSSE        UpstreamTransport = "sse"
)

// UpstreamTransports returns the transports toward the server.
func UpstreamTransports() []string {
	return []string{string(TransportAuto), string(TransportStreamable), string(TransportSSE)}
}

// SSE returns the paths of the HTTP+SSE transport; ok is false when it is not
// served.
func (r Route) SSE() (stream, messages string, ok bool) {
	return r.SSEPath, r.MessagePath, !isOff(r.SSEPath) && !isOff(r.MessagePath)
}

func isOff(s string) bool { return s == "" || s == Off }

func (r Route) checkTransports(p *Problems) {
	p.oneOf("upstream_transport", string(r.UpstreamTransport), UpstreamTransports())
	r.checkMessageURL(p)
	if _, _, ok := r.SSE(); ok && r.BasePath != "" && r.BasePath != BaseForwarded {
		checkPath(p, "base_path", r.BasePath)
	}
}

// BaseForwarded, as a BasePath, takes the prefix from X-Forwarded-Prefix.
const BaseForwarded = "forwarded"

// checkMessageURL never repeats the URL: it may hold a credential.
func (r Route) checkMessageURL(p *Problems) {
	const field = "upstream_message_url"
	if r.UpstreamMessageURL == "" {
		return
	}
	u, err := url.Parse(r.UpstreamMessageURL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || !validPort(u.Port()):
		p.add(field, "this is not an http:// or https:// URL; write it as http://127.0.0.1:3000/messages")
	case u.User != nil:
		p.add(field, "the URL holds a user name or password; give them in a header file, as Authorization: Basic ...")
	case r.UpstreamTransport == TransportStreamable:
		p.add(field, "only the HTTP+SSE transport has a URL for messages; leave it out, or choose the transport %q", TransportSSE)
	}
}
