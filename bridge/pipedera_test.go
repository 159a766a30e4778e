package bridge_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// program is a server that is a process: each run of it answers as the test
// says, and what a run was sent is noted.
type program struct {
	answer func(m *mcp.Message) (text string, exits bool)
	hear   func(r *programRun, m *mcp.Message) (done bool) // before answer; may be nil

	mu   sync.Mutex
	runs []*programRun
}

type programRun struct {
	program *program
	out     chan *mcp.Frame
	once    sync.Once
	lines   []string
}

// Dial implements transports.Dialer.
func (p *program) Dial(context.Context) (transports.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &programRun{program: p, out: make(chan *mcp.Frame, 16)}
	p.runs = append(p.runs, r)
	return r, nil
}

// Read implements transports.Conn.
func (r *programRun) Read(context.Context) (*mcp.Frame, error) {
	if f, ok := <-r.out; ok {
		return f, nil
	}
	return nil, errExit
}

// Write implements transports.Conn.
func (r *programRun) Write(_ context.Context, m *mcp.Message) error {
	r.program.mu.Lock()
	r.lines = append(r.lines, m.Method)
	r.program.mu.Unlock()
	if r.program.hear != nil && r.program.hear(r, m) {
		return nil
	}
	if m.Kind != mcp.Request {
		return nil
	}
	text, exits := r.program.answer(m)
	if exits {
		return r.Close()
	}
	if text != "" {
		r.say(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,` + text + `}`)
	}
	return nil
}

// say sends a message of the run.
func (r *programRun) say(text string) {
	frame, _ := mcp.Decode([]byte(text))
	r.out <- frame
}

// Close implements transports.Conn.
func (r *programRun) Close() error {
	r.once.Do(func() { close(r.out) })
	return nil
}

// sent returns what each run was sent, in order.
func (p *program) sent() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, r := range p.runs {
		out = append(out, strings.Join(r.lines, " "))
	}
	return out
}

// handshaking answers as a server of a handshake revision.
func handshaking(m *mcp.Message) string {
	switch m.Method {
	case mcp.Initialize:
		return `"result":{"protocolVersion":"` + m.Body.Text("protocolVersion") + `","capabilities":{"tools":{}},"serverInfo":{"name":"p","version":"1"}}`
	case mcp.ToolsCall:
		return `"result":{"content":[{"type":"text","text":"old"}]}`
	}
	return `"error":{"code":-32601,"message":"Method not found"}`
}

// standing answers as a stateless server.
func standing(m *mcp.Message) string {
	if m.Method == mcp.ToolsCall {
		return `"result":{"resultType":"complete","content":[{"type":"text","text":"new"}]}`
	}
	return `"error":{"code":-32022,"message":"m","data":{"supported":["2026-07-28"]}}`
}

// before runs a test against a bridge before a program, by the bubble's clock.
func before(t *testing.T, p *program, test func(t *testing.T, say func(string) string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := bridge.New(bridge.Settings{
			Ladder: rewrite.Standard(), Dial: func() transports.Upstream { return transports.NewPiped(p) },
			UpstreamTransport: "stdio", Upstream: "program", Options: mcp.DefaultOptions(), Observer: newWitness(), Log: zerolog.Nop(),
		})
		s := transports.NewStream(1 << 20)
		client := &piper{t: t, stream: s, session: b.Attach(&transports.Pipe{Transport: "stdio", Stream: s})}
		test(t, func(text string) string {
			client.say(text)
			for range 6 { // probes take their time, by the bubble's clock
				if d, ok := s.Next(); ok {
					return string(d.Message.Bytes())
				}
				select {
				case <-s.Ready():
				case <-time.After(patience):
				}
			}
			return "nothing"
		})
		client.session.Close()
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// A process that ends at what comes before initialize is started once more for
// the handshake, and is not probed again (G-74, reports 144 and 165).
func TestProbeEndsTheProcess(t *testing.T) {
	p := &program{answer: func(m *mcp.Message) (string, bool) { return handshaking(m), m.Method == mcp.Discover }}
	before(t, p, func(t *testing.T, say func(string) string) {
		for i, capabilities := range []string{`{}`, `{}`, `{"roots":{}}`} { // the last needs a process of its own
			if got := say(standalone(strconv.Itoa(i), mcp.ToolsCall, `"name":"t"`, capabilities)); !strings.Contains(got, `"text":"old"`) {
				t.Errorf("answered %s", got)
			}
		}
		probes, openings := 0, 0
		for _, run := range p.sent() {
			probes += strings.Count(run, mcp.Discover)
			if strings.HasPrefix(run, mcp.Initialize) {
				openings++
			}
		}
		if probes != 1 || openings != 2 || len(p.sent()) != 3 {
			t.Errorf("the runs were sent %q", p.sent())
		}
	})
}

// A process that is silent on a probe gets a handshake in a fresh one, and is
// found out where that has none (G-75, report 145).
func TestProbeOfASilentProcess(t *testing.T) {
	for want, answer := range map[string]func(*mcp.Message) string{"old": handshaking, "new": standing} {
		t.Run(want, func(t *testing.T) {
			p := &program{answer: func(m *mcp.Message) (string, bool) {
				if m.Method == mcp.Discover {
					return "", false
				}
				return answer(m), false
			}}
			before(t, p, func(t *testing.T, say func(string) string) {
				begin := time.Now()
				if got := say(standalone(`1`, mcp.ToolsCall, `"name":"t"`, `{}`)); !strings.Contains(got, `"text":"`+want+`"`) {
					t.Errorf("answered %s; the runs were sent %q", got, p.sent())
				}
				if took := time.Since(begin); took > 30*time.Second {
					t.Errorf("it took %v", took)
				}
				runs := len(p.sent())
				if got := say(standalone(`2`, mcp.ToolsCall, `"name":"t"`, `{}`)); !strings.Contains(got, `"text":"`+want+`"`) || len(p.sent()) != runs {
					t.Errorf("the next is answered %s; the runs were sent %q", got, p.sent())
				}
			})
		})
	}
}

// A stateless process that ended is started again for the next request, and
// asked for no handshake.
func TestStatelessProcessEnds(t *testing.T) {
	crashes := false
	p := &program{}
	p.answer = func(m *mcp.Message) (string, bool) {
		if m.Method == mcp.Discover {
			return `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`, false
		}
		return standing(m), crashes
	}
	before(t, p, func(t *testing.T, say func(string) string) {
		for i, want := range []string{`"text":"new"`, `"error"`, `"text":"new"`} {
			crashes = i == 1
			if got := say(standalone(strconv.Itoa(i), mcp.ToolsCall, `"name":"t"`, `{}`)); !strings.Contains(got, want) {
				t.Errorf("answered %s; the runs were sent %q", got, p.sent())
			}
			synctest.Wait()
		}
		for _, run := range p.sent() {
			if strings.Contains(run, mcp.Initialize) {
				t.Errorf("the runs were sent %q", p.sent())
			}
		}
	})
}
