package websocket

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	gorilla "github.com/gorilla/websocket"
)

// Closed says that the peer closed the connection, and what it said then.
type Closed struct {
	Code   int    // RFC 6455 section 7.4
	Reason string // the peer's own words: for the operator, no client may see them
}

func (c *Closed) Error() string {
	text := "websocket: reading: the peer closed the connection with " + strconv.Itoa(c.Code)
	if name := codeName(c.Code); name != "" {
		text += ", " + name
	}
	if c.Reason != "" {
		text += ": " + strconv.Quote(c.Reason)
	}
	return text
}

// tooLarge says that a message of the peer is above the limit.
type tooLarge struct{ limit int }

func (t *tooLarge) Error() string {
	return fmt.Sprintf("websocket: reading: a message is larger than the %d bytes allowed", t.limit)
}

// codeName says what a close code means, "" for one that only its sender
// knows.
func codeName(code int) string {
	switch code {
	case gorilla.CloseNormalClosure:
		return "normal closure"
	case gorilla.CloseGoingAway:
		return "going away"
	case gorilla.CloseProtocolError:
		return "protocol error"
	case gorilla.CloseUnsupportedData:
		return "unsupported data"
	case gorilla.CloseNoStatusReceived:
		return "no status"
	case gorilla.CloseInvalidFramePayloadData:
		return "invalid payload"
	case gorilla.ClosePolicyViolation:
		return "policy violation"
	case gorilla.CloseMessageTooBig:
		return "message too big"
	case gorilla.CloseMandatoryExtension:
		return "extension missing"
	case gorilla.CloseInternalServerErr:
		return "internal error"
	case gorilla.CloseServiceRestart:
		return "service restart"
	case gorilla.CloseTryAgainLater:
		return "try again later"
	}
	return ""
}

var (
	errBinary = errors.New("websocket: reading: the peer sent a binary message; messages are text")
	errUTF8   = errors.New("websocket: reading: the peer sent text that is not UTF-8")
	errBroke  = errors.New("websocket: reading: the connection broke off without a close")
	errSilent = errors.New("websocket: reading: the peer was silent for too long and answered no ping")
	errClosed = errors.New("websocket: the connection is closed")
)

// unwritable is the failure of a write. A reader meets it too, since it
// answers pings.
type unwritable struct{ err error }

func (u *unwritable) Error() string { return "websocket: writing: " + u.err.Error() }

// Unwrap returns the cause.
func (u *unwritable) Unwrap() error { return u.err }

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// isBusy reports that a control frame was not written because the message
// before it takes so long. Other errors of the library are final.
func isBusy(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// reason says why reading failed, and tells the peer if it may not know.
func (s *socket) reason(err error) error {
	var closed *gorilla.CloseError
	var unable *unwritable
	var network net.Error
	switch {
	case errors.As(err, &unable):
		s.broken(unable)
		return unable
	case errors.As(err, &closed) && closed.Code == gorilla.CloseAbnormalClosure,
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errBroke
	case errors.As(err, &closed):
		return &Closed{Code: closed.Code, Reason: closed.Text}
	case errors.Is(err, net.ErrClosed):
		return errClosed
	case errors.Is(err, gorilla.ErrReadLimit):
		return s.refuse(gorilla.CloseMessageTooBig, &tooLarge{s.limit})
	case isTimeout(err):
		return s.refuse(gorilla.CloseInternalServerErr, errSilent)
	case errors.As(err, &network):
		return fmt.Errorf("websocket: reading: %w", err)
	}
	return s.refuse(gorilla.CloseProtocolError, fmt.Errorf("websocket: reading: %w", err))
}
