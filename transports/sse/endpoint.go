package sse

import (
	"net/http"
	"strings"
)

// sessionParameter names the session in the URI of the message endpoint.
const sessionParameter = "session"

// endpoint returns where a client posts. It is relative, without scheme and
// host: clients refuse another origin, and a proxy in front may have another
// name than the listener (vector T71).
func (s *Server) endpoint(h http.Header, id string) string {
	config := s.now.Load()
	base := config.BasePath
	if base == Forwarded {
		base = forwardedPrefix(h.Values("X-Forwarded-Prefix"))
	}
	separator := "?"
	if strings.Contains(config.MessagePath, "?") {
		separator = "&"
	}
	return strings.TrimSuffix(base, "/") + config.MessagePath + separator + sessionParameter + "=" + id
}

// longestPrefix bounds what a proxy may put before a path.
const longestPrefix = 1024

// forwardedPrefix joins the prefixes that proxies took away, the outermost
// first. One that is no plain path counts for nothing: "//host" would lead to
// another origin.
func forwardedPrefix(values []string) string {
	var prefix string
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		part = strings.TrimSuffix(strings.TrimSpace(part), "/")
		if part != "" && !plainPath(part) {
			return ""
		}
		prefix += part
	}
	if len(prefix) > longestPrefix {
		return ""
	}
	return prefix
}

func plainPath(p string) bool {
	if p[0] != '/' || strings.HasPrefix(p, "//") {
		return false
	}
	for _, c := range []byte(p) {
		if c <= ' ' || c >= 0x7F || strings.IndexByte(`\?#<>"`, c) >= 0 {
			return false
		}
	}
	return true
}
