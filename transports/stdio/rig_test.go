//go:build unix

package stdio_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/stdio"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// journal keeps what a program tells.
type journal struct {
	mu      sync.Mutex
	entries []string
	grew    chan struct{}
}

func newJournal() *journal { return &journal{grew: make(chan struct{})} }

func (j *journal) note(kind string) func(string) {
	return func(text string) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.entries = append(j.entries, kind+": "+text)
		close(j.grew)
		j.grew = make(chan struct{})
	}
}

func (j *journal) all(prefix string) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []string
	for _, e := range j.entries {
		if strings.HasPrefix(e, prefix) {
			out = append(out, e)
		}
	}
	return out
}

// await returns the first entry that contains text.
func (j *journal) await(t *testing.T, text string) string {
	t.Helper()
	timeout := time.After(patience)
	for {
		j.mu.Lock()
		grew := j.grew
		j.mu.Unlock()
		for _, e := range j.all("") {
			if strings.Contains(e, text) {
				return e
			}
		}
		select {
		case <-grew:
		case <-timeout:
			t.Fatalf("nothing told of %q; there is %.2000q", text, j.all(""))
		}
	}
}

// program returns a program that starts a child of that kind. When the test is
// over, nothing of its children may be left.
func program(t *testing.T, kind string, change func(*stdio.Command)) (*stdio.Program, *journal) {
	t.Helper()
	transporttest.Goroutines(t)
	descriptors(t)
	mark := "-stdio-test=" + strconv.FormatInt(time.Now().UnixNano(), 36)
	noProcesses(t, mark)
	j := newJournal()
	spec := stdio.Command{
		Path: os.Args[0], Args: []string{mark}, Env: []string{childVariable + "=" + kind, "GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + t.TempDir()},
		StopGrace: patience, // a test that needs an end by force says so
		Log:       func(_ int, line string) { j.note("error")(line) },
		Noise:     func(_ int, text string) { j.note("noise")(text) },
		Ended:     func(how *stdio.Ended) { j.note("ended")(how.Error()) },
		Garbage:   j.note("garbage"),
	}
	if change != nil {
		change(&spec)
	}
	p := stdio.NewCommand(spec)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Error(err)
		}
		if n := p.Running(); n != 0 {
			t.Errorf("the program says that %d children run", n)
		}
	})
	return p, j
}

// descriptors fails the test if it leaves open files behind.
func descriptors(t *testing.T) {
	t.Helper()
	before := openFiles()
	t.Cleanup(func() {
		deadline := time.After(patience)
		tick := time.NewTicker(5 * time.Millisecond) // sockets are closed in their own time
		defer tick.Stop()
		for after := openFiles(); len(after) > len(before); after = openFiles() {
			select {
			case <-tick.C:
			case <-deadline:
				t.Errorf("%d files were open before, %d are after: %v", len(before), len(after), after)
				return
			}
		}
	})
}

func openFiles() []string {
	entries, _ := os.ReadDir("/proc/self/fd") // elsewhere nothing is counted
	var out []string
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			out = append(out, e.Name()+" "+to)
		}
	}
	return out
}

// noProcesses fails the test if a process with that argument, or a zombie,
// outlives it.
func noProcesses(t *testing.T, mark string) {
	t.Helper()
	t.Cleanup(func() {
		if left := processes(mark); len(left) > 0 {
			t.Errorf("processes are left: %v", left)
		}
	})
}

// processes lists those with that argument, and the zombies that this process
// should have reaped.
func processes(mark string) []string {
	var out []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		stat, _ := os.ReadFile(dir + "/stat")
		_, rest, _ := strings.Cut(string(stat), ") ")
		state, parent, _ := strings.Cut(rest, " ")
		parent, _, _ = strings.Cut(parent, " ")
		line, _ := os.ReadFile(dir + "/cmdline")
		if strings.Contains(string(line), mark) && state != "Z" || state == "Z" && parent == strconv.Itoa(os.Getpid()) {
			out = append(out, filepath.Base(dir)+" "+state)
		}
	}
	return out
}

// peer is a conversation with a child, as a client of the bridge would have
// it.
type peer struct {
	t *testing.T
	transports.Upstream
	lastID int64
}

func converse(t *testing.T, p *stdio.Program) *peer {
	t.Helper()
	c := &peer{t: t, Upstream: p.Conversation()}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// ask sends a request and returns its answer.
func (c *peer) ask(method, params string) (*mcp.Message, error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	c.lastID++
	m := mcp.NewRequest(method, mcp.MustObject(params))
	m.ID = mcp.IntID(c.lastID)
	var answer *mcp.Message
	err := c.Send(ctx, m, transports.Outgoing{Receive: func(m *mcp.Message) { answer = m }})
	return answer, err
}

// open performs a handshake.
func (c *peer) open() *mcp.Message {
	c.t.Helper()
	answer, err := c.ask(mcp.Initialize, `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	if err != nil || answer.Kind != mcp.Result {
		c.t.Fatalf("initialize: %v %v", answer, err)
	}
	return answer
}

// call calls a tool and returns its text.
func (c *peer) call(tool string) string {
	c.t.Helper()
	answer, err := c.ask(mcp.ToolsCall, fmt.Sprintf(`{"name":%q}`, tool))
	if err != nil {
		c.t.Fatalf("%s: %v", tool, err)
	}
	return textOf(answer)
}

func textOf(m *mcp.Message) string {
	if m.Kind == mcp.Failure {
		return "error: " + m.Body.Text("message")
	}
	content := m.Body.Array("content")
	if content == nil || content.Len() == 0 {
		return ""
	}
	return content.Object(0).Text("text")
}
