package stdio

import (
	"fmt"
	"time"
)

const (
	trickleSpan  = time.Second
	trickleLines = 100
)

// trickle lets so many lines pass in a second, so that a child that floods
// does not fill the log. It is used by one goroutine.
type trickle struct {
	since   time.Time
	passed  int
	dropped int
}

// allow reports whether a line may pass. More tells of those that did not,
// before the first that does again.
func (t *trickle) allow(now time.Time) (more string, ok bool) {
	if now.Sub(t.since) >= trickleSpan {
		more = t.rest()
		t.since, t.passed = now, 0
	}
	if t.passed++; t.passed > trickleLines {
		t.dropped++
		return "", false
	}
	return more, true
}

// rest tells of the lines that did not pass, "" when all did.
func (t *trickle) rest() string {
	if t.dropped == 0 {
		return ""
	}
	n := t.dropped
	t.dropped = 0
	return fmt.Sprintf("(%d more lines were left out)", n)
}
