// Package transporttest is the suite that every transport passes, whatever it
// is made of: order, size, bytes, concurrency, bounds and the end of things.
//
// It refuses to test what only one transport has: status codes, framing,
// processes. Those tests stand with the transport.
package transporttest

import (
	"context"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// Responder is the server under test. It is called once for every message
// that arrives, from its own goroutine for a request. What it sends belongs
// to the request m; send waits while the client is slow, and fails when it
// left. The request is over when the Responder returns. Ctx ends when the
// client left.
type Responder func(ctx context.Context, m *mcp.Message, send func(*mcp.Message) error)

// Pair is both ends of one connected transport.
type Pair struct {
	// Client is the end that asks. A transport of pipes wraps its Dialer by
	// transports.NewPiped; the server's end may be a PipeHost.
	Client transports.Upstream
	// Serve sets what the other end does; it is called before the first
	// message.
	Serve func(Responder)
	// Close shuts the server's end down.
	Close func()
	// InFlight bounds the bytes that may be under way between a server that
	// sends and a client that does not read, with everything that buffers
	// in between.
	InFlight int
}

// Run runs the suite. Open connects a new pair for each test and leaves its
// closing to the test.
func Run(t *testing.T, open func(t *testing.T) Pair) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Pair)
	}{
		{"Order", testOrder},
		{"LargeMessage", testLargeMessage},
		{"UnusualJSON", testUnusualJSON},
		{"Notification", testNotification},
		{"ConcurrentRequests", testConcurrentRequests},
		{"SlowReader", testSlowReader},
		{"Sent", testSent},
		{"Leave", testLeave},
		{"CloseEndsRequests", testCloseEndsRequests},
		{"ServerCloses", testServerCloses},
	} {
		t.Run(c.name, func(t *testing.T) {
			Goroutines(t)
			p := open(t)
			p.Client = gathering(t, p.Client)
			t.Cleanup(func() {
				_ = p.Client.Close(t.Context()) // the context has ended: whatever the transport says now is fine
				p.Close()
			})
			c.test(t, p)
		})
	}
}
