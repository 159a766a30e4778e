package transports

import (
	"net/http"
	"strconv"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// RetryAfter is what a client is told that comes when there is no room: after
// so many seconds it may try again.
const RetryAfter = "5"

// WriteProblem answers a request that never became a message: a JSON-RPC
// error without id, since no request of the client is known to be meant. Text
// says what happened and what to do, and holds nothing the client sent.
func WriteProblem(w http.ResponseWriter, status int, text string) {
	body := mcp.Errorf(mcp.CodeInvalidRequest, "%s", text).Failure(mcp.ID{}).Bytes()
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that left needs no answer
}
