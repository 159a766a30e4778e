package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// process is a scripted server on a pipe, which only one may run of.
type process struct {
	t *testing.T

	mu    sync.Mutex
	lines []string // what it received, as "method id"
	out   chan *mcp.Frame
	conn  *processConn // the run under way
	runs  int
	grew  chan struct{}
	// hold says that calls are answered by the test, by the ids in names.
	hold  bool
	names map[string]mcp.ID
	// declared is what the bridge declared, startup what the process says once
	// it is initialized.
	declared, startup string
	silent            bool // it does not answer initialize
	version           string
}

func newProcess(t *testing.T) *process {
	return &process{t: t, grew: make(chan struct{}), names: map[string]mcp.ID{}, version: v3}
}

var errExit = errors.New("the process ended")

// Dial starts the process.
func (p *process) Dial(context.Context) (transports.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs++
	p.out = make(chan *mcp.Frame, 64)
	p.conn = &processConn{process: p, out: p.out}
	return p.conn, nil
}

type processConn struct {
	process *process
	out     chan *mcp.Frame
	once    sync.Once
	closed  bool
}

func (c *processConn) Read(context.Context) (*mcp.Frame, error) {
	f, ok := <-c.out
	if !ok {
		return nil, errExit
	}
	return f, nil
}

func (c *processConn) Close() error {
	c.once.Do(func() {
		c.process.mu.Lock()
		defer c.process.mu.Unlock()
		c.closed = true
		close(c.out)
	})
	return nil
}

// Write answers what the process knows, and notes everything.
func (c *processConn) Write(_ context.Context, m *mcp.Message) error {
	p := c.process
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.closed {
		return errExit
	}
	p.lines = append(p.lines, strings.TrimSpace(m.Method+" "+m.Body.Text("uri")+m.Body.Text("level")+m.Body.Text("name")))
	if m.IsAnswer() {
		p.lines[len(p.lines)-1] = string(m.Bytes())
	}
	close(p.grew)
	p.grew = make(chan struct{})
	switch m.Method {
	case mcp.Initialized:
		if p.startup != "" {
			p.sayLocked(p.startup)
		}
	case mcp.Ping, mcp.ToolsList:
		p.sayLocked(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}`, m.ID))
	case mcp.Initialize:
		if p.silent {
			return nil
		}
		p.declared = string(m.Body.Object("capabilities").Raw())
		p.sayLocked(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{}},"serverInfo":{"name":"one","version":"1"}}}`, m.ID, p.version))
	case mcp.ResourcesSubscribe, mcp.ResourcesUnsubscribe, mcp.SetLevel:
		p.sayLocked(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID))
	case mcp.ToolsCall:
		if p.names[m.Body.Text("name")] = m.ID; p.hold {
			return nil
		}
		if token, ok := m.ProgressToken(); ok {
			p.sayLocked(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"message":%s}}`, token, mcp.Quote(m.Body.Text("name"))))
		}
		p.sayLocked(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`, m.ID, mcp.Quote(m.Body.Text("name"))))
	}
	return nil
}

func (p *process) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sayLocked(line)
}

func (p *process) sayLocked(line string) {
	f, fault := mcp.Decode([]byte(line))
	if fault != nil {
		p.t.Errorf("the process says %s: %v", line, fault)
		return
	}
	p.out <- f
}

// die ends the process.
func (p *process) die() { _ = p.conn.Close() }

// heard returns how often the process received a line.
func (p *process) heard(line string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, l := range p.lines {
		if l == line {
			n++
		}
	}
	return n
}

func newShared(t *testing.T) (*process, *rig) { return newSharing(t, false) }

func newSharing(t *testing.T, interactive bool) (*process, *rig) {
	t.Helper()
	p := newProcess(t)
	r := newRig(t, func(r *rigging) {
		r.Shared, r.SharedInteractive = true, interactive
		r.Dial = func() transports.Upstream { return transports.NewPiped(p) }
	})
	return p, r
}

// One process serves all: it is started and initialized once, and each client
// gets what is its own, under its own names.
func TestShare(t *testing.T) {
	p, r := newShared(t)
	a, b := r.open(v1, `{"elicitation":{}}`), r.open(v4, `{}`)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"_meta":{"progressToken":"p"}}}`
	sa, sb := a.stream("POST", fmt.Sprintf(call, "A")), b.stream("POST", fmt.Sprintf(call, "B"))
	for s, name := range map[*stream]string{sa: "A", sb: "B"} {
		s.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1,"message":"` + name + `"}}`)
		s.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + name + `"}]}}`)
		s.wantEnd()
	}
	if p.runs != 1 || p.heard(mcp.Initialize) != 1 || p.heard(mcp.Initialized) != 1 {
		t.Errorf("%d runs; received %q", p.runs, p.lines)
	}
}

// News goes to whom it concerns; a question to nobody.
func TestShareNews(t *testing.T) {
	p, r := newShared(t)
	a, b := r.open(v3, `{"roots":{}}`), r.open(v3, `{}`)
	subscribe := func(verb, uri string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"resources/` + verb + `","params":{"uri":"` + uri + `"}}`
	}
	a.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	b.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	sa, sb := a.stream("GET", ""), b.stream("GET", "")
	a.post(subscribe("subscribe", "file:///p"))
	a.post(subscribe("subscribe", "file:///q"))
	b.post(subscribe("subscribe", "file:///q"))
	p.say(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)
	p.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"whose?"}}`)
	p.say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///p/sub"}}`)
	p.say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///q"}}`)
	p.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	const updated = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///`
	for _, s := range []*stream{sa, sb} {
		if s == sa {
			s.want(updated + `p/sub"}}`)
		}
		s.want(updated + `q"}}`)
		s.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	}
	a.post(subscribe("unsubscribe", "file:///q"))
	if n := p.heard("resources/unsubscribe file:///q"); n != 0 {
		t.Errorf("the server is unsubscribed from what another client holds")
	}
	b.post(subscribe("unsubscribe", "file:///q"))
	for line, want := range map[string]int{
		"resources/subscribe file:///q": 1, "resources/unsubscribe file:///q": 1,
		`{"jsonrpc":"2.0","id":"q","error":{"code":-32601,"message":"many clients share this server: none of them can be asked"}}`: 1,
	} {
		if got := p.heard(line); got != want {
			t.Errorf("%s: received %d times, not %d: %q", line, got, want, p.lines)
		}
	}
}

// A process that dies is started again, set up as it was, for all at once.
func TestShareRevival(t *testing.T) {
	p, r := newShared(t)
	a, b := r.open(v3, `{}`), r.open(v3, `{}`)
	a.post(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///p"}}`)
	b.post(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`)
	a.post(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"error"}}`)
	p.die()
	for _, c := range []*client{a, b} {
		got := c.post(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"again"}}`)
		if want := `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"again"}]}}`; got.body != want {
			t.Errorf("got %d %s", got.status, got.body)
		}
	}
	if p.runs != 2 || p.heard(mcp.Initialize) != 2 || p.heard("resources/subscribe file:///p") != 2 || p.heard("logging/setLevel debug") != 2 || p.heard("logging/setLevel error") != 0 {
		t.Errorf("%d runs; received %q", p.runs, p.lines)
	}
}

// The calls of a batch take turns too, and what is asked within one reaches
// the client while the next waits.
func TestBatchInTheLane(t *testing.T) {
	p, r := newSharing(t, true)
	p.hold = true
	c := r.open(v2, `{"roots":{}}`)
	begun := make(chan *stream, 1)
	go func() { // its headers come with the first event
		s, err := c.tryStream("POST", `[`+request(`1`, mcp.ToolsCall, `{"name":"one"}`)+`,`+request(`2`, mcp.ToolsCall, `{"name":"two"}`)+`]`)
		if err != nil {
			t.Error(err)
		}
		begun <- s
	}()
	arrived := func(name string) func() bool { return func() bool { return p.heard(mcp.ToolsCall+" "+name) == 1 } }
	gives(t, "the first call did not arrive", arrived("one"))
	p.say(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)
	s := <-begun
	if s == nil {
		return
	}
	c.answers(s.question(mcp.RootsList, ``), `{"roots":[]}`)
	gives(t, "the answer did not arrive", func() bool { return p.heard(`{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}`) == 1 })
	if p.heard(mcp.ToolsCall+" two") != 0 {
		t.Error("the second call did not wait")
	}
	p.done("one")
	gives(t, "the second call did not arrive", arrived("two"))
	p.done("two")
	for _, name := range []string{"1,one", "2,two"} {
		id, text, _ := strings.Cut(name, ",")
		s.want(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"` + text + `"}]}}`)
	}
	s.wantEnd()
}

// done answers a call that the test holds.
func (p *process) done(name string) {
	p.mu.Lock()
	id := p.names[name]
	p.mu.Unlock()
	p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, id, name))
}
