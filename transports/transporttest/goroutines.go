package transporttest

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// Goroutines fails the test if goroutines that it started still run after its
// cleanups. It must be called first, and not from parallel tests.
func Goroutines(t *testing.T) {
	t.Helper()
	before := stacks()
	t.Cleanup(func() {
		deadline := time.After(5 * time.Second)
		tick := time.NewTicker(5 * time.Millisecond) // goroutines end in their own time
		defer tick.Stop()
		for {
			left := added(before, stacks())
			if len(left) == 0 {
				return
			}
			select {
			case <-tick.C:
			case <-deadline:
				t.Errorf("%d goroutines are left:\n\n%s", len(left), strings.Join(left, "\n\n"))
				return
			}
		}
	})
}

// stacks returns the goroutines by their header, which starts with their id.
func stacks() map[string]string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	all := map[string]string{}
	for s := range strings.SplitSeq(string(buf), "\n\n") {
		id, _, _ := strings.Cut(s, " [")
		all[id] = s
	}
	return all
}

func added(before, now map[string]string) []string {
	var out []string
	for id, stack := range now {
		if _, known := before[id]; !known && !strings.Contains(stack, "testing.(*T)") && !strings.Contains(stack, "testing.tRunner") {
			out = append(out, stack)
		}
	}
	return out
}
