package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Unreadable checks the headers of a POST whose body must be JSON as it is; a
// status other than 0 refuses it.
func Unreadable(h http.Header) (status int, text string) {
	media, charset := MediaType(h.Get("Content-Type"))
	switch {
	case media != TypeJSON:
		return http.StatusUnsupportedMediaType, "the body must be JSON: send Content-Type: application/json"
	case charset != "" && charset != "utf-8" && charset != "utf8":
		return http.StatusUnsupportedMediaType, "the body must be encoded in UTF-8"
	case !identity(h):
		return http.StatusUnsupportedMediaType, "the body must not be compressed: send it without Content-Encoding"
	}
	return 0, ""
}

func identity(h http.Header) bool {
	e := h.Get("Content-Encoding")
	return e == "" || e == "identity"
}

// ReadBody reads the whole body of the request into one buffer, which the
// messages in it will share. Memory grows with what has arrived, not with what
// a header announces, and every step has its own deadline, so that a client
// which sends drop by drop does not hold a connection for ever. A status other
// than 0 refuses the request.
func (o *Response) ReadBody() (body []byte, status int, text string) {
	limits := o.from.limits
	if o.r.ContentLength > limits.MaxBody {
		status, text = limits.tooLarge()
		return nil, status, text
	}
	// MaxBytesReader also tells the server to close the connection in a way
	// that lets the client read the answer.
	src := http.MaxBytesReader(o.w, o.r.Body, limits.MaxBody)
	buf := make([]byte, 0, firstBuffer(o.r.ContentLength))
	for {
		o.allowRead(limits.BodyTimeout)
		var err error
		if buf, err = readStep(src, buf); err == nil {
			continue
		}
		o.allowRead(0)
		if errors.Is(err, io.EOF) {
			return buf, 0, ""
		}
		status, text = limits.bodyProblem(err)
		return nil, status, text
	}
}

const (
	tooSlow = "the body did not arrive in time"
	cutOff  = "the body ended early"
)

func (l Limits) tooLarge() (status int, text string) {
	l.Limited(mcp.LimitBody)
	return http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes, the limit %s: send less, or raise it", l.MaxBody, mcp.LimitBody)
}

func (l Limits) bodyProblem(err error) (status int, text string) {
	var limit *http.MaxBytesError
	switch {
	case errors.As(err, &limit):
		return l.tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout, tooSlow
	}
	return http.StatusBadRequest, cutOff
}

// Decode reads a frame within the limits.
func (o *Response) Decode(body []byte) (*mcp.Frame, *mcp.Fault) {
	return mcp.DecodeWithin(body, o.from.limits.MaxDepth)
}

// allowRead sets the read deadline of the connection; zero removes it, since
// one that passes later would look like the client's leaving.
func (o *Response) allowRead(d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = o.rc.SetReadDeadline(at) // a writer without deadlines has its own guards
}
