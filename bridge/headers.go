package bridge

import (
	"net/http"
	"strings"
	"sync"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// headers holds the end-to-end headers that the client sent last, for the
// messages that the bridge sends upstream of its own accord.
type headers struct {
	mu   sync.Mutex
	last http.Header
}

func (h *headers) keep(received http.Header, c mcp.Credentials) http.Header {
	end := endToEnd(received, c)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = end
	return end
}

func (h *headers) get() http.Header {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// perHop are headers that belong to one connection, or to a browser's
// relation with the one server it talks to. They never cross.
var perHop = map[string]bool{
	"Connection": true, "Proxy-Connection": true, "Keep-Alive": true, "Te": true, "Trailer": true,
	"Transfer-Encoding": true, "Upgrade": true, "Proxy-Authenticate": true, "Proxy-Authorization": true,
	"Host": true, "Content-Type": true, "Content-Length": true, "Content-Encoding": true,
	"Accept": true, "Accept-Encoding": true, "Accept-Language": true, "Accept-Charset": true,
	"Cookie": true, "Origin": true, "Referer": true, "User-Agent": true, "Expect": true, "Range": true,
	"Forwarded": true, "Via": true, "Last-Event-Id": true, "Cache-Control": true, "Pragma": true, "Dnt": true,
}

var tracing = []string{"Traceparent", "Tracestate", "Baggage"}

// endToEnd returns the headers that may reach the upstream. Only the policy
// "forward" lets through the client's own: a header of any name may be a credential.
func endToEnd(received http.Header, c mcp.Credentials) http.Header {
	out := http.Header{}
	if c != mcp.CredentialsForward {
		for _, name := range tracing {
			if v := received.Values(name); len(v) > 0 {
				out[name] = v
			}
		}
		return out
	}
	named := map[string]bool{}
	for _, list := range received.Values("Connection") {
		for name := range strings.SplitSeq(list, ",") {
			named[http.CanonicalHeaderKey(strings.TrimSpace(name))] = true
		}
	}
	for name, v := range received {
		if !perHop[name] && !named[name] && !hasPerHopPrefix(name) {
			out[name] = v
		}
	}
	return out
}

func hasPerHopPrefix(name string) bool {
	for _, prefix := range []string{"Sec-", "Mcp-", "X-Forwarded-", "X-Real-", "Access-Control-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
