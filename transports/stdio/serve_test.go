package stdio_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/stdio"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// patience bounds every wait of a test.
const patience = 30 * time.Second

// host is a transports.PipeHost for one client, whose frames it hands to take.
type host struct {
	mu     sync.Mutex
	pipe   *transports.Pipe
	take   func(ctx context.Context, p *transports.Pipe, f *mcp.Frame, fault *mcp.Fault) transports.Reply
	closed chan struct{}
}

func newHost(take func(context.Context, *transports.Pipe, *mcp.Frame, *mcp.Fault) transports.Reply) *host {
	return &host{take: take, closed: make(chan struct{})}
}

func (h *host) Attach(p *transports.Pipe) transports.PipeSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pipe = p
	return h
}

func (h *host) Take(ctx context.Context, f *mcp.Frame, fault *mcp.Fault) transports.Reply {
	return h.take(ctx, h.pipe, f, fault)
}

func (h *host) Close() { close(h.closed) }

var accepted = transports.Reply{Status: http.StatusAccepted}

// echoing answers each request with its params and refuses what is none.
func echoing(_ context.Context, p *transports.Pipe, f *mcp.Frame, fault *mcp.Fault) transports.Reply {
	if fault != nil {
		return transports.Reply{Status: http.StatusBadRequest, Message: fault.Failure(fault.ID)}
	}
	for _, item := range f.Items {
		switch m := item.Message; {
		case m == nil:
			return transports.Reply{Status: http.StatusBadRequest, Message: item.Fault.Failure(item.Fault.ID)}
		case m.Kind == mcp.Request:
			p.Stream.Push(m.Answer(m.Params().Clone()))
		}
	}
	return accepted
}

// TestServe writes a client's whole input and reads all that comes back.
func TestServe(t *testing.T) {
	ask := func(id, params string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"x","params":` + params + `}`
	}
	tell := func(id, result string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}` }
	fail := func(id string, code int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,`, id, code)
	}
	for name, c := range map[string]struct {
		in   []string
		want []string // how the lines begin
	}{
		"nothing":            {nil, nil},
		"order":              {[]string{ask("1", `{"a":1}`), ask(`"1"`, `{}`), ask("0", `{}`)}, []string{tell("1", `{"a":1}`), tell(`"1"`, `{}`), tell("0", `{}`)}},
		"CRLF and blank":     {[]string{"\r", ask("1", `{}`) + "\r", ""}, []string{tell("1", `{}`)}},
		"pretty-printed":     {[]string{ask("1", "{\r\"a\":\t1}")}, []string{tell("1", "{ \"a\":\t1}")}},
		"Unicode line ends":  {[]string{ask("1", "{\"a\":\"\u2028\u0085\"}")}, []string{tell("1", `{"a":"\u2028\u0085"}`)}},
		"notification":       {[]string{`{"jsonrpc":"2.0","method":"x"}`}, nil},
		"batch":              {[]string{"[" + ask("1", `{}`) + "," + ask("2", `{}`) + "]"}, []string{tell("1", `{}`), tell("2", `{}`)}},
		"no JSON, no id":     {[]string{"hello", `{"jsonrpc":"2.0",`, ask("1", `{}`)}, []string{tell("1", `{}`)}},
		"no JSON, with id":   {[]string{`{"jsonrpc":"2.0","id":7,"method":"x",}`}, []string{fail("7", mcp.CodeParse)}},
		"no message":         {[]string{`{"jsonrpc":"2.0","id":"a"}`, `{}`, `42`}, []string{fail(`"a"`, mcp.CodeInvalidRequest)}},
		"too long":           {[]string{ask("7", `{"a":"`+strings.Repeat("x", 2000)+`"}`), ask("8", `{}`)}, []string{fail("7", mcp.CodeInvalidRequest), tell("8", `{}`)}},
		"too long, id last":  {[]string{`{"method":"x","params":"` + strings.Repeat("x", 2000) + `","jsonrpc":"2.0","id":7}`}, []string{fail("7", mcp.CodeInvalidRequest)}},
		"an answer too long": {[]string{tell("7", `{"a":"`+strings.Repeat("x", 2000)+`"}`)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Goroutines(t)
			h := newHost(echoing)
			var out strings.Builder
			err := stdio.Serve(t.Context(), h, strings.NewReader(strings.Join(c.in, "\n")), &out, stdio.ServerConfig{MaxMessage: 1000})
			if err != nil {
				t.Error(err)
			}
			<-h.closed
			if h.pipe.Transport != stdio.Name {
				t.Errorf("the transport is called %q", h.pipe.Transport)
			}
			lines := strings.SplitAfter(out.String(), "\n")
			if len(lines) != len(c.want)+1 {
				t.Fatalf("%d lines:\n%s", len(lines)-1, out.String())
			}
			for i, want := range c.want {
				if !strings.HasPrefix(lines[i], want) || !strings.HasSuffix(lines[i], "}\n") {
					t.Errorf("line %d is %s, want %s", i, lines[i], want)
				}
			}
		})
	}
}

// TestAnswersAfterTheInputEnded closes the input after the last request, as a
// shell's pipe does.
func TestAnswersAfterTheInputEnded(t *testing.T) {
	transporttest.Goroutines(t)
	asked := make(chan *mcp.Message, 1)
	h := newHost(func(_ context.Context, _ *transports.Pipe, f *mcp.Frame, _ *mcp.Fault) transports.Reply {
		asked <- f.Items[0].Message
		return accepted
	})
	in, input := io.Pipe()
	go func() {
		io.WriteString(input, `{"jsonrpc":"2.0","id":1,"method":"x"}`)
		input.Close()
		m := <-asked
		h.pipe.Stream.Push(mcp.NewNotification(mcp.LogMessage, nil))
		h.pipe.Stream.Push(m.Answer(mcp.NewObject()))
	}()
	var out strings.Builder
	if err := stdio.Serve(t.Context(), h, in, &out, stdio.ServerConfig{Linger: patience}); err != nil {
		t.Error(err)
	}
	if strings.Count(out.String(), "\n") != 2 {
		t.Errorf("got %s", out.String())
	}
}

// TestPendingCallsEndWithTheInput does not wait for what is never answered.
func TestPendingCallsEndWithTheInput(t *testing.T) {
	transporttest.Goroutines(t)
	for name, take := range map[string]func(context.Context, *transports.Pipe, *mcp.Frame, *mcp.Fault) transports.Reply{
		"unanswered": func(context.Context, *transports.Pipe, *mcp.Frame, *mcp.Fault) transports.Reply { return accepted },
		"not even taken": func(ctx context.Context, _ *transports.Pipe, _ *mcp.Frame, _ *mcp.Fault) transports.Reply {
			<-ctx.Done()
			return accepted
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(take)
			in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize"}` + "\n" + `{"jsonrpc":"2.0","method":"x"}`)
			if err := stdio.Serve(t.Context(), h, in, io.Discard, stdio.ServerConfig{Linger: time.Millisecond}); err != nil {
				t.Error(err)
			}
			<-h.closed
		})
	}
}

// brokenPipe is an output whose reader left.
type brokenPipe struct{ err error }

func (b brokenPipe) Write([]byte) (int, error) { return 0, b.err }

func TestBrokenOutputIsAnEnd(t *testing.T) {
	for err, clean := range map[error]bool{syscall.EPIPE: true, io.ErrClosedPipe: true, syscall.EIO: false} {
		transporttest.Goroutines(t)
		h := newHost(echoing)
		in, input := io.Pipe()
		go io.WriteString(input, `{"jsonrpc":"2.0","id":1,"method":"x"}`+"\n")
		got := stdio.Serve(t.Context(), h, in, brokenPipe{fmt.Errorf("write: %w", err)}, stdio.ServerConfig{})
		if clean != (got == nil) || !clean && !errors.Is(got, err) {
			t.Errorf("after %v: %v", err, got)
		}
		<-h.closed
		in.Close()
	}
}

func TestServeEnds(t *testing.T) {
	for name, end := range map[string]func(h *host, cancel func()){
		"when it is told":     func(_ *host, cancel func()) { cancel() },
		"when the host ended": func(h *host, _ func()) { h.pipe.Stream.End() },
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Goroutines(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			taken := make(chan struct{})
			h := newHost(func(context.Context, *transports.Pipe, *mcp.Frame, *mcp.Fault) transports.Reply {
				close(taken)
				return accepted
			})
			in, input := io.Pipe()
			defer in.Close()
			ended := make(chan error, 1)
			go func() { ended <- stdio.Serve(ctx, h, in, io.Discard, stdio.ServerConfig{}) }()
			io.WriteString(input, `{"jsonrpc":"2.0","id":1,"method":"x"}`+"\n")
			<-taken
			end(h, cancel)
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			<-h.closed
		})
	}
}

// TestClientThatDoesNotRead is not read from either, so that what it asks for
// does not pile up; and it can still be left.
func TestClientThatDoesNotRead(t *testing.T) {
	transporttest.Goroutines(t)
	ctx, cancel := context.WithCancel(t.Context())
	h := newHost(echoing)
	in, input := io.Pipe()
	output, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- stdio.Serve(ctx, h, in, out, stdio.ServerConfig{StreamBytes: 10_000, Linger: time.Millisecond})
	}()
	const size = 1000
	ask := `{"jsonrpc":"2.0","id":%d,"method":"x","params":{"x":"` + strings.Repeat("x", size) + `"}}` + "\n"
	wrote := make(chan int, 1000)
	go func() {
		defer close(wrote)
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(input, ask, i); err != nil {
				return
			}
			wrote <- i
		}
	}()
	count := 0
	for quiet := time.NewTimer(patience); ; count++ {
		select {
		case <-wrote:
			quiet.Reset(200 * time.Millisecond)
			continue
		case <-quiet.C:
		}
		break
	}
	if count > 100 { // ten in the stream, 32 KiB in the reader, a few on their way
		t.Errorf("%d messages were taken of a client that does not read", count)
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil || !strings.Contains(line, `"id":0`) {
		t.Errorf("then it read %.100q %v", line, err)
	}
	cancel()
	<-ended
	<-h.closed
	in.Close()
	output.Close()
}
