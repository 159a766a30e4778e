package bridge_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/mcp"
)

var _ bridge.Observer = (*witness)(nil)

// witness is an observer that counts what it hears, a line for each fact.
type witness struct {
	mu     sync.Mutex
	counts map[string]int
	grew   chan struct{}
}

func newWitness() *witness { return &witness{counts: map[string]int{}, grew: make(chan struct{})} }

func (w *witness) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[fmt.Sprintf(format, args...)]++
	close(w.grew)
	w.grew = make(chan struct{})
}

func (w *witness) count(fact string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts[fact]
}

// starting returns the number of facts that begin so.
func (w *witness) starting(prefix string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for fact, count := range w.counts {
		if strings.HasPrefix(fact, prefix) {
			n += count
		}
	}
	return n
}

// await returns once the fact was heard n times.
func (w *witness) await(t *testing.T, fact string, n int) {
	t.Helper()
	timeout := time.After(patience)
	for {
		w.mu.Lock()
		grew, count := w.grew, w.counts[fact]
		w.mu.Unlock()
		if count >= n {
			return
		}
		select {
		case <-grew:
		case <-timeout:
			t.Fatalf("heard %d of %d times: %s; heard %v", count, n, fact, w.counts)
		}
	}
}

func (w *witness) SessionOpened(p mcp.Pair) { w.note("opened %s %s", p.Client, p.Server) }
func (w *witness) SessionClosed(p mcp.Pair) { w.note("closed %s %s", p.Client, p.Server) }

func (w *witness) Negotiated(side mcp.Side, requested, agreed mcp.Version) {
	w.note("negotiated %s %s %s", side, requested, agreed)
}

func (w *witness) Received(from mcp.Side, k mcp.Kind, method string) {
	w.note("received %s %s %s", from, k, method)
}

func (w *witness) Sent(to mcp.Side, k mcp.Kind, method string) {
	w.note("sent %s %s %s", to, k, method)
}

func (w *witness) Rewritten(change string)              { w.note("rewritten %s", change) }
func (w *witness) Lost(change string, v mcp.Verdict)    { w.note("lost %s %s", change, v) }
func (w *witness) Parked()                              { w.note("parked") }
func (w *witness) Unparked(how string, _ time.Duration) { w.note("unparked %s", how) }
func (w *witness) Probed(era string)                    { w.note("probed %s", era) }
func (w *witness) Judged(era, by string)                { w.note("judged %s %s", era, by) }
func (w *witness) Reclassified(from, to string)         { w.note("reclassified %s %s", from, to) }
func (w *witness) Rounds(n int)                         { w.note("rounds %d", n) }
func (w *witness) Limited(limit string)                 { w.note("limited %s", limit) }
func (w *witness) Quirked(quirk string)                 { w.note("quirked %s", quirk) }
func (w *witness) Relearned(why string)                 { w.note("relearned %s", why) }
func (w *witness) ListenEnded(side mcp.Side)            { w.note("listen ended %s", side) }
func (w *witness) FellBack(feature, action string)      { w.note("fell %s %s", feature, action) }

func (w *witness) Listened(side mcp.Side, outcome string) { w.note("listened %s %s", side, outcome) }

func (w *witness) Batched(from mcp.Side, size int, served bool) {
	w.note("batched %s %d %v", from, size, served)
}

func (w *witness) Answered(method string, k mcp.Kind, total time.Duration) {
	w.note("answered %s %s", method, k)
	if total < 0 || total > time.Minute {
		w.note("answered after %s", total)
	}
}

func (w *witness) Worked(method string, own time.Duration) { w.note("worked %s", method) }

func (w *witness) Failed(leg mcp.Side, reason string) { w.note("failed %s %s", leg, reason) }
