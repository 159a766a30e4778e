package websocket

import (
	"errors"
	"sync"
	"time"
	"unicode/utf8"

	gorilla "github.com/gorilla/websocket"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// socket is one connection after its opening handshake, whoever opened it.
// One goroutine reads, one writes; the other methods may be called by all.
type socket struct {
	ws     *gorilla.Conn
	wire   *wire
	timing Timing
	limit  int // bytes of a message
	depth  int // levels of nesting in it; 0 is mcp.MaxDepth

	mu   sync.Mutex
	pong *string // that a ping asked for and that was not sent yet
}

func newSocket(ws *gorilla.Conn, w *wire, limit int) *socket {
	s := &socket{ws: ws, wire: w, timing: w.timing, limit: limit}
	ws.SetReadLimit(int64(limit))
	ws.SetPingHandler(s.pinged)
	w.begin()
	return s
}

// heard is what one message held: a frame, or what is wrong with it.
type heard struct {
	frame *mcp.Frame
	fault *mcp.Fault
	size  int
}

// next reads the next message. The socket must be finished after an error.
func (s *socket) next() (heard, error) {
	text, err := s.text()
	if err != nil {
		return heard{}, err
	}
	frame, fault := mcp.DecodeWithin(text, s.depth)
	if fault != nil && !utf8.Valid(text) { // RFC 6455 section 8.1
		return heard{}, s.refuse(gorilla.CloseInvalidFramePayloadData, errUTF8)
	}
	return heard{frame: frame, fault: fault, size: len(text)}, nil
}

func (s *socket) text() ([]byte, error) {
	kind, r, err := s.ws.NextReader()
	switch {
	case err != nil:
		return nil, s.reason(err)
	case kind != gorilla.TextMessage:
		return nil, s.refuse(gorilla.CloseUnsupportedData, errBinary)
	}
	text, err := web.ReadAll(r, -1, s.limit)
	switch {
	case errors.Is(err, web.ErrTooLarge): // once it is inflated
		return nil, s.reason(gorilla.ErrReadLimit)
	case err != nil:
		return nil, s.reason(err)
	}
	return text, nil
}

// write sends one message, and the pong that had to wait for it.
func (s *socket) write(text []byte) error {
	if err := s.ws.WriteMessage(gorilla.TextMessage, text); err != nil {
		return &unwritable{err}
	}
	return s.sendPong()
}

// ping asks the peer for a sign of life.
func (s *socket) ping() error {
	if err := s.ws.WriteControl(gorilla.PingMessage, nil, time.Now().Add(s.timing.Write)); err != nil {
		return &unwritable{err}
	}
	return nil
}

// pinged answers a ping. Of several that could not be answered in time only
// the last is (RFC 6455 section 5.5.3).
func (s *socket) pinged(data string) error {
	s.mu.Lock()
	s.pong = &data
	s.mu.Unlock()
	return s.sendPong()
}

// pongPatience is how long a reader waits for its pong to be sent while a
// message is being written. Later the writer sends it.
const pongPatience = 50 * time.Millisecond

func (s *socket) sendPong() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pong == nil {
		return nil
	}
	err := s.ws.WriteControl(gorilla.PongMessage, []byte(*s.pong), time.Now().Add(pongPatience))
	if isBusy(err) {
		return nil
	}
	s.pong = nil
	if err == nil || errors.Is(err, gorilla.ErrCloseSent) {
		return nil
	}
	return &unwritable{err}
}
