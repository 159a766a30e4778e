package interop

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// died is what a client is told of a process that died.
func died(status string) []string {
	return []string{"the process of the upstream server faulty ended before it answered (exit status " + status + ")"}
}

var childFaults = []met{
	{"hang", []string{silent}, quick},
	{"flood", nil, 2 * quick},
	{"half", []string{silent}, quick},
	{"long", []string{"the answer of the upstream server cannot be read: it is larger than allowed"}, 2 * quick},
	{"die", died("9"), quick},
}

// TestFaultsOfAChild does it to sessions whose server is a program: each has a
// process of its own, which is a real server behind a wrapper.
func TestFaultsOfAChild(t *testing.T) {
	t.Parallel()
	c := newChildren(t)
	b := watch(t, c.dir, "", "--stdio", c.command, "--max-body", "4MiB")
	w := startWitness(t, b.url, "test_simple_text", nil)
	before := b.measure(t)
	for _, m := range childFaults {
		t.Run(m.fault, func(t *testing.T) {
			most := b.peak(t)
			visitors := startClients(t, b.url)
			w.during(t, func() {
				m.happens(t, visitors, "test_simple_text")
				if m.fault == "half" { // the next answer ends the line that was begun, and is lost with it
					m.check(t, visitors.all(five, order{Op: "call", Tool: "test_simple_text"}))
				}
				m.forgotten(t, visitors, "test_simple_text")
			})
			visitors.stop()
			b.settles(t, before)
			// Of 500 MiB on five lines, or 80 MiB of complaints, little is held.
			if grown := b.peak(t) - most; grown > 80<<20 {
				t.Errorf("the bridge's memory grew by %d MiB", grown>>20)
			}
		})
	}
	t.Run("exit", func(t *testing.T) {
		visitors := startClients(t, b.url)
		w.during(t, func() { c.exits(t, visitors) })
		visitors.stop()
		b.settles(t, before)
	})
}

// children are real servers on the standard streams, in a wrapper.
type children struct {
	dir, command string
	down         string // while this file exists they end at once
}

func newChildren(t *testing.T) *children {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	dir := t.TempDir()
	server, wrapper, down := filepath.Join(dir, "server"), filepath.Join(dir, "faulty"), filepath.Join(dir, "down")
	must(t, quietly(ctx, "go", "build", "-C", filepath.Join("peers", "everything"), "-o", server, "."))
	must(t, quietly(ctx, "go", "build", "-o", wrapper, "./"+filepath.Join("peers", "faulty")))
	return &children{dir, wrapper + " -down " + down + " " + server + " -stdio", down}
}

// exits opens sessions while the program ends at once.
func (c *children) exits(t *testing.T, visitors *clients) {
	t.Helper()
	must(t, os.WriteFile(c.down, nil, 0o600))
	defer os.Remove(c.down)
	// Some may come when the command already rests.
	m := met{"exit", []string{"the upstream server faulty ended"}, quick}
	m.check(t, visitors.all(five, order{Op: "open", URL: visitors.url}))
}
