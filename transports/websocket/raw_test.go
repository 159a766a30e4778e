package websocket

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Opcodes (RFC 6455 section 5.2).
const (
	opMore   = 0x0
	opText   = 0x1
	opBinary = 0x2
	opClose  = 0x8
	opPing   = 0x9
	opPong   = 0xA
)

// frame is one frame as it is on the wire.
type frame struct {
	op       byte
	more     bool   // not the last fragment
	flags    byte   // RSV bits
	unmasked bool   // of a client; a server's never has a mask
	announce uint64 // a length without the payload
	payload  string
}

// raw is one end of a connection that a test has byte by byte.
type raw struct {
	t      testing.TB
	conn   net.Conn
	in     *bufio.Reader
	client bool
}

func text(payload string) frame { return frame{op: opText, payload: payload} }

func closing(code int) frame {
	return frame{op: opClose, payload: string(binary.BigEndian.AppendUint16(nil, uint16(code)))}
}

func (p *raw) encode(f frame) []byte {
	first := f.op | f.flags
	if !f.more {
		first |= 0x80
	}
	mask := byte(0)
	if p.client && !f.unmasked {
		mask = 0x80
	}
	b := []byte{first}
	switch n := len(f.payload); {
	case f.announce > 0:
		b = binary.BigEndian.AppendUint64(append(b, mask|127), f.announce)
	case n < 126:
		b = append(b, mask|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, mask|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, mask|127), uint64(n))
	}
	if mask == 0 {
		return append(b, f.payload...)
	}
	key := []byte{1, 2, 3, 4}
	b = append(b, key...)
	for i, c := range []byte(f.payload) {
		b = append(b, c^key[i%4])
	}
	return b
}

// send writes all frames in one step.
func (p *raw) send(frames ...frame) {
	p.t.Helper()
	var b []byte
	for _, f := range frames {
		b = append(b, p.encode(f)...)
	}
	if _, err := p.conn.Write(b); err != nil {
		p.t.Fatalf("writing: %v", err)
	}
}

// next reads one frame of the other end, which must come soon.
func (p *raw) next() (frame, error) {
	_ = p.conn.SetReadDeadline(time.Now().Add(patience))
	return p.read()
}

// read reads one frame, which must keep the rules for the other end's.
func (p *raw) read() (frame, error) {
	var head [2]byte
	if _, err := io.ReadFull(p.in, head[:]); err != nil {
		return frame{}, err
	}
	n := uint64(head[1] & 0x7F)
	long := map[uint64]int{126: 2, 127: 8}[n]
	var size, key [8]byte
	if _, err := io.ReadFull(p.in, size[8-long:]); err != nil {
		return frame{}, err
	}
	if long > 0 {
		n = binary.BigEndian.Uint64(size[:])
	}
	masked := head[1]&0x80 != 0
	if masked == p.client {
		p.t.Errorf("a frame is masked: %v", masked)
	}
	if masked {
		if _, err := io.ReadFull(p.in, key[:4]); err != nil {
			return frame{}, err
		}
	}
	payload := make([]byte, n)
	_, err := io.ReadFull(p.in, payload)
	for i := range payload {
		payload[i] ^= key[i%4]
	}
	return frame{op: head[0] & 0xF, more: head[0]&0x80 == 0, flags: head[0] & 0x70, payload: string(payload)}, err
}

// expect reads one whole frame and compares it.
func (p *raw) expect(op byte, payload string) {
	p.t.Helper()
	got, err := p.next()
	if err != nil || got.op != op || got.more || got.flags != 0 || got.payload != payload {
		p.t.Fatalf("received %x %.200q, %v; want %x %.200q", got.op, got.payload, err, op, payload)
	}
}

// expectClose reads a close frame with that code, 0 for none, and then the
// end of the connection, which is no reset.
func (p *raw) expectClose(code int) {
	p.t.Helper()
	got, err := p.next()
	if err != nil || got.op != opClose || closeCode(got) != code {
		p.t.Fatalf("received %x %q, %v; want a close with %d", got.op, got.payload, err, code)
	}
	p.expectEnd()
}

func closeCode(f frame) int {
	if len(f.payload) < 2 {
		return 0
	}
	return int(binary.BigEndian.Uint16([]byte(f.payload)))
}

func (p *raw) expectEnd() {
	p.t.Helper()
	if got, err := p.next(); !errors.Is(err, io.EOF) {
		p.t.Fatalf("received %x %.200q, %v; want the end", got.op, got.payload, err)
	}
}

// shrink lets the system hold little that is not read or not taken.
func (p *raw) shrink() {
	tcp, ok := p.conn.(*net.TCPConn)
	if !ok || tcp.SetReadBuffer(64<<10) != nil || tcp.SetWriteBuffer(64<<10) != nil {
		p.t.Fatal("the buffers of the socket stay as they are")
	}
}

// request writes an HTTP request and reads the head of the response.
func (p *raw) request(lines ...string) *http.Response {
	p.t.Helper()
	if _, err := io.WriteString(p.conn, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		p.t.Fatal(err)
	}
	resp, err := http.ReadResponse(p.in, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp
}

const sampleKey = "dGhlIHNhbXBsZSBub25jZQ=="

func acceptKey(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// connect opens a connection to a server without a handshake.
func connect(t testing.TB, s *site) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", s.web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &raw{t: t, conn: conn, in: bufio.NewReader(conn), client: true}
}

// handshake returns the lines of an opening handshake.
func (s *site) handshake(more ...string) []string {
	return append([]string{
		"GET /ws HTTP/1.1", "Host: " + s.web.Listener.Addr().String(), "Upgrade: websocket", "Connection: keep-alive, Upgrade",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + sampleKey,
	}, more...)
}

// socketTo returns a client whose opening handshake is over.
func socketTo(t testing.TB, s *site) *raw {
	t.Helper()
	p := connect(t, s)
	if resp := p.request(s.handshake()...); resp.StatusCode != http.StatusSwitchingProtocols ||
		resp.Header.Get("Sec-Websocket-Accept") != acceptKey(sampleKey) || resp.Header.Get("Sec-Websocket-Extensions") != "" {
		t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	return p
}

// upstream is a server that a test has byte by byte.
type upstream struct {
	net.Listener
	t testing.TB
}

func newUpstream(t testing.TB) *upstream {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &upstream{Listener: l, t: t}
}

func (u *upstream) url() string { return "ws://" + u.Addr().String() + "/ws?key=secret" }

// accept takes one connection and reads the head of its first request.
func (u *upstream) accept() (*raw, *http.Request) {
	u.t.Helper()
	conn, err := u.Accept()
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { _ = conn.Close() })
	p := &raw{t: u.t, conn: conn, in: bufio.NewReader(conn)}
	r, err := http.ReadRequest(p.in)
	if err != nil {
		u.t.Fatal(err)
	}
	return p, r
}

// answer writes a response; more are further header lines.
func (p *raw) answer(status string, body string, more ...string) {
	head := append([]string{"HTTP/1.1 " + status}, more...)
	if _, err := io.Copy(p.conn, bytes.NewBufferString(strings.Join(head, "\r\n")+"\r\n\r\n"+body)); err != nil {
		p.t.Error(err)
	}
}

// agree completes the opening handshake that r began.
func (p *raw) agree(r *http.Request, more ...string) {
	p.answer("101 Switching Protocols", "", append([]string{"Upgrade: websocket", "Connection: Upgrade",
		"Sec-WebSocket-Accept: " + acceptKey(r.Header.Get("Sec-Websocket-Key"))}, more...)...)
}
