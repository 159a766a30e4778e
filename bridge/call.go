package bridge

import (
	"context"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Call is a client's request that awaits its answer. It outlives the exchange
// that brought it: the turn can be detached while the call is parked, and
// another attached.
type Call struct {
	key    mcp.CallKey
	id     mcp.ID // as the client wrote it
	method string
	turn   *Turn  // nil while parked
	token  mcp.ID // the client's progress token, zero when it gave none

	parked  time.Time // since when it has no turn
	names   []int64   // the link's names of the requests that serve it
	arrived time.Time
}

// question is a request under way to the client: the server's, or one that a
// stage asks.
type question struct {
	key      mcp.CallKey
	method   string
	serverID mcp.ID // as the server wrote it; zero for a stage's
	clientID mcp.ID // as this session wrote it
	token    mcp.ID // the server's progress token
	within   mcp.CallKey
	turn     *Turn
	// withdrawn: the server no longer wants an answer.
	withdrawn bool
}

// Exchange is one request under way to the server, as the runner sees it.
type Exchange struct {
	Key    mcp.CallKey
	ctx    context.Context
	cancel context.CancelFunc
	sent   chan struct{} // closed when the request has been written
	heard  chan struct{} // closed when its answer is with the session
	done   chan struct{} // closed when the exchange is over
	own    time.Duration // spent on the request by the bridge itself

	laned bool // it takes turns with others

	// Of its goroutine alone: its place in the lane until it has its turn, and
	// what must be told then who takes the server's questions.
	ticket *ticket
	asking func(hear func(*mcp.Message))
}
