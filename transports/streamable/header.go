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
	h := make(http.Header, len(own)+len(x.c.client.config.Header)+6)
	h["User-Agent"] = []string{"mcpbridge"}
	for _, from := range []http.Header{own, x.c.client.config.Header} {
		for name, values := range from {
			h[name] = values
		}
	}
	h["Accept-Encoding"] = []string{"identity"}
	for _, name := range []string{"Host", "Content-Encoding", mcp.HeaderSession, mcp.HeaderVersion, mcp.HeaderLastID} {
		h.Del(name)
	}
	if x.s.session != "" {
		h[mcp.HeaderSession] = []string{x.s.session}
	}
	if x.s.traits.VersionHeader {
		h[mcp.HeaderVersion] = []string{string(x.s.version)}
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
