package streamable

import (
	"mime"
	"strings"
)

const (
	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
)

// mediaType returns the type of a Content-Type header in lower case without
// parameters, and its charset.
func mediaType(header string) (media, charset string) {
	media, params, err := mime.ParseMediaType(header)
	if err != nil { // a bad parameter does not make the type unreadable
		media, _, _ = strings.Cut(header, ";")
		return strings.ToLower(strings.TrimSpace(media)), ""
	}
	return media, strings.ToLower(params["charset"])
}

func isJSON(media string) bool { return media == typeJSON || strings.HasSuffix(media, "+json") }
