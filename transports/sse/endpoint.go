package sse

import (
	"net/http"
	"strings"

	"github.com/mcpbridge/mcpbridge/transports/web"
)

// sessionParameter names the session in the URI of the message endpoint.
const sessionParameter = "session"

// endpoint returns where the client of a request posts. It is relative,
// without scheme and host: clients refuse another origin, and a proxy in front
// may have another name than the listener (vector T71).
func (s *Server) endpoint(r *http.Request, id string) string {
	config := s.now.Load()
	base := config.BasePath
	if base == Forwarded {
		base = web.Prefix(r)
	}
	separator := "?"
	if strings.Contains(config.MessagePath, "?") {
		separator = "&"
	}
	return strings.TrimSuffix(base, "/") + config.MessagePath + separator + sessionParameter + "=" + id
}
