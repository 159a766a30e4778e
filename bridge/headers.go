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

func (h *headers) keep(received http.Header, b *Bridge) http.Header {
	end := endToEnd(received, b.Credentials, b.Headers)
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

// endToEnd returns the headers that may reach the upstream. What a client lists
// in Connection belongs to its connection too (RFC 9110 section 7.6.1).
func endToEnd(received http.Header, c mcp.Credentials, rules mcp.HeaderRules) http.Header {
	named := map[string]bool{}
	for _, list := range received.Values("Connection") {
		for name := range strings.SplitSeq(list, ",") {
			named[http.CanonicalHeaderKey(strings.TrimSpace(name))] = true
		}
	}
	out := http.Header{}
	for name, v := range received {
		if !named[name] && rules.Allows(name, c) {
			out[name] = v
		}
	}
	return out
}
