package web

import (
	"fmt"
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// BoundHeader refuses requests whose header, the request line with it, has more
// than most bytes (RFC 6585 section 5). The http.Server around it should take a
// header that is somewhat larger, as its own refusal is not JSON and nobody
// hears of it.
func BoundHeader(most int, next http.Handler, l Limits) http.Handler {
	l = l.WithDefaults()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := headerSize(r)
		if size <= most {
			next.ServeHTTP(w, r)
			return
		}
		l.Limited(mcp.LimitHeader)
		l.Refused(http.StatusRequestHeaderFieldsTooLarge)
		w.Header().Set("Connection", "close") // its body is not read
		transports.WriteProblem(w, http.StatusRequestHeaderFieldsTooLarge,
			fmt.Sprintf("the header of the request has %d bytes, more than %d, the limit %s; send fewer or shorter fields", size, most, mcp.LimitHeader))
	})
}

// headerSize is what a header takes as HTTP/1.1 writes it, less its last line.
func headerSize(r *http.Request) int {
	size := len(r.Method) + len(r.RequestURI) + len(r.Proto) + 4 + len("Host: ") + len(r.Host) + 2
	for name, values := range r.Header {
		for _, v := range values {
			size += len(name) + len(v) + 4
		}
	}
	return size
}
