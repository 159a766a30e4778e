package eventstream

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcpbridge/mcpbridge/transports/lines"
)

// Body is what an event carries.
type Body = lines.Body

// Comment is an event without fields: readers skip it, intermediaries see
// that the connection lives.
const Comment = ":\n\n"

// Append writes one message event to the end of dst. The type is always
// named, since some clients listen to named events only, lines end in LF and
// the data is one line, since some clients split by "\n\n" and read one data
// field. An id that cannot be written in one line is left out.
func Append(dst []byte, id string, body Body) []byte {
	dst = append(dst, "event: message\n"...)
	if id != "" && !strings.ContainsAny(id, "\r\n\x00") {
		dst = append(append(append(dst, "id: "...), id...), '\n')
	}
	dst = append(dst, "data: "...)
	start := len(dst)
	dst = lines.Flatten(body.Append(dst), start)
	return append(dst, "\n\n"...)
}

// AppendPosition writes an event without data: it tells where the stream is
// before anything was said there, and how long to wait before coming back
// (MCP basic "Transports", Sending Messages to the Server). It must not reach
// clients that take every event for a message.
func AppendPosition(dst []byte, id string, retry time.Duration) []byte {
	dst = append(dst, "retry: "...)
	dst = strconv.AppendInt(dst, retry.Milliseconds(), 10)
	dst = append(append(dst, "\nid: "...), id...)
	return append(dst, "\ndata:\n\n"...)
}
