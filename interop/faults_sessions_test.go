package interop

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// faultLimit bounds every operation of a client: what takes longer hangs.
const faultLimit = 20 * time.Second

// clients is a process with clients of a real SDK that does what it is told.
type clients struct {
	*process
	url string

	mu      sync.Mutex
	to      *json.Encoder
	last    int
	pending map[int]chan reply
	gone    bool
}

// order is an operation of one session.
type order struct {
	N       int            `json:"n"`
	Op      string         `json:"op"`
	Session string         `json:"session"`
	URL     string         `json:"url,omitempty"`
	Tool    string         `json:"tool,omitempty"`
	Args    map[string]any `json:"args,omitempty"`
}

// reply is what came of it.
type reply struct {
	N     int
	OK    bool
	Value json.RawMessage
	Error string
	Code  int
	took  time.Duration
}

func startClients(t *testing.T, url string) *clients {
	t.Helper()
	argv := []string{"node", filepath.Join("peers", "node", "sessions.mjs"), "sdk-1.32.2"}
	p, stdout, err := start(argv, filepath.Join(t.TempDir(), "clients.err"))
	must(t, err)
	t.Cleanup(p.stop)
	c := &clients{process: p, url: url, to: json.NewEncoder(p.stdin.(io.Writer)), pending: map[int]chan reply{}}
	go c.read(stdout)
	return c
}

func (c *clients) read(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r reply
		if json.Unmarshal(lines.Bytes(), &r) != nil || r.N == 0 {
			continue // an SDK may print lines of its own
		}
		c.mu.Lock()
		answer := c.pending[r.N]
		delete(c.pending, r.N)
		c.mu.Unlock()
		if answer != nil {
			answer <- r
		}
	}
	c.mu.Lock()
	c.gone = true
	for _, answer := range c.pending {
		answer <- reply{Error: "the clients' process ended"}
	}
	clear(c.pending)
	c.mu.Unlock()
	c.watch(stdout)
}

// begin gives the order and returns where its reply will be.
func (c *clients) begin(o order) <-chan reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer := make(chan reply, 1)
	if c.last++; c.gone {
		answer <- reply{Error: "the clients' process has ended"}
		return answer
	}
	o.N = c.last
	c.pending[o.N] = answer
	if err := c.to.Encode(o); err != nil {
		delete(c.pending, o.N)
		answer <- reply{Error: err.Error()}
	}
	return answer
}

func (c *clients) do(o order) reply {
	began := time.Now()
	timer := time.NewTimer(faultLimit)
	defer timer.Stop()
	select {
	case r := <-c.begin(o):
		r.took = time.Since(began)
		return r
	case <-timer.C:
		return reply{Error: fmt.Sprintf("no end of %s within %s", o.Op, faultLimit), took: faultLimit}
	}
}

func (c *clients) must(t *testing.T, o order) reply {
	t.Helper()
	r := c.do(o)
	if !r.OK {
		t.Fatalf("%s by %s: %s\n%s", o.Op, o.Session, r.Error, c.tail())
	}
	return r
}

// all does the same in every session at once.
func (c *clients) all(names []string, o order) map[string]reply {
	var mu sync.Mutex
	var running sync.WaitGroup
	found := map[string]reply{}
	for _, name := range names {
		running.Go(func() {
			mine := o
			mine.Session = name
			r := c.do(mine)
			mu.Lock()
			defer mu.Unlock()
			found[name] = r
		})
	}
	running.Wait()
	return found
}

// witness is a session beside those that meet a fault. It calls a tool all the
// time, and must not notice anything.
type witness struct {
	*clients
	tool order
}

const witnessName = "witness"

func startWitness(t *testing.T, url, tool string, args map[string]any) *witness {
	t.Helper()
	w := &witness{startClients(t, url), order{Op: "call", Session: witnessName, Tool: tool, Args: args}}
	w.must(t, order{Op: "open", Session: witnessName, URL: url})
	w.must(t, w.tool)
	return w
}

func (w *witness) steadily() order {
	begin := w.tool
	begin.Op = "steady"
	return begin
}

// during lets the witness call while f runs and until it has made a number of
// calls after that.
func (w *witness) during(t *testing.T, f func()) {
	t.Helper()
	w.must(t, w.steadily())
	f()
	w.makes(t, 20)
	var report struct {
		Calls, Slowest int
		Failures       []string
	}
	must(t, json.Unmarshal(w.must(t, order{Op: "rest", Session: witnessName}).Value, &report))
	if len(report.Failures) > 0 || report.Slowest > int(quick.Milliseconds()) {
		t.Errorf("another session noticed: %d of %d calls failed, the slowest took %d ms: %v",
			len(report.Failures), report.Calls, report.Slowest, report.Failures)
	}
	t.Logf("another session made %d calls, the slowest took %d ms", report.Calls, report.Slowest)
}

// makes waits until the witness has made n more calls.
func (w *witness) makes(t *testing.T, n int) {
	t.Helper()
	count := func() (report struct{ Calls int }) {
		must(t, json.Unmarshal(w.must(t, order{Op: "sofar", Session: witnessName}).Value, &report))
		return report
	}
	first := count().Calls
	eventually(t, "the other session makes more calls", func() bool { return count().Calls >= first+n })
}

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(faultLimit)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("not within %[2]s: %[1]s", what, faultLimit)
		}
		<-tick.C
	}
}
