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

// What became of a subscriptions/listen.
const (
	ListenHonoured = "honoured" // it is open
	ListenEmpty    = "empty"    // it was acknowledged, but can bring nothing
	ListenRefused  = "refused"  // it ended before it was acknowledged
)

// What a verdict about an upstream's era rests on.
const (
	ByProbe     = "probe"     // the answer to server/discover
	ByFallback  = "fallback"  // a probe that settles nothing but that a handshake is worth a try
	ByHandshake = "handshake" // a handshake that was refused
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
	// Judged tells what was concluded of the upstream's era, and from what.
	Judged(era, by string)
	// Reclassified tells that an upstream is of another era than it was.
	Reclassified(from, to string)
	// Received and Sent count messages on the wire of one leg.
	Received(from mcp.Side, k mcp.Kind, method string)
	Sent(to mcp.Side, k mcp.Kind, method string)
	// Rewritten counts a change that altered a message.
	Rewritten(change string)
	// Quirked counts a use of a repair for known misbehaving peers
	// (rewrite.Quirks).
	Quirked(quirk string)
	// Lost counts something a receiver's version could not say.
	Lost(change string, v mcp.Verdict)
	// FellBack counts an answer given in place of a client that lacks a
	// feature.
	FellBack(feature, action string)
	// Parked counts a call that waits for its client to come back with answers;
	// Unparked tells how that ended and how long it took.
	Parked()
	Unparked(how string, after time.Duration)
	// Rounds tells, of a call that needed any, how many rounds of questions it
	// took until it was over.
	Rounds(n int)
	// Listened tells what became of a subscriptions/listen: side is who sent it,
	// a client or, toward a server, the bridge. What was honoured or empty is
	// open until ListenEnded.
	Listened(side mcp.Side, outcome string)
	ListenEnded(side mcp.Side)
	// Relearned counts a listing of the tools by which the bridge learns which
	// arguments are named in headers.
	Relearned(why string)
	// Limited counts what a limit refused or cut, by the limit's key
	// (mcp.LimitNames).
	Limited(limit string)
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
