package web

import (
	"mime"
	"strings"
)

// The media types of MCP.
const (
	TypeJSON   = "application/json"
	TypeEvents = "text/event-stream"
)

// MediaType returns the type of a Content-Type header in lower case without
// parameters, and its charset.
func MediaType(header string) (media, charset string) {
	media, params, err := mime.ParseMediaType(header)
	if err != nil { // a bad parameter does not make the type unreadable
		media, _, _ = strings.Cut(header, ";")
		return strings.ToLower(strings.TrimSpace(media)), ""
	}
	return media, strings.ToLower(params["charset"])
}

// IsJSON reports whether a media type says that the body is JSON.
func IsJSON(media string) bool { return media == TypeJSON || strings.HasSuffix(media, "+json") }
