package bridge

import (
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// Verb is what an Effect does.
type Verb uint8

// The verbs.
const (
	// Send writes Msg to the server.
	Send Verb = iota + 1
	// Abort gives up the exchange of Call with the server.
	Abort
	// Push opens or closes the server's standalone stream.
	Push
)

// Effect is something the core wants done on the server's leg, in order, once
// its lock is released. What goes to the client is already on its stream.
type Effect struct {
	Verb Verb
	Msg  *mcp.Message
	Call mcp.CallKey
	push rewrite.Action
	// since is when the message that caused it arrived.
	since time.Time
}

// On reports whether a Push opens the stream.
func (e Effect) On() bool { return e.push.On }
