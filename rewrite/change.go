package rewrite

import (
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Class says when a change runs.
type Class string

// The classes of change.
const (
	// Breaking: the older peer would fail. Runs whenever versions differ.
	Breaking Class = "breaking"
	// Additive: the older peer would ignore it. Runs only on a strict route.
	Additive Class = "additive"
	// Repair: a sender broke its own version. Runs for every pair of versions.
	Repair Class = "repair"
)

// Change is one thing that a revision changed, by name.
type Change struct {
	Name  string // verb first; metric label and log field
	Doc   string // what it does and why, for users
	Class Class
	// Source is where the specification says so: a page, a schema type, a SEP.
	Source string
	// Loss says what the receiver will not see; empty means nothing is lost.
	Loss string

	// Upgrade and Downgrade edit a message on its way to a newer and to an
	// older receiver, whoever sends. Repair edits what a sender got wrong.
	// They are idempotent.
	Upgrade, Downgrade, Repair func(*Edit)
	// Check takes out of a message what a receiver that knows the revision
	// could not read under the names that it gave meaning to. It belongs to
	// repairs, and runs for every receiver at or above the revision.
	Check func(*Edit)

	// Stage makes the memory of a conversation change, one for each session.
	Stage func(Facing, Deps) Stage

	// Lacks names the feature a request needs that peers below this revision
	// do not have, or "".
	Lacks func(*mcp.Message) string
}

// Facing is what a stage may know of the conversation it serves.
type Facing struct {
	Client, Server mcp.Peer
	Options        mcp.Options
	// Routed says that the server is reached over HTTP, where headers repeat
	// parts of a request.
	Routed bool
	// Headless says that the client's messages come without headers.
	Headless bool
	// OneCredential says that the server does not see by whose credential a
	// client asks: it sees one of the bridge's, or none.
	OneCredential bool
	lacks         []func(*mcp.Message) string
}

// Lacks names a feature that m needs and that the client's version does not
// have, or "".
func (f Facing) Lacks(m *mcp.Message) string {
	for _, lacks := range f.lacks {
		if feature := lacks(m); feature != "" {
			return feature
		}
	}
	return ""
}

// Deps are the impure things a stage may need, handed in.
type Deps struct {
	// Validate checks a value against a JSON Schema; nil means no schema can
	// be checked.
	Validate func(schema, value mcp.Raw) error
	// Seal makes an opaque state of a payload that only this conversation can
	// open again, with Open. Nil means that no call can be parked.
	Seal func(payload string) string
	Open func(state string) (payload string, ok bool)
	// Wrap makes an opaque state of a payload that only the same client can open
	// again, with Unwrap, in whatever conversation. Nil means that servers' states
	// pass as they are.
	Wrap   func(payload string) string
	Unwrap func(state string) (payload string, ok bool)
}

// Stage is a conversation change at work in one session. What it does not
// forward, it keeps. Its methods are called under the session's lock.
type Stage interface {
	// ToServer and ToClient take a message that reached the stage on its way.
	ToServer(m *mcp.Message, out *Out)
	ToClient(m *mcp.Message, out *Out)
	// Answered takes the answer to a request the stage asked, under its tag.
	Answered(tag any, m *mcp.Message, out *Out)
	// Due is when Expire wants to be called; zero is never.
	Due() time.Time
	Expire(out *Out)
}

// Passive is a Stage that forwards everything, to embed.
type Passive struct{}

// ToServer forwards.
func (Passive) ToServer(m *mcp.Message, out *Out) { out.Forward(m) }

// ToClient forwards.
func (Passive) ToClient(m *mcp.Message, out *Out) { out.Forward(m) }

// Answered drops.
func (Passive) Answered(any, *mcp.Message, *Out) {}

// Due is never.
func (Passive) Due() time.Time { return time.Time{} }

// Expire does nothing.
func (Passive) Expire(*Out) {}
