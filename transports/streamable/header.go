package streamable

import (
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// header returns the request's headers: what the message carries, then what
// the operator configured, then those of the transport.
func (x *exchange) header(m *mcp.Message) http.Header {
	own := x.s.header
	if m != nil {
		own = m.Header
	}
	h := x.c.client.site.RequestHeader(own)
	if x.s.session != "" {
		h[mcp.HeaderSession] = []string{x.s.session}
	}
	if x.s.traits.VersionHeader {
		h[mcp.HeaderVersion] = []string{string(x.s.version)}
	}
	if x.s.traits.RoutingHeaders && m != nil && !m.IsAnswer() {
		h[mcp.HeaderMethod] = []string{m.Method}
		if name, ok := m.RoutingName(); ok {
			h[mcp.HeaderName] = []string{mcp.EncodeHeader(name)}
		}
	}
	return h
}

// statedVersion returns the version that an opening request asks for.
func statedVersion(m *mcp.Message) string {
	if m.Body == nil {
		return ""
	}
	if v := m.Body.Text("protocolVersion"); v != "" {
		return v
	}
	if meta := m.Meta(); meta != nil {
		return meta.Text(mcp.MetaVersion)
	}
	return ""
}
