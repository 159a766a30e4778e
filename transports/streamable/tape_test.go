package streamable

import (
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/transports"
)

// TestStolenToken has an old player take the sign that was meant for the new
// one: it passes it on.
func TestStolenToken(t *testing.T) {
	stream := transports.NewStream(1 << 20)
	old := newShelf().record("s", stream, false)
	now := old.tape.resume(0)
	stream.Push(message(t, news(1)))
	<-stream.Ready()
	old.leave()
	select {
	case <-now.again:
	default:
		t.Error("the new player is not woken")
	}
	select {
	case <-old.over:
	default:
		t.Error("the old player is not told")
	}
}

// TestContinueOn keeps what the old stream still held, before what comes on
// the new one.
func TestContinueOn(t *testing.T) {
	before, after := transports.NewStream(1<<20), transports.NewStream(1<<20)
	old := newShelf().record("s", before, true)
	before.Push(message(t, news(1)))
	after.Push(message(t, news(2)))
	p := old.tape.resume(0)
	old.tape.continueOn(after)
	for n := 1; n <= 2; n++ {
		if text, over := p.next(); over || !strings.Contains(string(text), news(n)) {
			t.Errorf("event %d is %q", n, text)
		}
	}
	if before.Open() || before.Push(message(t, news(3))) {
		t.Error("the old stream still takes messages")
	}
	after.End()
	if _, over := p.next(); !over {
		t.Error("the tape does not end with its stream")
	}
	p.leave()
}
