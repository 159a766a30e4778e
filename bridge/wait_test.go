package bridge_test

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// gives fails the test unless the condition, which no channel tells of, comes
// true in time.
func gives(t *testing.T, otherwise string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal(otherwise)
		}
	}
}

// running returns the number of goroutines in a function of the bridge.
func running(function string) int {
	buf := make([]byte, 1<<20)
	return strings.Count(string(buf[:runtime.Stack(buf, true)]), function+"(")
}

// within fails the test unless a channel is closed in time.
func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s did not come", what)
	}
}
