package eventstream

import (
	"errors"
	"time"
)

// ErrTooLarge says that an event exceeds the reader's limit. The stream
// cannot be read any further.
var ErrTooLarge = errors.New("eventstream: reading: the event is larger than allowed")

// MessageType is the type of an event that names none.
const MessageType = "message"

// Event is one block of a stream that had at least one field.
type Event struct {
	Type string // MessageType where the sender named none
	// ID is the event's own id; HasID tells an empty one, which resets the
	// position in the stream, from none.
	ID    string
	HasID bool
	Data  []byte        // belongs to whoever received the event
	Retry time.Duration // zero where the sender gave none
}

// IsMessage reports whether the event carries a message. An event without
// data only tells a position: the priming event of SEP-1699, MCP basic
// "Transports", and the pings of common SSE libraries.
func (e *Event) IsMessage() bool { return e.Type == MessageType && len(e.Data) > 0 }
