package main

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"
)

// record is a writer that many goroutines write to, and that tells when a
// text has been written.
type record struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed and replaced on every write
}

func newRecord() *record { return &record{changed: make(chan struct{})} }

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.changed)
	r.changed = make(chan struct{})
	return r.text.Write(b)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// await returns the first line that contains text.
func (r *record) await(t *testing.T, text string) string {
	t.Helper()
	for {
		r.mu.Lock()
		all, changed := r.text.String(), r.changed
		r.mu.Unlock()
		for line := range strings.Lines(all) {
			if strings.Contains(line, text) {
				return line
			}
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("%q was never written; there is:\n%s", text, all)
		}
	}
}

// surroundings are a process for tests.
type surroundings struct {
	out, err *record
	stop     chan os.Signal
	env      map[string]string
}

func newSurroundings(env map[string]string) *surroundings {
	return &surroundings{out: newRecord(), err: newRecord(), stop: make(chan os.Signal, 2), env: env}
}

func (s *surroundings) process() process {
	return process{
		out: s.out, err: s.err,
		lookup:  func(name string) (string, bool) { v, ok := s.env[name]; return v, ok },
		signals: func() (<-chan os.Signal, func()) { return s.stop, func() {} },
	}
}
