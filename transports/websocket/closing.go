package websocket

import (
	"errors"
	"time"

	gorilla "github.com/gorilla/websocket"
)

// longestReason is what a close frame has room for (RFC 6455 section 5.5).
const longestReason = 123

// end begins the closing handshake, unless it has begun already. From then on
// nothing more is written, and the connection ends when the peer answers, or
// soon. The reason is a text of our own.
func (s *socket) end(code int, reason string) {
	s.wire.closeAfter(s.timing.Close)
	text := gorilla.FormatCloseMessage(code, reason[:min(len(reason), longestReason)])
	err := s.ws.WriteControl(gorilla.CloseMessage, text, time.Now().Add(s.timing.Close))
	if err != nil && !errors.Is(err, gorilla.ErrCloseSent) {
		s.drop()
	}
}

// refuse tells the peer what was wrong with what it sent.
func (s *socket) refuse(code int, why error) error {
	s.end(code, codeName(code))
	return why
}

// finish closes the connection after next returned err. Where the peer has
// not said good-bye itself it gets the time to read ours.
func (s *socket) finish(err error) {
	var closed *Closed
	if !errors.As(err, &closed) && !errors.Is(err, errBroke) {
		s.wire.closeAfter(s.timing.Close)
		s.wire.linger()
	}
	s.drop()
}

// broken closes the connection after writing to it failed, so that its reader
// learns of that. One that is being closed is left to that.
func (s *socket) broken(err error) {
	if !errors.Is(err, gorilla.ErrCloseSent) {
		s.drop()
	}
}

// drop closes the connection at once.
func (s *socket) drop() { _ = s.wire.Close() } // whether it is closed already does not matter
