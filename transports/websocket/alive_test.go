package websocket

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// inBubble runs a test with a raw client of an echoing server, in time of its
// own and with no buffer in between.
func inBubble(t *testing.T, test func(t *testing.T, p *raw)) {
	synctest.Test(t, func(t *testing.T) {
		guard, err := transports.NewGuard("127.0.0.1:80", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		host := transporttest.NewHost(1 << 20)
		host.Serve(echo)
		s := NewServer(host, guard, ServerConfig{})
		dial, stop := transporttest.Memory(s)
		conn, err := dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		p := &raw{t: t, conn: conn, in: bufio.NewReader(conn), client: true}
		resp := p.request("GET /ws HTTP/1.1", "Host: localhost", "Upgrade: websocket", "Connection: Upgrade",
			"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: "+sampleKey)
		if resp.StatusCode != http.StatusSwitchingProtocols {
			t.Fatalf("%d", resp.StatusCode)
		}
		test(t, p)
		s.Close()
		if err := s.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		_ = conn.Close()
		stop()
		host.Wait()
	})
}

func TestServerPings(t *testing.T) {
	inBubble(t, func(t *testing.T, p *raw) {
		began := time.Now()
		for i := range 6 {
			f, err := p.read()
			if after := time.Since(began); err != nil || f.op != opPing || after != time.Duration(i+1)*30*time.Second {
				t.Fatalf("%x after %v: %v", f.op, after, err)
			}
			if i < 5 {
				p.send(frame{op: opPong})
			}
		}
		// The last sign of life was the pong at 150 s.
		f, err := p.read()
		if after := time.Since(began); err != nil || f.op != opClose || closeCode(f) != 1011 || after != 200*time.Second {
			t.Errorf("%x %d after %v: %v", f.op, closeCode(f), after, err)
		}
	})
}

// Whatever a client sends is a sign of life, be it a part of a message that
// takes long.
func TestSlowSender(t *testing.T) {
	inBubble(t, func(t *testing.T, p *raw) {
		go func() {
			for _, c := range p.encode(text(ask(1, 0))) {
				time.Sleep(45 * time.Second)
				if _, err := p.conn.Write([]byte{c}); err != nil {
					t.Error(err)
				}
			}
		}()
		for {
			f, err := p.read()
			if err != nil {
				t.Fatal(err)
			}
			if f.op == opText {
				return
			}
		}
	})
}

// A client that takes a large message slowly lives, though nothing else fits
// in between. One that stops taking it does not.
func TestSlowTaker(t *testing.T) {
	for name, c := range map[string]struct {
		pause time.Duration
		lives bool
	}{"slow": {25 * time.Second, true}, "stuck": {35 * time.Second, false}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, p *raw) {
				want := told(1, 5*writeStep)
				p.send(text(ask(1, 5*writeStep)))
				size, began := 0, time.Now()
				for b := make([]byte, writeStep); size < len(want); {
					n, err := io.ReadFull(p.in, b[:min(len(b), len(want)-size)])
					if size += n; err != nil {
						break
					}
					time.Sleep(c.pause)
				}
				if (size == len(want)) != c.lives || c.lives && time.Since(began) < 2*time.Minute {
					t.Errorf("%d of %d bytes came within %v", size, len(want), time.Since(began))
				}
			})
		})
	}
}

// A ping that comes while a message is being written is answered after it,
// and the last of several counts.
func TestLatePong(t *testing.T) {
	inBubble(t, func(t *testing.T, p *raw) {
		p.send(text(ask(1, writeStep)))
		if _, err := p.in.Peek(1); err != nil { // the answer is on its way, and stuck
			t.Fatal(err)
		}
		p.send(frame{op: opPing, payload: "1"})
		p.send(frame{op: opPing, payload: "2"})
		synctest.Wait()
		time.Sleep(time.Second)
		p.expect(opText, told(1, writeStep))
		p.expect(opPong, "2")
	})
}

// upgrading hands every connection over to the test.
func upgrading(t *testing.T, to chan<- *raw) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		p := &raw{t: t, conn: conn, in: rw.Reader}
		p.agree(r)
		to <- p
	}
}

// A client keeps its connection alive and notices a server that is gone.
func TestClientPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := make(chan *raw, 1)
		dial, stop := transporttest.Memory(upgrading(t, servers))
		defer stop()
		c, err := NewClient("ws://localhost/ws", ClientConfig{})
		if err != nil {
			t.Fatal(err)
		}
		c.site.Transport.DialContext = dial
		u := c.Conversation()
		began := time.Now()
		s := send(t, u, message(t, opening))
		p := <-servers
		if f, err := p.read(); err != nil || f.op != opText {
			t.Fatalf("%x %v", f.op, err)
		}
		for range 2 {
			if f, err := p.read(); err != nil || f.op != opPing {
				t.Fatalf("%x %v", f.op, err)
			}
			p.send(frame{op: opPong})
		}
		_, _ = p.read() // a ping that is not answered
		f, err := p.read()
		if after := time.Since(began); err != nil || f.op != opClose || closeCode(f) != 1011 || after != 110*time.Second {
			t.Errorf("%x %d after %v: %v", f.op, closeCode(f), after, err)
		}
		if err := <-s.err; err == nil || !strings.Contains(err.Error(), "silent") {
			t.Errorf("%v", err)
		}
		_ = u.Close(t.Context())
		_ = p.conn.Close()
	})
}
