package peerkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	stepTimeout  = 5 * time.Second
	startTimeout = 30 * time.Second // to connect to what is started for the visit
	busyTimeout  = 15 * time.Second // of a step there
	concurrency  = 8
	startsAtOnce = 2 // visits with processes of their own
)

// Target is one server, direct or behind a bridge, that the client runs against: a
// URL, or a command that the client starts.
type Target struct {
	Label   string            `json:"label"`
	URL     string            `json:"url"`
	Command []string          `json:"command"`
	Env     map[string]string `json:"env"`
	Starts  bool              `json:"starts"` // each visit has processes of its own
	Caps    string            `json:"caps"`
	Steps   []string          `json:"steps"`
}

// Cmd returns the target's command, to be started; nil if it is a URL.
func (t Target) Cmd() *exec.Cmd {
	if len(t.Command) == 0 {
		return nil
	}
	cmd := exec.Command(t.Command[0], t.Command[1:]...)
	cmd.Env, cmd.Stderr = os.Environ(), os.Stderr
	for name, value := range t.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// SSEPath ends the URLs of HTTP+SSE servers, whereby clients know them.
const SSEPath = "/sse"

// SSE says whether the target is spoken to over HTTP+SSE.
func (t Target) SSE() bool { return strings.HasSuffix(t.URL, SSEPath) }

func (t Target) stepLimit() time.Duration {
	if t.Starts {
		return busyTimeout
	}
	return stepTimeout
}

// Full says whether the client declares every capability that its SDK has.
func (t Target) Full() bool { return t.Caps == "full" }

// report is the line printed for each step.
type report struct {
	Label string `json:"label"`
	Step  string `json:"step"`
	OK    bool   `json:"ok"`
	Value any    `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
}

func parseTargets(args []string) ([]Target, error) {
	if len(args) < 1 {
		return nil, errors.New("client needs a URL or --targets FILE")
	}
	if args[0] == "--targets" && len(args) > 1 {
		data, err := os.ReadFile(args[1])
		if err != nil {
			return nil, err
		}
		var targets []Target
		return targets, json.Unmarshal(data, &targets)
	}
	t := Target{Label: "peer", URL: args[0], Caps: "full", Steps: args[1:]}
	if len(t.Steps) > 1 && t.Steps[0] == "--caps" {
		t.Caps, t.Steps = t.Steps[1], t.Steps[2:]
	}
	return []Target{t}, nil
}

func runTargets(ctx context.Context, targets []Target, dial Dialer) {
	queue := make(chan Target)
	var printing sync.Mutex
	emit := func(r report) {
		printing.Lock()
		defer printing.Unlock()
		line, err := json.Marshal(r)
		if err != nil {
			line = fmt.Appendf(nil, `{"label":%q,"step":%q,"error":%q}`, r.Label, r.Step, err)
		}
		fmt.Println(string(line))
	}
	var workers sync.WaitGroup
	visitors := concurrency
	if slices.ContainsFunc(targets, func(t Target) bool { return t.Starts }) {
		visitors = startsAtOnce
	}
	for range visitors {
		workers.Go(func() {
			for t := range queue {
				runTarget(ctx, t, dial, emit)
			}
		})
	}
	for _, t := range targets {
		queue <- t
	}
	close(queue)
	workers.Wait()
}

func runTarget(ctx context.Context, t Target, dial Dialer, emit func(report)) {
	inbox := NewInbox()
	// The SDKs tie the session's life to the context it was opened with.
	session, stop := context.WithCancel(ctx)
	defer stop()
	client, declared, err := dialWithin(session, t, inbox, dial)
	if err != nil {
		emit(report{Label: t.Label, Step: "connect", Error: err.Error()})
		for _, step := range t.Steps {
			if step != "connect" {
				emit(report{Label: t.Label, Step: step, Error: "not connected"})
			}
		}
		return
	}
	defer closeWithin(client)
	emit(report{Label: t.Label, Step: "connect", OK: true, Value: map[string]string{"negotiated": client.Negotiated()}})
	s := &visit{client: client, declared: declared, inbox: inbox}
	for _, step := range t.Steps {
		if step != "connect" {
			emit(s.attempt(session, t, step))
		}
	}
}

func dialWithin(ctx context.Context, t Target, inbox *Inbox, dial Dialer) (Client, Declared, error) {
	type outcome struct {
		client   Client
		declared Declared
		err      error
	}
	limit := stepTimeout
	if t.Starts {
		limit = startTimeout
	}
	done := make(chan outcome, 1)
	go func() {
		client, declared, err := dial(ctx, t, inbox)
		done <- outcome{client, declared, err}
	}()
	select {
	case o := <-done:
		return o.client, o.declared, o.err
	case <-time.After(limit):
		return nil, Declared{}, errors.New("timed out while connecting")
	}
}

// closeWithin gives up on a Close that does not come back: the process must end.
func closeWithin(client Client) {
	done := make(chan struct{})
	go func() {
		client.Close()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(2 * time.Second):
	}
}
