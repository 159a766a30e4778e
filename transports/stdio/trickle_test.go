package stdio

import (
	"testing"
	"time"
)

func TestTrickle(t *testing.T) {
	var flow trickle
	now := time.Unix(1e9, 0)
	passed := 0
	for range 1000 {
		if more, ok := flow.allow(now); ok {
			passed++
		} else if more != "" {
			t.Errorf("told %q of a line that does not pass", more)
		}
	}
	if passed != trickleLines {
		t.Errorf("%d of 1000 lines passed at once", passed)
	}
	if more, ok := flow.allow(now.Add(trickleSpan)); !ok || more != "(900 more lines were left out)" {
		t.Errorf("a second later: %q %v", more, ok)
	}
	if more := flow.rest(); more != "" {
		t.Errorf("told again: %q", more)
	}
}
