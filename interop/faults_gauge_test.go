package interop

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// gauge is what a bridge holds at one moment.
type gauge struct {
	goroutines, descriptors, sessions int
	processes                         int   // its children and what they started
	resident                          int64 // bytes
}

// slack is what may differ between two moments of rest: an idle connection or
// two, and memory that the runtime keeps. Each fault happens to five sessions at once, so what one of them leaves
// behind is more than that.
var slack = gauge{goroutines: 4, descriptors: 3, resident: 64 << 20}

// above reports whether the bridge holds more than it did before.
func (g gauge) above(before gauge) bool {
	return g.goroutines > before.goroutines+slack.goroutines ||
		g.descriptors > before.descriptors+slack.descriptors ||
		g.sessions > before.sessions || g.processes > before.processes ||
		g.resident > before.resident+slack.resident
}

func (g gauge) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d sessions, %d processes, %d MiB",
		g.goroutines, g.descriptors, g.sessions, g.processes, g.resident>>20)
}

// watched is a bridge whose holdings are compared before and after a fault.
type watched struct {
	*process
	url, admin string
	commands   string // directory of the programs that it runs
}

// watch starts a bridge with short timeouts. What it starts lies below commands.
func watch(t *testing.T, commands, upstream string, flags ...string) *watched {
	t.Helper()
	binary := modest(t)
	ports, err := freePorts(1)
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	flags = append([]string{
		"--admin", ports[0], "--request-timeout", "4s", "--session-timeout", "3s", "--max-body", "16MiB",
	}, flags...)
	p, at, err := startBridge(ctx, binary, upstream, filepath.Join(t.TempDir(), "bridge"), flags...)
	must(t, err)
	t.Cleanup(p.stop)
	return &watched{p, at, "http://" + ports[0], commands}
}

// modest is the bridge as a program that gives memory back which it does not use,
// where else it would do so after minutes.
func modest(t *testing.T) string {
	t.Helper()
	binary, err := builtBridge()
	must(t, err)
	path := filepath.Join(t.TempDir(), "mcpbridge")
	must(t, os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\nGOMEMLIMIT=64MiB exec '%s' \"$@\"\n", binary), 0o700))
	return path
}

// measure reads the bridge's own metrics and the system's table of processes.
func (w *watched) measure(t *testing.T) gauge {
	t.Helper()
	text := w.metrics(t)
	return gauge{
		goroutines:  int(sum(t, text, "go_goroutines")),
		descriptors: int(sum(t, text, "process_open_fds")),
		sessions:    int(sum(t, text, "mcpbridge_sessions_active")),
		processes:   w.processes(t),
		resident:    int64(sum(t, text, "process_resident_memory_bytes")),
	}
}

func (w *watched) metrics(t *testing.T) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.admin+"/metrics", nil)
	must(t, err)
	request.Close = true // no idle connection that counts the next time
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("the bridge does not tell its metrics: %v\n%s", err, w.tail())
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return text
}

// called is how many tool calls the server was ever sent.
func (w *watched) called(t *testing.T) int {
	t.Helper()
	return int(sum(t, w.metrics(t), "mcpbridge_messages_total", `direction="to_server",kind="request",method="tools/call"`))
}

// sum adds up a metric over its labels, or over the others where some are given.
func sum(t *testing.T, metrics []byte, name string, labels ...string) float64 {
	t.Helper()
	lines := regexp.MustCompile(`(?m)^`+name+`(?:\{[^}]*`+strings.Join(labels, "")+`[^}]*\})? (\S+)$`).FindAllSubmatch(metrics, -1)
	if len(lines) == 0 {
		t.Fatalf("there is no metric %s", name)
	}
	total := 0.0
	for _, line := range lines {
		value, err := strconv.ParseFloat(string(line[1]), 64)
		must(t, err)
		total += value
	}
	return total
}

// processes counts the bridge's children, the dead that nobody waited for
// among them, and whatever else was started for it and is left.
func (w *watched) processes(t *testing.T) int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	must(t, err)
	count := 0
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		_, rest, ok := strings.Cut(string(stat), ") ") // state, parent, ...
		if fields := strings.Fields(rest); err != nil || !ok || len(fields) < 2 {
			continue // it has just ended
		} else if fields[1] == strconv.Itoa(w.cmd.Process.Pid) {
			count++
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if w.commands != "" && strings.HasPrefix(string(line), w.commands) {
			count++
		}
	}
	return count
}

// peak is the most memory that the bridge ever had, in bytes.
func (w *watched) peak(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	must(t, err)
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("the system does not tell the peak of process %d", w.cmd.Process.Pid)
	}
	kilobytes, err := strconv.ParseInt(string(found[1]), 10, 64)
	must(t, err)
	return kilobytes << 10
}

// settles waits until the bridge holds no more than before.
func (w *watched) settles(t *testing.T, before gauge) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for now := w.measure(t); ; now = w.measure(t) {
		if !now.above(before) {
			t.Logf("before: %s; after: %s", before, now)
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("the bridge had %s\nand keeps %s; its log ends\n%s", before, now, w.tail())
			return
		}
		<-tick.C
	}
}
