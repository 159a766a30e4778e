package main

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// besieged is a bridge whose clients have little time.
type besieged struct {
	*service
	*surroundings
	t      *testing.T
	site   string // host:port
	result chan error
}

func besiege(t *testing.T, set func(*single, *service)) *besieged {
	t.Helper()
	b := &besieged{surroundings: newSurroundings(nil), t: t, result: make(chan error, 1)}
	cfg := defaults()
	cfg.Upstream, cfg.Listen, cfg.Admin = upstream(t).URL+"/mcp", "127.0.0.1:0", "127.0.0.1:0"
	if set != nil {
		set(&cfg, nil)
	}
	log, level := newLog(cfg.Server, b.process())
	s, err := open(cfg.config(), log, newEngine)
	if err != nil {
		t.Fatal(err)
	}
	s.level = level
	if set != nil {
		set(&cfg, s)
	}
	b.service = s
	go func() { b.result <- s.run(b.surroundings.stop) }()
	var line struct{ Endpoint string }
	if err := json.Unmarshal([]byte(b.err.await(t, `"serving"`)), &line); err != nil {
		t.Fatal(err)
	}
	b.site = s.endpoint.listener.Addr().String()
	return b
}

func (b *besieged) end() {
	b.t.Helper()
	b.surroundings.stop <- syscall.SIGTERM
	if err := <-b.result; err != nil {
		b.t.Error(err)
	}
}

// serves fails the test unless a client with a session is served in time.
func (b *besieged) serves() {
	b.t.Helper()
	begun := time.Now()
	one := &client{t: b.t, endpoint: "http://" + b.site + "/mcp"}
	if status, text := one.initialize("2025-11-25"); status != http.StatusOK {
		b.t.Errorf("initialize: %d %s", status, text)
	}
	if _, text := one.post(callTool); !strings.Contains(text, `"result"`) {
		b.t.Errorf("a call: %s", text)
	}
	if took := time.Since(begun); took > 5*time.Second {
		b.t.Errorf("a client waited %s", took)
	}
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// A thousand clients that never finish their headers, and some that send
// bodies drop by drop, take little memory, keep nobody from being served, and
// are cut off.
func TestHalfOpenRequests(t *testing.T) {
	const half, dripping = 1000, 200
	b := besiege(t, func(_ *single, s *service) {
		if s != nil {
			s.endpoint.server.ReadHeaderTimeout = 3 * time.Second
		}
	})
	b.serves()
	before, goroutines := inUse(), runtime.NumGoroutine()
	var conns []net.Conn
	for i := range half + dripping {
		conn, err := net.Dial("tcp", b.site)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
		text := "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
		if i >= half {
			text += "1\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: 60000000\r\n\r\n{\"jsonrpc\""
		}
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
	}
	b.serves()
	if more := runtime.NumGoroutine() - goroutines; more > 3*(half+dripping) {
		t.Errorf("%d goroutines more", more)
	}
	if now := inUse(); now > before+100<<20 {
		t.Errorf("%d KiB a connection", (now-before)>>10/(half+dripping))
	}
	for i, conn := range conns[:half] {
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d is still open", i)
		}
	}
	b.serves()
	for _, conn := range conns[half:] {
		conn.Close()
	}
	b.end()
}

// h2 is a client of HTTP/2 (RFC 9113) that keeps no rule.
type h2 struct{ net.Conn }

// The types and flags of frames.
const (
	frameHeaders, frameReset, frameSettings, frameContinuation = 1, 3, 4, 9
	flagAck, flagEndHeaders                                    = 1, 4
)

const maxStreamsSetting = 3

func newH2(t *testing.T, conn net.Conn) h2 {
	t.Helper()
	c := h2{conn}
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := c.frame(frameSettings, 0, 0, nil); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c h2) frame(kind, flags byte, stream uint32, payload []byte) error {
	n := len(payload)
	head := []byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags}
	_, err := c.Write(append(binary.BigEndian.AppendUint32(head, stream), payload...))
	return err
}

// request is the header of a POST, in HPACK without a table (RFC 7541 section 6.2.2).
func request() (block []byte) {
	for _, f := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":authority", "localhost"}, {":path", "/mcp"},
		{"content-type", "application/json"}, {"accept", "application/json"},
	} {
		block = field(block, f[0], f[1])
	}
	return block
}

func field(block []byte, name, value string) []byte {
	return append(length(append(length(append(block, 0), len(name)), name...), len(value)), value...)
}

func length(b []byte, n int) []byte {
	if n < 127 {
		return append(b, byte(n))
	}
	return binary.AppendUvarint(append(b, 127), uint64(n-127))
}

// mostStreams returns how many streams the server allows at once.
func (c h2) mostStreams(t *testing.T) uint32 {
	t.Helper()
	for {
		head := make([]byte, 9)
		if _, err := io.ReadFull(c, head); err != nil {
			t.Fatal(err)
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(c, payload); err != nil {
			t.Fatal(err)
		}
		if head[3] != frameSettings || head[4] == flagAck {
			continue
		}
		for ; len(payload) >= 6; payload = payload[6:] {
			if binary.BigEndian.Uint16(payload) == maxStreamsSetting {
				return binary.BigEndian.Uint32(payload[2:])
			}
		}
		return 0
	}
}

// Streams of HTTP/2 that are opened, or opened and reset, without end occupy no
// more than a few; a header that never ends ends the connection. Others are
// served.
func TestStreamFloods(t *testing.T) {
	const flood = 20_000
	b := besiege(t, nil)
	block := request()
	for name, attack := range map[string]func(c h2, i uint32) error{
		"resets": func(c h2, i uint32) error { // CVE-2023-44487
			return errors.Join(c.frame(frameHeaders, flagEndHeaders, 2*i+1, block), c.frame(frameReset, 0, 2*i+1, []byte{0, 0, 0, 8}))
		},
		"streams": func(c h2, i uint32) error { return c.frame(frameHeaders, flagEndHeaders, 2*i+1, block) },
		"headers without end": func(c h2, i uint32) error { // CVE-2023-45288
			if i == 0 {
				return c.frame(frameHeaders, 0, 1, block)
			}
			return c.frame(frameContinuation, 0, 1, field(nil, "x-long", strings.Repeat("x", 8000)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", b.site)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			c := newH2(t, conn)
			if most := c.mostStreams(t); most == 0 || most > 250 {
				t.Errorf("%d streams are allowed at once", most)
			}
			over := make(chan struct{})
			go func() { // reads what comes, or the server is held up by its own frames
				defer close(over)
				_, _ = io.Copy(io.Discard, conn)
			}()
			_ = conn.SetWriteDeadline(time.Now().Add(20 * time.Second))
			goroutines := runtime.NumGoroutine()
			for i := uint32(0); i < flood && attack(c, i) == nil; i++ {
				if more := runtime.NumGoroutine() - goroutines; more > flood/6 {
					t.Fatalf("%d goroutines more after %d streams", more, i)
				}
			}
			b.serves() // while the flood is at work
			if name == "headers without end" {
				select {
				case <-over:
				case <-time.After(20 * time.Second):
					t.Error("the connection is still open")
				}
			}
			conn.Close()
			<-over
			b.serves()
		})
	}
	b.end()
}

// What the clear-text listener bounds, that over TLS bounds too.
func TestStreamsOverTLS(t *testing.T) {
	own := newAuthority(t, "own")
	dir := t.TempDir()
	own.issue(dir+"/cert", dir+"/key", 2)
	c := serveFileOf(t, "tls: {cert_file: "+dir+"/cert, key_file: "+dir+"/key}\n"+routeTo(upstream(t).URL, ""))
	d := tls.Dialer{Config: &tls.Config{RootCAs: own.pool(), NextProtos: []string{"h2"}}}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	conn, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(c.site, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := newH2(t, conn).mostStreams(t); got != 250 {
		t.Errorf("%d streams are allowed at once", got)
	}
	c.end()
}
