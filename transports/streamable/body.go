package streamable

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/mcpbridge/mcpbridge/transports"
)

// acceptable checks the headers of a POST; a status other than 0 refuses it.
func acceptable(r *http.Request, x *transports.Exchange) (status int, text string) {
	media, charset := mediaType(r.Header.Get("Content-Type"))
	switch {
	case media != typeJSON:
		return http.StatusUnsupportedMediaType, "the body must be JSON: send Content-Type: application/json"
	case charset != "" && charset != "utf-8" && charset != "utf8":
		return http.StatusUnsupportedMediaType, "the body must be encoded in UTF-8"
	case !identity(r.Header):
		return http.StatusUnsupportedMediaType, "the body must not be compressed: send it without Content-Encoding"
	case !x.JSON && !x.Events:
		return http.StatusNotAcceptable, "answers are application/json or text/event-stream: accept both"
	}
	return 0, ""
}

func identity(h http.Header) bool {
	e := h.Get("Content-Encoding")
	return e == "" || e == "identity"
}

// readBody reads the whole body into one buffer, which the messages in it
// will share. Memory grows with what has arrived, not with what a header
// announces, and every step has its own deadline, so that a client which
// sends drop by drop does not hold a connection for ever.
func (s *Server) readBody(out *response, r *http.Request) (body []byte, status int, text string) {
	if r.ContentLength > s.config.MaxBody {
		return nil, http.StatusRequestEntityTooLarge, tooLarge
	}
	// MaxBytesReader also tells the server to close the connection in a way
	// that lets the client read the answer.
	src := http.MaxBytesReader(out.w, r.Body, s.config.MaxBody)
	buf := make([]byte, 0, firstBuffer(r.ContentLength))
	for {
		out.allowRead(s.config.BodyTimeout)
		var err error
		if buf, err = readStep(src, buf); err == nil {
			continue
		}
		out.allowRead(0)
		if errors.Is(err, io.EOF) {
			return buf, 0, ""
		}
		status, text = bodyProblem(err)
		return nil, status, text
	}
}

const (
	tooLarge = "the body is larger than this endpoint takes: send less, or raise its limit"
	tooSlow  = "the body did not arrive in time"
	cutOff   = "the body ended early"
)

func bodyProblem(err error) (status int, text string) {
	var limit *http.MaxBytesError
	switch {
	case errors.As(err, &limit):
		return http.StatusRequestEntityTooLarge, tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return http.StatusRequestTimeout, tooSlow
	}
	return http.StatusBadRequest, cutOff
}

// allowRead sets the read deadline of the connection; zero removes it, since
// one that passes later would look like the client's leaving.
func (o *response) allowRead(d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = o.rc.SetReadDeadline(at) // a writer without deadlines has its own guards
}
