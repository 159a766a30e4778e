package websocket

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// echoing is a server that answers with the params, and tells of notes and of
// a client's leaving.
type echoing struct {
	*site
	notes chan string
	gone  chan struct{}
}

func newEchoing(t testing.TB, config ServerConfig) *echoing {
	t.Helper()
	host := transporttest.NewHost(1 << 20)
	e := &echoing{notes: make(chan string, 100), gone: make(chan struct{}, 100)}
	host.Serve(func(ctx context.Context, m *mcp.Message, send func(*mcp.Message) error) {
		switch {
		case m.Kind == mcp.Notification:
			e.notes <- m.Method
		case m.Method == "wait":
			e.notes <- m.Method
			<-ctx.Done()
			e.gone <- struct{}{}
		default:
			echo(ctx, m, send)
		}
	})
	e.site = listen(t, host, config, (*httptest.Server).Start)
	return e
}

// echo answers with the params it was sent.
func echo(_ context.Context, m *mcp.Message, send func(*mcp.Message) error) {
	if m.Kind == mcp.Request {
		_ = send(m.Answer(m.Params().Clone()))
	}
}

func ask(id int, pad int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x","params":{"n":%d,"pad":"%s"}}`, id, id, strings.Repeat("x", pad))
}

func told(id int, pad int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"n":%d,"pad":"%s"}}`, id, id, strings.Repeat("x", pad))
}

const waiting = `{"jsonrpc":"2.0","id":"w","method":"wait"}`

// Field report 184.
func TestFraming(t *testing.T) {
	transporttest.Goroutines(t)
	p := socketTo(t, newEchoing(t, ServerConfig{}).site)
	p.send(text(ask(1, 0)), text(ask(2, 0))) // in one segment
	p.expectBoth(told(1, 0), told(2, 0))
	p.send(text(ask(3, 70_000)))
	p.expect(opText, told(3, 70_000))

	whole := ask(4, 200)
	p.send(frame{op: opText, more: true, payload: whole[:7]}, frame{op: opMore, more: true, payload: whole[7:50]}, frame{op: opPing, payload: "are you\x00there"})
	p.expect(opPong, "are you\x00there") // before the message is complete
	p.send(frame{op: opMore, payload: whole[50:]})
	p.expect(opText, told(4, 200))

	p.send(frame{op: opMore | opText, more: true}, frame{op: opMore, more: true}, frame{op: opMore, payload: ask(5, 0)}) // empty fragments
	p.expect(opText, told(5, 0))
	p.send(frame{op: opPong, payload: "unasked"}, frame{op: opPing})
	p.expect(opPong, "")
	p.send(closing(1001))
	p.expectClose(1001)
}

// expectBoth reads two texts in whatever order: they answer two requests.
func (p *raw) expectBoth(a, b string) {
	p.t.Helper()
	first, err := p.next()
	if err != nil || first.op != opText || first.payload != a && first.payload != b {
		p.t.Fatalf("received %x %q, %v", first.op, first.payload, err)
	}
	if first.payload == a {
		a = b
	}
	p.expect(opText, a)
}

func TestClosing(t *testing.T) {
	const limit = 1000
	for name, c := range map[string]struct {
		frames []frame
		code   int
	}{
		"normal":              {[]frame{closing(1000)}, 1000},
		"going away":          {[]frame{closing(1001)}, 1001},
		"own code":            {[]frame{closing(4001)}, 4001},
		"no status":           {[]frame{{op: opClose}}, 0},
		"unmasked":            {[]frame{{op: opText, unmasked: true, payload: ask(1, 0)}}, 1002},
		"reserved bit":        {[]frame{{op: opText, flags: 0x40, payload: ask(1, 0)}}, 1002},
		"reserved opcode":     {[]frame{{op: 3}}, 1002},
		"long ping":           {[]frame{{op: opPing, payload: strings.Repeat("x", 126)}}, 1002},
		"fragmented ping":     {[]frame{{op: opPing, more: true}}, 1002},
		"nothing to continue": {[]frame{{op: opMore, payload: "{}"}}, 1002},
		"text within text":    {[]frame{{op: opText, more: true, payload: "{"}, text("{}")}, 1002},
		"bad close code":      {[]frame{closing(1005)}, 1002},
		"binary":              {[]frame{{op: opBinary, payload: ask(1, 0)}}, 1003},
		"no UTF-8":            {[]frame{text("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}")}, 1007},
		"cut in UTF-8":        {[]frame{text("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xe2\x82")}, 1007},
		"too large":           {[]frame{{op: opText, payload: ask(1, 3<<20)}}, 1009},
		"too large in parts":  {[]frame{{op: opText, more: true, payload: strings.Repeat(" ", limit)}, {op: opMore, more: true, payload: "x"}}, 1009},
		"announced too large": {[]frame{{op: opText, announce: 1 << 40}}, 1009},
		"impossible length":   {[]frame{{op: opText, announce: 1 << 63}}, 1009},
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.Goroutines(t)
			e := newEchoing(t, ServerConfig{MaxMessage: limit})
			p := socketTo(t, e.site)
			p.send(text(ask(0, limit-len(ask(0, 0))))) // all that is allowed
			p.expect(opText, told(0, limit-len(ask(0, 0))))
			p.send(text(waiting))
			<-e.notes
			p.send(c.frames...)
			p.expectClose(c.code)
			within(t, e.gone)
		})
	}
}

// Decision 7 of DESIGN.md: an error goes to whoever can be named.
func TestBadMessages(t *testing.T) {
	transporttest.Goroutines(t)
	e := newEchoing(t, ServerConfig{})
	p := socketTo(t, e.site)
	for sent, wanted := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":`:      `"id":7,"error":{"code":-32700,`,
		`{"jsonrpc":"2.0","id":"a","method":{}}`: `"id":"a","error":{"code":-32600,`,
		`{"jsonrpc":"1.0","id":9,"method":"x"}`:  `"id":9,"error":{"code":-32600,`,
		`{`:                                      "",
		``:                                       "",
		`hello`:                                  "",
		`{"jsonrpc":"2.0","id":1.5,"method":"x"}`:  "",
		`{"jsonrpc":"2.0","id":null,"method":"x"}`: "",
	} {
		p.send(text(sent))
		if wanted != "" {
			if got, err := p.next(); err != nil || got.op != opText || !strings.Contains(got.payload, wanted) {
				t.Errorf("%s: %s, %v", sent, got.payload, err)
			}
		}
		p.send(text(ask(1, 0))) // nothing else came, and the connection lives
		p.expect(opText, told(1, 0))
	}
	p.send(text("\ufeff [" + ask(1, 0) + `,{"jsonrpc":"2.0","method":"note"}]`))
	p.expect(opText, told(1, 0))
	if note := <-e.notes; note != "note" {
		t.Errorf("%s arrived", note)
	}
}
