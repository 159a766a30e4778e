package sse

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// TestPostIsLeft has a client that gives its POST up: the session goes on.
func TestPostIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newScripted()
		r := newRig(t, host, ServerConfig{})
		defer r.stop()
		s := r.open()
		taken := make(chan error, 1)
		host.take = func(ctx context.Context, f *mcp.Frame, _ *mcp.Fault) transports.Reply {
			select {
			case <-time.After(10 * time.Second):
			case <-ctx.Done():
			}
			taken <- ctx.Err()
			host.pipe.Stream.Push(f.Items[0].Message.Answer(mcp.NewObject()))
			return transports.Reply{Status: http.StatusAccepted}
		}
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		req, err := http.NewRequestWithContext(ctx, "POST", "http://localhost"+s.endpoint, strings.NewReader(initialize))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if _, err := r.web.RoundTrip(req); err == nil {
			t.Error("the POST did not wait")
		}
		if got := s.next(); got != event(pong) || <-taken != nil {
			t.Errorf("%q", got)
		}
		s.leave()
	})
}

// TestStreamIsLeft has a client that leaves while its message is taken.
func TestStreamIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newScripted()
		r := newRig(t, host, ServerConfig{})
		defer r.stop()
		s := r.open()
		host.take = func(ctx context.Context, _ *mcp.Frame, _ *mcp.Fault) transports.Reply {
			s.leave()
			<-ctx.Done()
			return transports.Reply{Status: http.StatusAccepted}
		}
		if status, _ := r.post(s.endpoint, ping); status != http.StatusAccepted {
			t.Errorf("status %d", status)
		}
		<-host.gone
		if host.pipe.Stream.Push(message(t, pong)) {
			t.Error("the stream still takes messages")
		}
		if status, _ := r.post(s.endpoint, ping); status != http.StatusNotFound {
			t.Errorf("a session that is over answers %d", status)
		}
	})
}

// TestLeave stops a server while a request waits on one of two streams.
func TestLeave(t *testing.T) {
	transporttest.Goroutines(t)
	idle, busy := newScripted(), newScripted()
	hosts := []*scripted{idle, busy}
	r := newRig(t, attacher(func(p *transports.Pipe) transports.PipeSession {
		h := hosts[0]
		hosts = hosts[1:]
		return h.Attach(p)
	}), ServerConfig{})
	defer r.stop()
	first, second := r.open(), r.open()
	defer first.leave()
	defer second.leave()
	busy.take = func(_ context.Context, f *mcp.Frame, _ *mcp.Fault) transports.Reply {
		if m := f.Items[0].Message; m.Kind == mcp.Request && m.ID.String() == "2" {
			return transports.Reply{Status: http.StatusBadRequest}
		}
		return transports.Reply{Status: http.StatusAccepted}
	}
	for _, c := range []struct {
		text string
		want int
	}{{ping, 202}, {strings.Replace(ping, `"id":1`, `"id":2`, 1), 400}, {initNote, 202}} {
		if status, _ := r.post(second.endpoint, c.text); status != c.want {
			t.Errorf("%s: status %d", c.text, status)
		}
	}
	r.server.Leave()
	if got := first.next(); got != "" {
		t.Errorf("the idle stream has %q", got)
	}
	if full := r.do(t.Context(), "GET", StreamPath, ""); full.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a new stream is answered %d", full.StatusCode)
	}
	busy.pipe.Stream.Push(message(t, update))
	busy.pipe.Stream.Push(message(t, pong))
	for _, want := range []string{event(update), event(pong), ""} {
		if got := second.next(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
