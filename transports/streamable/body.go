package streamable

import (
	"net/http"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// acceptable checks the headers of a POST; a status other than 0 refuses it.
func acceptable(r *http.Request, x *transports.Exchange) (status int, text string) {
	if status, text := web.Unreadable(r.Header); status != 0 {
		return status, text
	}
	if !x.JSON && !x.Events {
		return http.StatusNotAcceptable, "answers are application/json or text/event-stream: accept both"
	}
	return 0, ""
}
