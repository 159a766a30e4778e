package golden

import (
	"fmt"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// listener is the observer of a transcript: it writes down what was reported.
type listener struct {
	mu    sync.Mutex
	lines []string
	names []string // every change that was reported, over the whole transcript
}

func (l *listener) add(change, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
	l.names = append(l.names, change)
}

func (l *listener) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.lines
	l.lines = nil
	return out
}

func (l *listener) Rewritten(change string) { l.add(change, "rewrote %s", change) }

func (l *listener) Lost(change string, v mcp.Verdict) { l.add(change, "lost %s %s", change, v) }

func (l *listener) FellBack(feature, action string) { l.add("", "fell %s %s", feature, action) }

func (l *listener) SessionOpened(mcp.Pair)                        {}
func (l *listener) SessionClosed(mcp.Pair)                        {}
func (l *listener) Negotiated(mcp.Side, mcp.Version, mcp.Version) {}
func (l *listener) Received(mcp.Side, mcp.Kind, string)           {}
func (l *listener) Sent(mcp.Side, mcp.Kind, string)               {}
func (l *listener) Batched(mcp.Side, int, bool)                   {}
func (l *listener) Answered(string, mcp.Kind, time.Duration)      {}
func (l *listener) Worked(string, time.Duration)                  {}
func (l *listener) Failed(mcp.Side, string)                       {}
func (l *listener) Parked()                                       {}
func (l *listener) Unparked(string, time.Duration)                {}
func (l *listener) Probed(string)                                 {}
func (l *listener) Judged(string, string)                         {}
func (l *listener) Reclassified(string, string)                   {}
func (l *listener) Listened(mcp.Side, string)                     {}
func (l *listener) ListenEnded(mcp.Side)                          {}
func (l *listener) Limited(string)                                {}
func (l *listener) Quirked(quirk string)                          { l.add("", "quirk %s", quirk) }
func (l *listener) Rounds(n int)                                  { l.add("", "rounds %d", n) }
func (l *listener) Relearned(why string)                          { l.add("", "relearned %s", why) }
