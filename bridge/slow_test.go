package bridge_test

import (
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

const (
	ballast   = 64 << 10           // in each message
	endless   = 64 << 20 / ballast // messages to a client that does not read
	plenty    = 20 << 20 / ballast // messages that somebody does read, or loses
	allowance = 12 << 20           // what the heap of bridge, server and client may grow by
)

// flood is a server that sends far more than anybody wants.
type flood struct {
	messages int
	sent     atomic.Int64
	done     chan struct{}
}

func newFlood(messages int) *flood { return &flood{messages: messages, done: make(chan struct{})} }

// pour sends the flood on the stream of a call.
func (f *flood) pour(c *call) {
	defer close(f.done)
	text := []byte("data: " + `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","n":000000,"data":"` +
		strings.Repeat("x", ballast) + `"}}` + "\n\n")
	at := strings.Index(string(text), "000000")
	c.stream()
	for i := range f.messages {
		number := strconv.Itoa(1000000 + i)
		copy(text[at:], number[1:])
		text[at] = '1' // no leading zero
		if _, err := c.w.Write(text); err != nil {
			return
		}
		f.sent.Add(1)
	}
	c.flush()
}

// heap returns the memory in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// standstill returns once the server has sent nothing for a while, during
// which another session goes on. Returning too early weakens the test and
// cannot fail it.
func (f *flood) standstill(c *client) {
	c.t.Helper()
	const quiet = 300 * time.Millisecond
	last, since := f.sent.Load(), time.Now()
	for begin := since; time.Since(since) < quiet && time.Since(begin) < patience; {
		c.works()
		if sent := f.sent.Load(); sent != last {
			last, since = sent, time.Now()
		}
	}
}

// Nobody reads, so the server has to wait, and memory does not grow.
func TestSlowReaderOfItsCall(t *testing.T) {
	r := newRig(t, nil)
	f := newFlood(endless)
	r.up.handle("tools/call flood", f.pour)
	other, c := r.open(v4, `{}`), r.open(v4, `{}`)
	before := heap()
	s := c.stream(http.MethodPost, toolCall(`1`, "flood", `1`))
	f.standstill(other)
	f.check(t, before)
	c.works()
	f.read(s)
}

// read reads more of the flood than can be under way.
func (f *flood) read(s *stream) {
	s.t.Helper()
	for i := range 300 {
		if got := s.next(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","n":1`+strconv.Itoa(1000000 + i)[2:]+`,`) {
			s.t.Fatalf("message %d is %.300s", i, got)
		}
	}
}

// The server is not silent while the client takes its time.
func TestSlowReaderIsNoSilence(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.RequestTimeout = time.Second })
	f := newFlood(endless)
	r.up.handle("tools/call flood", f.pour)
	other, c := r.open(v4, `{}`), r.open(v4, `{}`)
	s := c.stream(http.MethodPost, toolCall(`1`, "flood", `1`))
	for began := time.Now(); time.Since(began) < 3*time.Second/2; {
		other.works()
	}
	f.read(s)
}

// check fails the test if the server could send all, or memory has grown.
func (f *flood) check(t *testing.T, before int64) {
	t.Helper()
	if grown := heap() - before; grown > allowance {
		t.Errorf("the heap has grown by %d MiB", grown>>20)
	}
	if sent := f.sent.Load(); sent == 0 || sent == int64(f.messages) {
		t.Errorf("the server sent %d messages", sent)
	}
}

// The same where the messages belong to no call and take the stream of one
// for want of another.
func TestSlowReaderOfStandaloneMessages(t *testing.T) {
	for name, listens := range map[string]bool{"on a GET": true, "on a call": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			f, begin := newFlood(endless), make(chan struct{})
			r.up.handle("GET", func(c *call) {
				c.stream()
				c.wait(begin)
				if c.session == "up-2" {
					f.pour(c)
				}
			})
			r.up.handle("tools/call slow", func(c *call) {
				_ = c.progress(1)
				c.wait(nil)
			})
			other, c := r.open(v4, `{}`), r.open(v4, `{}`)
			if listens {
				c.stream(http.MethodGet, "")
			}
			s := c.stream(http.MethodPost, request(`1`, mcp.ToolsCall, `{"name":"slow","_meta":{"progressToken":1}}`))
			s.want(progressNote(`1`, "1"))
			before := heap()
			close(begin)
			f.standstill(other)
			f.check(t, before)
			other.works()
		})
	}
}

// A call that cannot carry them sends its messages to the standalone stream,
// whose reader is slow.
func TestSlowReaderOfAnothersMessages(t *testing.T) {
	r := newRig(t, nil)
	f := newFlood(endless)
	r.up.handle("tools/call flood", f.pour)
	other, c := r.open(v4, `{}`), r.open(v4, `{}`)
	c.stream(http.MethodGet, "")
	before := heap()
	go func() { _, _ = c.try(http.MethodPost, toolCall(`1`, "flood", `1`), "Accept", "application/json") }()
	r.up.await(t, mcp.ToolsCall, 1)
	f.standstill(other)
	f.check(t, before)
	c.works()
}

// Nobody listens at all: what is kept for later is little, the rest is lost
// and counted.
func TestSlowReaderIsNotThere(t *testing.T) {
	r := newRig(t, nil)
	f, begin := newFlood(plenty), make(chan struct{})
	r.up.handle("GET", func(c *call) {
		c.stream()
		c.wait(begin)
		f.pour(c)
		c.wait(nil)
	})
	r.open(v4, `{}`)
	before := heap()
	close(begin)
	within(t, "the end of the flood", f.done)
	r.heard.await(t, "received server notification notifications/message", plenty)
	if grown := heap() - before; grown > allowance {
		t.Errorf("the heap has grown by %d MiB", grown>>20)
	}
	if n := r.heard.count("lost deliver pass"); n == 0 {
		t.Errorf("nothing is counted as lost")
	}
}

// A slow reader who leaves lets the server go on.
func TestSlowReaderLeaves(t *testing.T) {
	r := newRig(t, nil)
	f := newFlood(plenty)
	r.up.handle("tools/call flood", func(c *call) {
		f.pour(c)
		c.text("done")
	})
	c := r.open(v4, `{}`)
	s := c.stream(http.MethodPost, toolCall(`1`, "flood", `1`))
	s.next()
	s.leave()
	within(t, "the end of the flood", f.done)
	r.heard.await(t, "answered tools/call result", 1)
	c.works()
}

// A slow sender is served too, and holds up nobody.
func TestSlowSender(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	body, pipe := io.Pipe()
	done := make(chan reply, 1)
	go func() {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url, body)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set(mcp.HeaderSession, c.session)
		resp, err := r.web.Do(req)
		if err != nil {
			t.Error(err)
			done <- reply{}
			return
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		done <- reply{status: resp.StatusCode, body: string(b)}
	}()
	for _, part := range strings.SplitAfter(toolCall(`1`, "t", `1`), ",") {
		if _, err := io.WriteString(pipe, part); err != nil {
			t.Fatal(err)
		}
		c.works()
	}
	pipe.Close()
	if got := <-done; got.body != echoed(`1`, `1`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}
