package bridge_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/internal/schema"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// script is a server that is started for each conversation, and does with a
// discovery what its kind says.
type script struct {
	kind string // exits, silent, refuses, modern

	mu   sync.Mutex
	runs []*scriptRun
}

// scriptRun is one process of it.
type scriptRun struct {
	kind  string
	out   chan *mcp.Frame
	over  chan struct{}
	once  sync.Once
	mu    sync.Mutex
	heard []string
}

// Dial starts a process.
func (p *script) Dial(context.Context) (transports.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &scriptRun{kind: p.kind, out: make(chan *mcp.Frame, 64), over: make(chan struct{})}
	p.runs = append(p.runs, r)
	return r, nil
}

// Read implements transports.Conn.
func (r *scriptRun) Read(context.Context) (*mcp.Frame, error) {
	select {
	case f := <-r.out:
		return f, nil
	case <-r.over:
		return nil, errExit
	}
}

// Close implements transports.Conn.
func (r *scriptRun) Close() error {
	r.once.Do(func() { close(r.over) })
	return nil
}

// Write implements transports.Conn.
func (r *scriptRun) Write(_ context.Context, m *mcp.Message) error {
	r.mu.Lock()
	r.heard = append(r.heard, m.Method)
	r.mu.Unlock()
	const refusal = `"error":{"code":-32601,"message":"Method not found"}`
	answer := ""
	switch {
	case m.Kind != mcp.Request:
	case m.Method == mcp.Discover && r.kind == "exits":
		return r.Close()
	case m.Method == mcp.Discover && r.kind == "modern":
		answer = `"result":{"resultType":"complete","supportedVersions":["` + v5 + `"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`
	case m.Method == mcp.Discover && r.kind == "silent":
	case m.Method == mcp.Discover, m.Method == mcp.Initialize && r.kind == "modern":
		answer = refusal
	case m.Method == mcp.Initialize:
		answer = `"result":{"protocolVersion":"` + v3 + `","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
	default:
		answer = `"result":{"content":[{"type":"text","text":"done"}]}`
	}
	if answer != "" {
		f, _ := mcp.Decode([]byte(`{"jsonrpc":"2.0","id":` + m.ID.String() + `,` + answer + `}`))
		r.out <- f
	}
	return nil
}

// heard lists what the processes were sent, in the order of their start.
func (p *script) heard() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var runs []string
	for _, r := range p.runs {
		r.mu.Lock()
		runs = append(runs, strings.Join(slices.DeleteFunc(slices.Clone(r.heard), func(m string) bool { return m == mcp.Initialized || m == mcp.ToolsList }), " "))
		r.mu.Unlock()
	}
	return strings.Join(runs, " | ")
}

// beforeScript runs a test before a program of a kind. Time passes when all wait.
func beforeScript(t *testing.T, probe negotiate.Probe, kind string, test func(p *script, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		p := &script{kind: kind}
		b := bridge.New(bridge.Settings{
			Ladder: rewrite.Standard(), Probe: probe, Dial: func() transports.Upstream { return transports.NewPiped(p) },
			Upstream: "one", UpstreamTransport: "stdio", Deps: rewrite.Deps{Validate: schema.Validate},
			Options: mcp.DefaultOptions(), Observer: newWitness(), Log: zerolog.Nop(),
		})
		t.Cleanup(func() {
			if err := b.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		test(p, &rig{t: t, bridge: b})
	})
}

// serves lets a client of a revision open, unless that has no handshake, and
// call a tool.
func (r *rig) serves(version string) {
	r.t.Helper()
	p := r.pipe()
	if version == v5 {
		p.say(standalone(`1`, mcp.ToolsCall, `"name":"t"`, `{}`))
	} else {
		p.say(initializeWith(`0`, version, `{}`))
		p.hear()
		p.say(initialized)
		p.say(toolCall(`1`, "t", `1`))
	}
	if got := p.hear(); !strings.Contains(got, `"text":"done"`) {
		r.t.Errorf("the call is answered %s", got)
	}
}

// What a server behind a pipe is sent, by the option and what kind it is, for a
// first client and a second: a server that ends at what comes before a
// handshake is started again once, and not asked again (report 144), as is one
// that says nothing (report 145).
func TestProbes(t *testing.T) {
	const (
		ask   = mcp.Discover
		shake = mcp.Initialize + " " + mcp.ToolsCall
		call  = mcp.ToolsCall
	)
	for _, tc := range []struct {
		probe         negotiate.Probe
		kind, version string
		first, second string
	}{
		{negotiate.ProbeAuto, "exits", v4, shake, shake},
		{negotiate.ProbeAuto, "exits", v5, ask + " | " + shake, shake},
		{"", "modern", v5, ask + " | " + call, call},
		{negotiate.ProbeNever, "exits", v4, shake, shake},
		{negotiate.ProbeNever, "exits", v5, shake, shake},
		{negotiate.ProbeNever, "silent", v5, shake, shake},
		{negotiate.ProbeNever, "modern", v5, mcp.Initialize + " | " + call, call},
		{negotiate.ProbeNever, "modern", v4, mcp.Initialize + " | " + ask + " " + call, ask + " " + call},
		{negotiate.ProbeSibling, "exits", v4, ask + " | " + shake, shake},
		{negotiate.ProbeSibling, "silent", v4, ask + " | " + shake, shake},
		{negotiate.ProbeSibling, "modern", v5, ask + " | " + call, call},
		{negotiate.ProbeInline, "exits", v4, ask + " | " + shake, shake},
		{negotiate.ProbeInline, "exits", v5, ask + " | " + shake, shake},
		{negotiate.ProbeInline, "silent", v4, ask + " | " + shake, shake},
		{negotiate.ProbeInline, "silent", v5, ask + " | " + shake, shake},
		{negotiate.ProbeInline, "refuses", v4, ask + " " + shake, shake},
		{negotiate.ProbeInline, "refuses", v5, ask + " " + shake, shake},
		{negotiate.ProbeInline, "modern", v5, ask + " " + call, call},
	} {
		t.Run(fmt.Sprintf("%s %s %s", tc.probe, tc.kind, tc.version), func(t *testing.T) {
			beforeScript(t, tc.probe, tc.kind, func(p *script, r *rig) {
				r.serves(tc.version)
				synctest.Wait()
				if got := p.heard(); got != tc.first {
					t.Errorf("the server was sent %s\nwant %s", got, tc.first)
				}
				r.serves(tc.version)
				synctest.Wait()
				if got := p.heard(); got != tc.first+" | "+tc.second {
					t.Errorf("then %s\nwant %s | %s", got, tc.first, tc.second)
				}
			})
		})
	}
}

// Clients that come at once wait for one probe.
func TestProbeInlineOnce(t *testing.T) {
	beforeScript(t, negotiate.ProbeInline, "exits", func(p *script, r *rig) {
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { r.serves(v4) })
		}
		all.Wait()
		if got := strings.Count(p.heard(), mcp.Discover); got != 1 {
			t.Errorf("asked %d times: %s", got, p.heard())
		}
	})
}

func TestProbeNames(t *testing.T) {
	if got := negotiate.ProbeNames(); !slices.Equal(got, []string{"auto", "never", "sibling", "inline"}) {
		t.Errorf("%q", got)
	}
}
