package transporttest

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// testSlowReader lets a server send far more than may be under way to a
// client that does not take it.
func testSlowReader(t *testing.T, p Pair) {
	const ballast = 128 << 10
	count := 3*p.InFlight/ballast + 1
	var out atomic.Int64
	moved := make(chan struct{}, 1)
	p.Serve(func(_ context.Context, m *mcp.Message, send func(*mcp.Message) error) {
		for i := range count {
			if send(note(i, ballast)) != nil {
				return
			}
			out.Add(1)
			select {
			case moved <- struct{}{}:
			default:
			}
		}
		_ = send(m.Answer(mcp.NewObject()))
	})
	got := 0
	o := transports.Outgoing{Receive: func(m *mcp.Message) {
		if got == 0 {
			standstill(t, moved)
			if under := int(out.Load()) * ballast; under > p.InFlight {
				t.Errorf("%d bytes are under way to a client that does not read", under)
			}
		}
		if m.Kind == mcp.Notification && number(m) != strconv.Itoa(got) {
			t.Errorf("message %d has number %s", got, number(m))
		}
		got++
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	if err := p.Client.Send(ctx, request(1, `{}`), o); err != nil || got != count+1 {
		t.Errorf("received %d of %d messages: %v", got, count+1, err)
	}
}

// standstill returns when nothing has moved for a while. Returning too early
// on a slow machine weakens the test but cannot fail it.
func standstill(t *testing.T, moved <-chan struct{}) {
	const quiet = 200 * time.Millisecond
	timer := time.NewTimer(quiet)
	for {
		select {
		case <-moved:
			timer.Reset(quiet)
		case <-timer.C:
			return
		case <-t.Context().Done():
			return
		}
	}
}

// pending starts a request that is never answered, and returns when it has
// arrived. Gone is closed when the server learned of the client's leaving.
func pending(t *testing.T, p Pair, ctx context.Context) (failed chan error, gone chan struct{}) {
	t.Helper()
	arrived, gone := make(chan struct{}), make(chan struct{})
	p.Serve(func(ctx context.Context, m *mcp.Message, send func(*mcp.Message) error) {
		if m.Kind != mcp.Request {
			return
		}
		close(arrived)
		<-ctx.Done()
		close(gone)
	})
	failed = make(chan error, 1)
	go func() {
		failed <- p.Client.Send(ctx, request(1, `{}`), transports.Outgoing{Receive: func(m *mcp.Message) { t.Errorf("received %v", m) }})
	}()
	within(t, "the request's arrival", arrived)
	return failed, gone
}

func ends(t *testing.T, failed <-chan error) error {
	t.Helper()
	select {
	case err := <-failed:
		if err == nil {
			t.Error("a request without an answer ended without an error")
		}
		return err
	case <-time.After(patience):
		t.Fatal("the request did not end")
		return nil
	}
}

func testLeave(t *testing.T, p Pair) {
	ctx, cancel := context.WithCancel(t.Context())
	failed, _ := pending(t, p, ctx)
	cancel()
	if err := ends(t, failed); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	p.Serve(echo) // others are not touched
	if got := ask(t, p, request(2, `{}`)); len(got) != 1 {
		t.Errorf("the next request received %d messages", len(got))
	}
}

func testCloseEndsRequests(t *testing.T, p Pair) {
	failed, gone := pending(t, p, t.Context())
	if err := p.Client.Close(t.Context()); err != nil {
		t.Errorf("closing: %v", err)
	}
	_ = ends(t, failed)
	within(t, "the server's noticing", gone)
	if err := p.Client.Send(t.Context(), request(2, `{}`), transports.Outgoing{}); err == nil {
		t.Error("a closed conversation still sends")
	}
	if err := p.Client.Close(t.Context()); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

func testServerCloses(t *testing.T, p Pair) {
	failed, _ := pending(t, p, t.Context())
	p.Close()
	_ = ends(t, failed)
}
