package bridge_test

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// late is a server that cannot be reached in time, away one that is not there.
type (
	late struct{}
	away struct{}
)

// Dial implements transports.Dialer.
func (away) Dial(context.Context) (transports.Conn, error) {
	return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
}

// Dial implements transports.Dialer.
func (late) Dial(context.Context) (transports.Conn, error) {
	return nil, &net.OpError{Op: "dial", Err: tardy{}}
}

type tardy struct{}

func (tardy) Error() string   { return "i/o timeout" }
func (tardy) Timeout() bool   { return true }
func (tardy) Temporary() bool { return true }

// jam is a client of a process that all share, who does not read.
func jam(t *testing.T, messages int) (p *process, r *rig, slow, other *piper) {
	t.Helper()
	p = newProcess(t)
	r = newRig(t, func(s *rigging) {
		s.Shared = true
		s.Dial = func() transports.Upstream { return transports.NewPiped(p) }
	})
	slow, other = r.pipe(), r.pipe()
	slow.stream = transports.Room{Messages: messages}.NewStream()
	slow.session = r.bridge.Attach(&transports.Pipe{Transport: "stdio", Stream: slow.stream})
	t.Cleanup(slow.session.Close)
	for _, one := range []*piper{slow, other} {
		one.say(initializeWith(`0`, v3, `{}`))
		one.hear()
		one.say(initialized)
		one.say(request(`1`, mcp.SetLevel, `{"level":"debug"}`))
		one.hear()
	}
	return p, r, slow, other
}

const (
	toolsNews   = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	promptsNews = `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`
)

// callsOne has a client call a tool that answers at once.
func (p *piper) callsOne(id string) { p.say(request(id, mcp.ToolsCall, `{"name":"n`+id+`"}`)) }

func named(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"n` + id + `"}]}}`
}

// Who reads slowly holds up nobody else, and misses no news that still counts.
func TestSharedSlowReaderHoldsUpNobody(t *testing.T) {
	p, r, slow, other := jam(t, 2)
	for range 3 { // one more than the limit, which stands in the queue
		p.say(toolsNews)
	}
	r.heard.await(t, "sent client notification notifications/tools/list_changed", 6)
	r.wantLimited("", 0)
	for range 5 {
		p.say(promptsNews)
	}
	for range 3 {
		other.want(toolsNews)
	}
	for range 5 {
		other.want(promptsNews)
	}
	other.callsOne(`2`)
	other.want(named(`2`))
	r.heard.await(t, "limited "+mcp.LimitQueuedMessages, 5)
	for range 3 {
		slow.want(toolsNews)
	}
	slow.callsOne(`2`) // there is room again
	slow.want(promptsNews)
	slow.want(named(`2`))
	if n := r.heard.count("lost deliver pass"); n != 0 {
		t.Errorf("%d are lost", n)
	}
}

// An answer that does not fit ends the client's stream, and no other.
func TestSharedSlowReaderOfAnswers(t *testing.T) {
	_, r, slow, other := jam(t, 2)
	for i := 2; i <= 4; i++ {
		slow.callsOne(strconv.Itoa(i))
	}
	r.heard.await(t, "answered tools/call result", 3)
	if !slow.stream.Open() {
		t.Fatal("the stream is closed before it is full")
	}
	r.wantLimited("", 0)
	slow.callsOne(`5`)
	r.heard.await(t, "failed client stream_overflow", 1)
	if slow.stream.Open() {
		t.Error("a stream that is full stays open")
	}
	r.wantLimited(mcp.LimitQueuedMessages, 1)
	other.callsOne(`2`)
	other.want(named(`2`))
}

// A record that does not fit is lost, and counted so.
func TestSharedSlowReaderOfRecords(t *testing.T) {
	p, r, slow, other := jam(t, 1)
	p.mu.Lock()
	p.hold = true
	p.mu.Unlock()
	slow.callsOne(`2`) // records belong to the only call there is
	gives(t, "the call did not arrive", func() bool { return p.heard(mcp.ToolsCall+" n2") == 1 })
	for i := range 4 {
		p.say(note(strconv.Itoa(i)))
	}
	r.heard.await(t, "lost deliver pass", 2)
	r.wantLimited(mcp.LimitQueuedMessages, 2)
	slow.want(note(`0`))
	slow.want(note(`1`))
	p.done("n2")
	if got := slow.hear(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":2,"result"`) {
		t.Errorf("the call is answered %s", got)
	}
	p.mu.Lock()
	p.hold = false
	p.mu.Unlock()
	other.callsOne(`2`)
	other.want(named(`2`))
}
