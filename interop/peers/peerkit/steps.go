package peerkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrUnsupported is returned by a Client whose SDK has no way to do the thing.
var ErrUnsupported = errors.New("unsupported by client")

// Outcome is a tool's result as a user of the SDK sees it.
type Outcome struct {
	Text       string
	Structured any
	Blocks     []string
	IsError    bool
}

// Client is one connected session of the SDK under test.
type Client interface {
	Negotiated() string
	Ping(ctx context.Context) error
	Tools(ctx context.Context) ([]string, error)
	Call(ctx context.Context, name string, args map[string]any, progressToken string) (Outcome, error)
	SetLevel(ctx context.Context, level string) error
	Resources(ctx context.Context) ([]string, error)
	Templates(ctx context.Context) ([]string, error)
	Read(ctx context.Context, uri string) (string, error)
	Subscribe(ctx context.Context, uri string) error
	Unsubscribe(ctx context.Context, uri string) error
	Prompts(ctx context.Context) ([]string, error)
	Prompt(ctx context.Context, name string, args map[string]string) (string, error)
	Complete(ctx context.Context, prompt, argument, value string) ([]string, error)
	// Raw sends a request by its method name and returns the error code it got.
	Raw(ctx context.Context, method string) (int, error)
	Close()
}

// Declared says which capabilities the client has told the server about.
type Declared struct{ Elicitation, URL, Sampling, Roots bool }

// Dialer connects the SDK's client and puts its notifications into the inbox.
type Dialer func(ctx context.Context, t Target, inbox *Inbox) (Client, Declared, error)

// visit is one client's session with one target.
type visit struct {
	client   Client
	declared Declared
	inbox    *Inbox
	tools    []string
}

// verdict is what a step found: ok is the user's point of view, the value is for
// the reader of a failure.
type verdict struct {
	ok    bool
	value any
}

type step func(*visit, context.Context) (verdict, error)

func (v *visit) attempt(ctx context.Context, t Target, name string) report {
	r := report{Label: t.Label, Step: name}
	run, known := steps[name]
	if !known {
		r.Error = "unsupported by client"
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, t.stepLimit())
	defer cancel()
	type result struct {
		verdict
		err error
	}
	done := make(chan result, 1)
	go func() {
		found, err := run(v, ctx)
		done <- result{found, err}
	}()
	select {
	case got := <-done:
		r.OK, r.Value = got.ok && got.err == nil, got.value
		if got.err != nil {
			r.Error = got.err.Error()
		}
	// An SDK call that ignores its context must not hold up the other steps.
	case <-time.After(t.stepLimit() + time.Second):
		r.Error = "the SDK did not return when its context ended"
	}
	return r
}

func (v *visit) call(ctx context.Context, name string, args map[string]any, token string) (Outcome, error) {
	if v.tools == nil {
		names, err := v.client.Tools(ctx)
		if err != nil {
			return Outcome{}, err
		}
		v.tools = names
	}
	if !slices.Contains(v.tools, name) {
		return Outcome{}, errors.New("unsupported by server")
	}
	return v.client.Call(ctx, name, args, token)
}

// reverse runs a tool that asks the client back: with the capability the exact
// answer must come, without it the call must end with something to show.
func (v *visit) reverse(ctx context.Context, tool string, capable bool, want string) (verdict, error) {
	got, err := v.call(ctx, tool, nil, "")
	if err != nil {
		return verdict{}, err
	}
	if capable {
		return verdict{got.Text == want, got.Text}, nil
	}
	return verdict{got.Text != "", got.Text}, nil
}

func stepCancel(v *visit, ctx context.Context) (verdict, error) {
	slow, abort := context.WithCancel(ctx)
	defer abort()
	ended := make(chan error, 1)
	// Asking for the tools first keeps the two calls below from racing for it.
	if _, err := v.call(ctx, "echo", map[string]any{"value": "before"}, ""); err != nil {
		return verdict{}, err
	}
	go func() {
		_, err := v.call(slow, "slow", nil, "")
		ended <- err
	}()
	if _, err := v.call(ctx, "wait-slow", nil, ""); err != nil {
		return verdict{}, err
	}
	abort()
	select {
	case <-ended:
	case <-ctx.Done():
		return verdict{}, errors.New("the cancelled call did not return")
	}
	got, err := v.call(ctx, "cancelled-count", nil, "")
	return verdict{got.Text == "1", got.Text}, err
}

func stepParallel(v *visit, ctx context.Context) (verdict, error) {
	if _, err := v.call(ctx, "echo", map[string]any{"value": "first"}, ""); err != nil {
		return verdict{}, err
	}
	var mu sync.Mutex
	var wrong []string
	var calls sync.WaitGroup
	for i := range 20 {
		calls.Go(func() {
			want := fmt.Sprintf("v%d", i)
			got, err := v.call(ctx, "echo", map[string]any{"value": want}, "")
			if err != nil || got.Text != "echo "+want {
				mu.Lock()
				defer mu.Unlock()
				wrong = append(wrong, fmt.Sprintf("%s: %q %v", want, got.Text, err))
			}
		})
	}
	calls.Wait()
	return verdict{len(wrong) == 0, wrong}, nil
}

func stepBigint(v *visit, ctx context.Context) (verdict, error) {
	const digits = "9007199254740993"
	got, err := v.call(ctx, "bigint", map[string]any{"digits": digits, "n": json.Number(digits)}, "")
	return verdict{got.Text == "digits="+digits+" n="+digits, got.Text}, err
}

func stepUnknownTool(v *visit, ctx context.Context) (verdict, error) {
	got, err := v.client.Call(ctx, "no-such-tool", map[string]any{}, "")
	if err != nil {
		return verdict{strings.Contains(err.Error(), "no-such-tool"), err.Error()}, nil
	}
	return verdict{got.IsError, "isError"}, nil
}
