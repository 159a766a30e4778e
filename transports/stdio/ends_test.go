//go:build unix

package stdio_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/stdio"
)

// TestDeathWithinACall lets a child die while it owes an answer: the caller
// gets an error at once, and the next call a new child after a handshake.
func TestDeathWithinACall(t *testing.T) {
	for tool, want := range map[string]string{
		"exits":     `exit status 4; its last line on standard error: "fatal: the disk is full"`,
		"is killed": "signal: killed",
		"half":      "exit status 5",
	} {
		t.Run(tool, func(t *testing.T) {
			p, j := program(t, "server", nil)
			c := converse(t, p)
			first := c.open()
			answer, err := c.ask(mcp.ToolsCall, `{"name":"`+tool+`"}`)
			var ended *stdio.Ended
			if tool == "half" { // what came names the request
				if err != nil || textOf(answer) != "error: the answer of the upstream server cannot be read: it is malformed" {
					t.Errorf("the call got %v %v", answer, err)
				}
			} else if !errors.Is(err, transports.ErrBroken) || !errors.As(err, &ended) || !strings.Contains(err.Error(), want) {
				t.Errorf("the call failed with: %v", err)
			}
			if got := j.await(t, "ended: "); !strings.Contains(got, want) {
				t.Errorf("told: %s", got)
			}
			if _, err := c.ask(mcp.ToolsCall, `{"name":"pid"}`); !errors.Is(err, transports.ErrSessionGone) {
				t.Errorf("the next call failed with: %v", err)
			}
			c.Reset()
			if _, err := c.ask(mcp.ToolsCall, `{"name":"pid"}`); !errors.Is(err, transports.ErrSessionGone) || p.Running() != 0 {
				t.Errorf("a call before the handshake: %v, and %d children run", err, p.Running())
			}
			second := c.open()
			pid := second.Body.Object("serverInfo").Text("version")
			if pid == first.Body.Object("serverInfo").Text("version") || c.call("pid") != pid {
				t.Error("the next child does not answer")
			}
			if p.Running() != 1 {
				t.Errorf("%d children run", p.Running())
			}
		})
	}
}

func TestLastWordsCount(t *testing.T) {
	p, _ := program(t, "server", nil)
	c := converse(t, p)
	c.open()
	if got := c.call("no newline"); got != "last words" {
		t.Errorf("got %q", got)
	}
}

func TestExitsAtOnce(t *testing.T) {
	p, j := program(t, "exits", nil)
	if err := p.Ready(t.Context()); err != nil {
		t.Errorf("ready before the first start: %v", err)
	}
	for range 2 { // the first restart is immediate
		_, err := converse(t, p).ask(mcp.Initialize, `{}`)
		if !errors.Is(err, transports.ErrBroken) && !errors.Is(err, transports.ErrSessionGone) {
			t.Errorf("the handshake failed with: %v", err)
		}
	}
	if got := j.await(t, "ended: "); !strings.Contains(got, `exit status 3; its last line on standard error: "no configuration at hand"`) {
		t.Errorf("told: %s", got)
	}
	_, err := converse(t, p).ask(mcp.Initialize, `{}`)
	var resting *stdio.Resting
	if !errors.As(err, &resting) || resting.Deaths != 2 || time.Until(resting.Until) <= 0 || time.Until(resting.Until) > time.Second {
		t.Errorf("the third start: %v", err)
	}
	if err := p.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "exit status 3") || strings.Contains(err.Error(), "configuration") {
		t.Errorf("ready: %v", err)
	}
}

func TestClosedOutputIsAnEnd(t *testing.T) {
	p, j := program(t, "closes its output", nil)
	_, err := converse(t, p).ask(mcp.Initialize, `{}`)
	if err == nil {
		t.Error("the handshake succeeded")
	}
	j.await(t, "the process ended: it closed its standard output")
}

// TestHanging lets a caller go that a child does not answer.
func TestHanging(t *testing.T) {
	p, _ := program(t, "hangs", func(s *stdio.Command) { s.StopGrace = 10 * time.Millisecond })
	c := converse(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	m := mcp.NewRequest(mcp.Initialize, mcp.MustObject(`{}`))
	m.ID = mcp.IntID(1)
	err := c.Send(ctx, m, transports.Outgoing{Sent: cancel, Receive: func(*mcp.Message) {}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if p.Running() != 0 {
		t.Error("a child whose handshake failed is kept")
	}
}

// TestInputThatNobodyReads fills the pipe to a child that does not read, and
// lets the writers go.
func TestInputThatNobodyReads(t *testing.T) {
	p, _ := program(t, "hangs", func(s *stdio.Command) { s.StopGrace = 10 * time.Millisecond })
	conn, err := p.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ballast := mcp.NewObject()
	ballast.Set("x", mcp.Quote(strings.Repeat("x", 1<<20)))
	failed := make(chan error, 3)
	ctx, cancel := context.WithCancel(t.Context())
	for range 3 {
		go func() { failed <- conn.Write(ctx, mcp.NewNotification(mcp.LogMessage, ballast.Clone())) }()
	}
	cancel()
	for range 3 {
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("a writer left with %v", err)
		}
	}
	go func() { failed <- conn.Write(t.Context(), mcp.NewNotification(mcp.LogMessage, nil)) }()
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil {
		t.Error("a child that does not read took a message")
	}
	if err := conn.Write(t.Context(), mcp.NewNotification(mcp.LogMessage, nil)); err == nil {
		t.Error("a closed pipe took a message")
	}
	if _, err := conn.Read(t.Context()); err == nil {
		t.Error("a closed pipe brought a message")
	}
}

// TestStopEndsEverything closes children that do not end by themselves (field
// report 99): their input first, then by signals to the group.
func TestStopEndsEverything(t *testing.T) {
	for name, tc := range map[string]struct {
		kind  string
		grace time.Duration
	}{
		"at the end of its input": {"server", patience},
		"by a signal":             {"hangs", 10 * time.Millisecond},
		"by force":                {"stubborn", 10 * time.Millisecond},
		"while it floods":         {"floods", 10 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			p, j := program(t, tc.kind, func(s *stdio.Command) { s.StopGrace = tc.grace })
			conn, err := p.Dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if tc.kind == "stubborn" || tc.kind == "floods" {
				if _, err := conn.Read(t.Context()); err != nil { // it ignores signals by now
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := conn.Close(); err != nil {
					t.Error(err)
				}
			}
			if p.Running() != 0 {
				t.Error("it still runs")
			}
			if ended := j.all("ended: "); len(ended) > 0 {
				t.Errorf("an end that was asked for is reported: %q", ended)
			}
		})
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	p, _ := program(t, "server", nil)
	conn, err := p.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() { _, err := conn.Read(ctx); failed <- err }()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// TestGrandchildren lets a child start a process of its own, and end first,
// or be told to end.
func TestGrandchildren(t *testing.T) {
	for _, tool := range []string{"forks", "leaves"} {
		t.Run(tool, func(t *testing.T) {
			p, _ := program(t, "server", nil) // it counts processes at the end
			c := converse(t, p)
			c.open()
			if pid, err := strconv.Atoi(c.call(tool)); err != nil || syscall.Kill(pid, 0) != nil && tool == "forks" {
				t.Errorf("there is no grandchild: %v", err)
			}
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRestartsLeaveNothing starts a child again and again that neither listens to
// signals nor stays in its group if it can help it (field report 101): there is
// one at a time, and none in the end, not even a dead one.
func TestRestartsLeaveNothing(t *testing.T) {
	p, _ := program(t, "loner", func(s *stdio.Command) { s.StopGrace = 10 * time.Millisecond })
	for range 20 {
		conn, err := p.Dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := p.Running(); n != 1 {
			t.Errorf("%d children run", n)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCloseInAHurry ends a stubborn child when no time is left.
func TestCloseInAHurry(t *testing.T) {
	p, _ := program(t, "stubborn", nil) // it would be waited for 30 s, twice
	conn, err := p.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	began := time.Now()
	if err := p.Close(ctx); err != nil || time.Since(began) > patience/2 {
		t.Errorf("closed after %s: %v", time.Since(began), err)
	}
	if _, err := conn.Read(t.Context()); err == nil {
		t.Error("it still reads")
	}
}
