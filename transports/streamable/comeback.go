package streamable

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/eventstream"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

const (
	// maxComebacks is how often a stream is asked for again while it brings
	// nothing new.
	maxComebacks = 4
	// A server says how long to wait before that, within reason.
	minRetry     = 500 * time.Millisecond
	defaultRetry = time.Second
	maxRetry     = 30 * time.Second
	// longestEventID bounds what is repeated to the server.
	longestEventID = 1 << 10
)

// errNotTakenUp says that the server did not go on with a broken stream.
var errNotTakenUp = errors.New("streamable: the stream broke and the server does not go on with it")

// spot is a position in a stream of the server.
type spot struct {
	id    string
	retry time.Duration
}

// note learns from an event where the stream is.
func (s *spot) note(e *eventstream.Event) {
	if e.HasID {
		s.id = e.ID
	}
	if e.Retry > 0 {
		s.retry = min(max(e.Retry, minRetry), maxRetry)
	}
}

// usable reports whether a server can be asked to go on there.
func (s *spot) usable() bool {
	if len(s.id) > longestEventID {
		return false
	}
	for _, c := range []byte(s.id) {
		if c < 0x20 || c == 0x7F {
			return false
		}
	}
	return s.id != ""
}

func (s *spot) pause() time.Duration {
	if s.retry == 0 {
		return defaultRetry
	}
	return s.retry
}

// comesBack reports whether the rest of a stream that ended can be asked for:
// its server told a position, and leaving a stream does not cancel the call
// (MCP basic "Transports", Resumability and Redelivery). A server may end the
// connection on purpose, so a clean end counts too.
func (r *receiver) comesBack(err error) bool {
	t := r.s.traits
	return r.request != nil && !r.answered && r.spot.usable() && !t.PostOnly && !t.DisconnectCancels &&
		!errors.Is(err, eventstream.ErrTooLarge) && r.Alive()
}

// comeBack asks for the rest of the request's stream until its answer is
// there. Each event that has an id of its own allows as many attempts again.
func (r *receiver) comeBack(cause error) error {
	for attempt := 0; attempt < maxComebacks && r.comesBack(cause); attempt++ {
		if err := r.Pause(r.spot.pause()); err != nil {
			return err
		}
		before := r.spot.id
		resp, err := r.goOn()
		switch {
		case errors.Is(err, errNotTakenUp):
			return err
		case err != nil:
			// Without the error's type: that this request did not reach the server
			// says nothing of the call.
			cause = fmt.Errorf("asking for the rest of the stream: %v", err)
			continue
		}
		if cause = r.read(resp.Body); r.answered {
			return nil
		}
		if r.spot.id != before {
			attempt = -1
		}
	}
	return r.ended(cause)
}

// goOn asks for the stream from where it broke. A status that another attempt
// may change is an ordinary error. That the session is gone does not say that
// the call was not executed.
func (r *receiver) goOn() (*http.Response, error) {
	h := r.header(r.request)
	h["Accept"] = []string{typeEvents}
	h[mcp.HeaderLastID] = []string{r.spot.id}
	resp, err := r.do(http.MethodGet, nil, h)
	if err != nil {
		return nil, err
	}
	media, _ := web.MediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode/100 == 2 && media == typeEvents:
		return resp, nil
	case passing(resp.StatusCode):
		err = io.ErrUnexpectedEOF
	default:
		err = errNotTakenUp
	}
	r.Discard(resp)
	return nil, err
}

// passing reports a status that may be another one soon.
func passing(status int) bool {
	switch status {
	case http.StatusConflict, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}
