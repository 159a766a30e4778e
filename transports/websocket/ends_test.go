package websocket

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

func TestHostEnds(t *testing.T) {
	for name, c := range map[string]struct {
		owes bool
		code int
	}{"idle": {false, 1000}, "owing": {true, 1011}} {
		t.Run(name, func(t *testing.T) {
			transporttest.Goroutines(t)
			host := &keeping{Host: transporttest.NewHost(1 << 20), pipes: make(chan *transports.Pipe, 1)}
			arrived := make(chan struct{})
			host.Serve(func(ctx context.Context, _ *mcp.Message, _ func(*mcp.Message) error) {
				close(arrived)
				<-ctx.Done()
			})
			p := socketTo(t, listen(t, host, ServerConfig{}, (*httptest.Server).Start))
			stream := (<-host.pipes).Stream
			if c.owes {
				p.send(text(waiting))
				within(t, arrived)
			}
			if stream.Refuse(transports.Reply{Status: http.StatusNotFound}) {
				t.Error("a stream without a status was refused by one")
			}
			stream.Push(mcp.NewNotification("last", nil))
			stream.End()
			p.expect(opText, `{"jsonrpc":"2.0","method":"last"}`)
			got, err := p.next()
			if err != nil || got.op != opClose || closeCode(got) != c.code {
				t.Fatalf("%x %q, %v", got.op, got.payload, err)
			}
			p.send(closing(c.code))
			p.expectEnd()
		})
	}
}

// A client that does not answer the server's good-bye is not waited for.
func TestNoAnswerToClose(t *testing.T) {
	transporttest.Goroutines(t)
	host := &keeping{Host: transporttest.NewHost(1 << 20), pipes: make(chan *transports.Pipe, 1)}
	p := socketTo(t, listen(t, host, ServerConfig{Timing: Timing{Close: 50 * time.Millisecond}}, (*httptest.Server).Start))
	(<-host.pipes).Stream.End()
	p.expectClose(1000)
}

func TestLeave(t *testing.T) {
	transporttest.Goroutines(t)
	e := &echoing{notes: make(chan string, 9)}
	answer := make(chan struct{})
	host := transporttest.NewHost(1 << 20)
	host.Serve(func(_ context.Context, m *mcp.Message, send func(*mcp.Message) error) {
		e.notes <- m.Method
		<-answer
		_ = send(m.Answer(mcp.NewObject()))
	})
	e.site = listen(t, host, ServerConfig{}, (*httptest.Server).Start)
	idle, busy := socketTo(t, e.site), socketTo(t, e.site)
	busy.send(text(waiting))
	<-e.notes
	e.Leave()
	idle.expectGoodbye()
	if resp := connect(t, e.site).request(e.handshake()...); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a new connection was answered with %d", resp.StatusCode)
	}
	over, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	cancel(why)
	if err := e.Wait(over); !errors.Is(err, why) {
		t.Errorf("waiting for a busy client: %v", err)
	}
	close(answer)
	busy.expect(opText, `{"jsonrpc":"2.0","id":"w","result":{}}`)
	busy.expectGoodbye()
	if err := e.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

func (p *raw) expectGoodbye() {
	p.t.Helper()
	got, err := p.next()
	if err != nil || got.op != opClose || closeCode(got) != 1001 {
		p.t.Fatalf("%x %q, %v", got.op, got.payload, err)
	}
	p.send(closing(1001))
	p.expectEnd()
}

// A call that the client cancelled gets no answer, so nobody waits for it.
func TestLeaveAfterCancel(t *testing.T) {
	transporttest.Goroutines(t)
	e := newEchoing(t, ServerConfig{})
	p := socketTo(t, e.site)
	p.send(text(waiting), text(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}`))
	for range 2 { // in whatever order
		<-e.notes
	}
	e.Leave()
	p.expectGoodbye()
}

// A client that floods and never reads is not listened to for ever, and in
// the end dropped; what is kept of it stays bounded.
func TestFlood(t *testing.T) {
	const most = 64 << 20 // the server's own socket buffer grows to about half of that
	for name, f := range map[string]frame{
		"requests": text(ask(1, 64<<10)),
		"garbage":  text(`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 900) + `","method":` + strings.Repeat(" ", 1<<10)),
		"pings":    {op: opPing, payload: strings.Repeat("x", 125)},
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Goroutines(t)
			host := &watching{Host: transporttest.NewHost(1 << 20), closed: make(chan struct{})}
			host.Serve(echo)
			p := socketTo(t, listen(t, host, ServerConfig{Timing: Timing{Write: 200 * time.Millisecond, Ping: 300 * time.Millisecond, Pong: 300 * time.Millisecond}}, (*httptest.Server).Start))
			p.shrink()
			sent := make(chan int)
			go func() {
				total := 0
				for b := p.encode(f); ; {
					n, err := p.conn.Write(b)
					if total += n; err != nil {
						sent <- total
						return
					}
				}
			}()
			within(t, host.closed)
			_ = p.conn.Close()
			if n := <-sent; n > most {
				t.Errorf("%d bytes were taken", n)
			}
			host.Wait()
		})
	}
}

// watching is a host that tells when a client has left.
type watching struct {
	*transporttest.Host
	closed chan struct{}
}

type watched struct {
	transports.PipeSession
	closed chan struct{}
}

func (w *watching) Attach(p *transports.Pipe) transports.PipeSession {
	return watched{w.Host.Attach(p), w.closed}
}

func (w watched) Close() {
	w.PipeSession.Close()
	close(w.closed)
}

// A client that vanishes is noticed while the host is still at work.
func TestVanish(t *testing.T) {
	transporttest.Goroutines(t)
	e := newEchoing(t, ServerConfig{})
	p := socketTo(t, e.site)
	p.send(text(waiting))
	<-e.notes
	_ = p.conn.Close()
	within(t, e.gone)
}
