package bridge

import (
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// What becomes of a parked call.
const (
	ParkResumed   = "resumed"   // its client came back
	ParkAbandoned = "abandoned" // it did not, in time
	ParkLost      = "lost"      // the conversation ended first
)

// Observer hears what the bridge does. Metrics, traces and the dashboard are
// observers. Methods are called from many goroutines, often under a lock, so
// they must be quick, and must not call back.
type Observer interface {
	// SessionOpened and SessionClosed frame the life of a conversation.
	SessionOpened(p mcp.Pair)
	SessionClosed(p mcp.Pair)
	// Negotiated tells what a peer asked for and what was agreed with it; an
	// empty agreed version is a handshake that failed.
	Negotiated(side mcp.Side, requested, agreed mcp.Version)
	// Probed tells what a probe of the upstream's era found; empty is nothing.
	Probed(era string)
	// Received and Sent count messages on the wire of one leg.
	Received(from mcp.Side, k mcp.Kind, method string)
	Sent(to mcp.Side, k mcp.Kind, method string)
	// Rewritten counts a change that altered a message.
	Rewritten(change string)
	// Lost counts something a receiver's version could not say.
	Lost(change string, v mcp.Verdict)
	// FellBack counts an answer given in place of a client that lacks a
	// feature.
	FellBack(feature, action string)
	// Parked counts a call that waits for its client to come back with answers;
	// Unparked tells how that ended and how long it took.
	Parked()
	Unparked(how string, after time.Duration)
	// Batched counts a JSON-RPC batch from one side; served is false for one
	// that was refused whole.
	Batched(from mcp.Side, size int, served bool)
	// Answered times a client's request from its arrival to its answer.
	Answered(method string, k mcp.Kind, total time.Duration)
	// Worked tells the bridge's own share of that time.
	Worked(method string, own time.Duration)
	// Failed counts a fault on one leg, by a short fixed reason.
	Failed(leg mcp.Side, reason string)
}
