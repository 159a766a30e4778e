package websocket

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

const (
	asked  = `{"jsonrpc":"2.0","id":2,"method":"tools/call"}`
	answer = `{"jsonrpc":"2.0","id":2,"result":{}}`
)

// What a server does wrong ends the connection, is told to it, and fails what
// waits there with the reason.
func TestClientConnEnds(t *testing.T) {
	const limit = 1000
	for name, c := range map[string]struct {
		frame frame
		code  int
		text  string
	}{
		"normal":     {closing(1000), 1000, "the peer closed the connection with 1000, normal closure"},
		"going away": {closing(1001), 1001, "the peer closed the connection with 1001, going away"},
		"why":        {frame{op: opClose, payload: "\x03\xf3disk \"full\""}, 1011, `the peer closed the connection with 1011, internal error: "disk \"full\""`},
		"own code":   {closing(4001), 4001, "the peer closed the connection with 4001"},
		"no status":  {frame{op: opClose}, 0, "the peer closed the connection with 1005, no status"},
		"binary":     {frame{op: opBinary, payload: answer}, 1003, "binary message"},
		"no UTF-8":   {text("{\"\xff\":1}"), 1007, "not UTF-8"},
		"too large":  {frame{op: opText, announce: limit + 1}, 1009, "larger than the 1000 bytes allowed"},
		"reserved":   {frame{op: opText, flags: 0x40, payload: answer}, 1002, "RSV1"},
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Goroutines(t)
			config := ClientConfig{}
			config.MaxMessage = limit
			u, p, _ := begin(t, config)
			s := send(t, u, message(t, asked))
			p.expect(opText, asked)
			p.send(c.frame)
			got, err := p.next()
			if err != nil || got.op != opClose || closeCode(got) != c.code {
				t.Errorf("received %x %q, %v", got.op, got.payload, err)
			}
			_ = p.conn.Close()
			if _, err := s.wait(t); !errors.Is(err, transports.ErrBroken) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v", err)
			}
			if err := u.Send(t.Context(), message(t, asked), transports.Outgoing{}); !errors.Is(err, transports.ErrSessionGone) {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func TestClientMasked(t *testing.T) {
	transporttest.Goroutines(t)
	u, p, _ := begin(t, ClientConfig{})
	s := send(t, u, message(t, asked))
	p.expect(opText, asked)
	if _, err := p.conn.Write([]byte{0x81, 0x82, 1, 2, 3, 4, '{' ^ 1, '}' ^ 2}); err != nil {
		t.Fatal(err)
	}
	if got, err := p.next(); err != nil || got.op != opClose || closeCode(got) != 1002 {
		t.Errorf("received %x %q, %v", got.op, got.payload, err)
	}
	_ = p.conn.Close()
	if _, err := s.wait(t); !errors.Is(err, transports.ErrBroken) {
		t.Errorf("%v", err)
	}
}

func TestClientBrokenOff(t *testing.T) {
	transporttest.Goroutines(t)
	u, p, _ := begin(t, ClientConfig{})
	s := send(t, u, message(t, asked))
	p.expect(opText, asked)
	_ = p.conn.Close()
	if _, err := s.wait(t); !errors.Is(err, transports.ErrBroken) || !errors.Is(err, errBroke) {
		t.Errorf("%v", err)
	}
}

// What is no message is counted and skipped; fragments are joined, and pings
// between them answered.
func TestClientReads(t *testing.T) {
	transporttest.Goroutines(t)
	garbage := map[string]int{}
	config := ClientConfig{}
	config.Garbage = func(reason string) { garbage[reason]++ }
	u, p, _ := begin(t, config)
	s := send(t, u, message(t, asked))
	p.expect(opText, asked)
	p.send(text("hello"), text(""), text(`{"jsonrpc":"2.0"}`), text(`[1,{"jsonrpc":"2.0","method":"note"}]`))
	p.send(frame{op: opText, more: true, payload: answer[:9]}, frame{op: opPing, payload: "\x00"})
	p.expect(opPong, "\x00")
	p.send(frame{op: opMore, payload: answer[9:]})
	if got, err := s.wait(t); err != nil || len(got) != 1 || got[0] != answer {
		t.Errorf("%v %v", got, err)
	}
	if garbage[transports.NotJSON] != 2 || garbage[transports.NotJSONRPC] != 2 {
		t.Errorf("%v", garbage)
	}
}

// What fits goes out as one frame, and more than that in fragments.
func TestClientWrites(t *testing.T) {
	transporttest.Goroutines(t)
	u, p, _ := begin(t, ClientConfig{})
	m := message(t, ask(2, 60_000))
	s := send(t, u, m)
	p.expect(opText, string(m.Bytes()))
	p.send(text(answer))
	if _, err := s.wait(t); err != nil {
		t.Error(err)
	}
	m = message(t, ask(2, 1<<20))
	s = send(t, u, m)
	whole, parts := "", 0
	for more := true; more; parts++ {
		got, err := p.next()
		if err != nil || got.op != opText && parts == 0 || got.op != opMore && parts > 0 {
			t.Fatalf("%x %v", got.op, err)
		}
		whole, more = whole+got.payload, got.more
	}
	if whole != string(m.Bytes()) {
		t.Errorf("%d bytes in %d fragments", len(whole), parts)
	}
	p.send(text(answer))
	if _, err := s.wait(t); err != nil {
		t.Error(err)
	}
}

// A server that takes nothing any more is left; what was not written whole
// was not executed.
func TestClientStuckServer(t *testing.T) {
	transporttest.Goroutines(t)
	u, p, _ := begin(t, ClientConfig{Timing: Timing{Write: 100 * time.Millisecond, Close: 50 * time.Millisecond}})
	p.shrink()
	waiting := send(t, u, message(t, asked))
	if _, err := send(t, u, message(t, ask(3, 16<<20))).wait(t); !errors.Is(err, transports.ErrSessionGone) {
		t.Errorf("%v", err)
	}
	if _, err := waiting.wait(t); !errors.Is(err, transports.ErrBroken) {
		t.Errorf("%v", err)
	}
}

// A server that closes while a message is being written to it is named as the
// cause to all.
func TestClientClosedWhileWriting(t *testing.T) {
	transporttest.Goroutines(t)
	u, p, _ := begin(t, ClientConfig{})
	p.shrink()
	waiting := send(t, u, message(t, asked))
	p.expect(opText, asked)
	large := send(t, u, message(t, ask(3, 16<<20)))
	p.send(closing(1009))
	for f, err := p.next(); f.op != opClose; f, err = p.next() {
		if err != nil {
			t.Fatal(err)
		}
	}
	_ = p.conn.Close()
	if _, err := large.wait(t); !errors.Is(err, transports.ErrSessionGone) {
		t.Errorf("%v", err)
	}
	if _, err := waiting.wait(t); !errors.Is(err, transports.ErrBroken) || !strings.Contains(err.Error(), "1009, message too big") {
		t.Errorf("%v", err)
	}
}

// A caller may leave while a message is being written; the message is not cut.
func TestClientLeavesWhileWriting(t *testing.T) {
	transporttest.Goroutines(t)
	u, p, _ := begin(t, ClientConfig{})
	p.shrink()
	m := message(t, ask(3, 16<<20))
	ctx, leave := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { failed <- u.Send(ctx, m, transports.Outgoing{}) }()
	first, err := p.next()
	if err != nil || first.op != opText || !first.more {
		t.Fatalf("%x %v", first.op, err)
	}
	leave()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	size := len(first.payload)
	for more := true; more; {
		next, err := p.next()
		if err != nil {
			t.Fatal(err)
		}
		size, more = size+len(next.payload), next.more
	}
	if size != len(m.Bytes()) {
		t.Errorf("%d bytes arrived", size)
	}
	s := send(t, u, message(t, asked))
	p.expect(opText, asked)
	p.send(text(answer))
	if _, err := s.wait(t); err != nil {
		t.Error(err)
	}
}

// A server sees credentials only when a connection opens, so one connection
// speaks for those alone; a new conversation may have others.
func TestClientCredentials(t *testing.T) {
	transporttest.Goroutines(t)
	up := newUpstream(t)
	u := dial(t, up.url(), ClientConfig{})
	with := func(text, token string) *mcp.Message {
		m := message(t, text)
		m.Header = http.Header{"Authorization": {token}, "Traceparent": {text}}
		return m
	}
	for _, token := range []string{"Bearer a", "Bearer b"} {
		s := send(t, u, with(opening, token))
		p, r := up.accept()
		p.agree(r)
		p.expect(opText, opening)
		p.send(text(opened))
		if _, err := s.wait(t); err != nil || r.Header.Get("Authorization") != token {
			t.Fatalf("%v %v", err, r.Header)
		}
		_, err := send(t, u, with(asked, "Bearer c")).wait(t)
		if r, ok := errors.AsType[*mcp.Refusal](err); !ok || r.Status != http.StatusUnauthorized {
			t.Errorf("other credentials: %v", err)
		}
		for _, m := range []*mcp.Message{with(asked, token), message(t, asked)} {
			s = send(t, u, m)
			p.expect(opText, asked)
			p.send(text(answer))
			if _, err := s.wait(t); err != nil {
				t.Errorf("the same credentials: %v", err)
			}
		}
		u.Reset()
		if got, err := p.next(); err != nil || got.op != opClose || closeCode(got) != 1000 {
			t.Errorf("received %x %q, %v", got.op, got.payload, err)
		}
		p.send(closing(1000))
		p.expectEnd()
	}
}

// A server that does not answer the client's good-bye is not waited for.
func TestClientClose(t *testing.T) {
	transporttest.Goroutines(t)
	u, p, _ := begin(t, ClientConfig{Timing: Timing{Close: 50 * time.Millisecond}})
	if err := u.Close(t.Context()); err != nil {
		t.Error(err)
	}
	p.expectClose(1000)
}
