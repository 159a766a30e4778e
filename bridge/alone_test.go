package bridge_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// piper is a client on a pipe.
type piper struct {
	t       *testing.T
	session transports.PipeSession
	stream  *transports.Stream
}

func (r *rig) pipe() *piper {
	s := transports.NewStream(1 << 20)
	p := &piper{t: r.t, stream: s}
	p.session = r.bridge.Attach(&transports.Pipe{Transport: "stdio", Stream: s})
	r.t.Cleanup(p.session.Close)
	return p
}

// say hands a message to the bridge; what it answers at once comes as on the
// stream.
func (p *piper) say(text string) {
	p.t.Helper()
	f, fault := mcp.Decode([]byte(text))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	reply := p.session.Take(ctx, f, fault)
	if m := reply.Explain(f); m != nil {
		p.stream.Push(m)
	}
}

// hear returns the next message to the client.
func (p *piper) hear() string {
	p.t.Helper()
	for {
		if d, ok := p.stream.Next(); ok {
			return string(d.Message.Bytes())
		}
		select {
		case <-p.stream.Ready():
		case <-time.After(patience):
			p.t.Fatal("nothing more comes")
		}
	}
}

func (p *piper) want(message string) {
	p.t.Helper()
	if got := p.hear(); got != message {
		p.t.Errorf("the client got %s\nwant %s", got, message)
	}
}

// On a pipe each message says by itself which revision it is of; both may be
// spoken, and a discovery holds up no handshake (E.2, G-76).
func TestPipeOfBothEras(t *testing.T) {
	r := newRig(t, nil)
	p := r.pipe()
	p.say(standalone(`"d"`, mcp.Discover, "", `{}`))
	p.say(initializeWith(`0`, v3, `{}`))
	p.say(initialized)
	seen := []string{p.hear(), p.hear()}
	for _, want := range []string{`{"jsonrpc":"2.0","id":"d","result":{"resultType":"complete"`, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"`} {
		if !strings.HasPrefix(seen[0], want) && !strings.HasPrefix(seen[1], want) {
			t.Errorf("nothing begins with %s in %s", want, seen)
		}
	}
	p.say(toolCall(`1`, "t", `1`))
	p.want(echoed(`1`, `1`))
	p.say(standalone(`2`, mcp.ToolsCall, `"name":"t","arguments":{"v":2}`, `{}`))
	p.want(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"v\":2}"}],"resultType":"complete",` + signature + `}}`)
	p.say(standalone(`3`, mcp.Ping, "", `{}`))
	if got := p.hear(); !strings.Contains(got, `"id":3,"error":{"code":-32601`) {
		t.Errorf("a ping of the stateless revision is answered %s", got)
	}
}

// A call is parked and come back to on one pipe; another pipe cannot.
func TestParkedCallOnAPipe(t *testing.T) {
	r := askingOnce(t)
	p, other := r.pipe(), r.pipe()
	p.say(ask(`1`, ``))
	state := round(t, reply{status: 200, body: p.hear()})
	other.say(ask(`2`, answers(state)))
	if got := other.hear(); !strings.Contains(got, `"reason":"invalid_request_state"`) {
		t.Errorf("another pipe is answered %s", got)
	}
	p.say(ask(`3`, answers(state)))
	if got := p.hear(); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{\"action\":\"accept\"`) {
		t.Errorf("the retry is answered %s", got)
	}
	if n := r.up.count(mcp.ToolsCall); n != 1 {
		t.Errorf("the call ran %d times", n)
	}
}

// A client cancels by a notification, and by going away.
func TestPipeCancels(t *testing.T) {
	for name, leave := range map[string]func(*piper){
		"notification": func(p *piper) {
			p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		},
		"end": func(p *piper) { p.session.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			release := make(chan struct{})
			defer close(release)
			handler, arrived := hold(release)
			r.up.handle("tools/call slow", handler)
			p := r.pipe()
			p.say(standalone(`1`, mcp.ToolsCall, `"name":"slow"`, `{}`))
			<-arrived
			p.say(standalone(`1`, mcp.ToolsCall, `"name":"t"`, `{}`))
			if got := p.hear(); !strings.Contains(got, `"error":{"code":-32600`) {
				t.Errorf("a second request of that id is answered %s", got)
			}
			leave(p)
			got := r.up.await(t, mcp.Cancelled, 1)
			if id, _ := got.Body.Get("requestId"); string(id) != r.up.await(t, mcp.ToolsCall, 1).ID.String() {
				t.Errorf("cancelled %s", got.body)
			}
		})
	}
}

// A refusal of one call is that call's error; the pipe goes on.
func TestPipeOutlivesRefusals(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle("tools/call secret", func(c *call) { c.reply(401, "", "") })
	p := r.pipe()
	p.say(standalone(`1`, mcp.ToolsCall, `"name":"secret"`, `{}`))
	if got := p.hear(); !strings.Contains(got, `"id":1,"error":{"code":-32603`) {
		t.Errorf("the refused call is answered %s", got)
	}
	p.say(standalone(`2`, mcp.ToolsCall, `"name":"t","arguments":{"v":2}`, `{}`))
	if got := p.hear(); !strings.Contains(got, `"id":2,"result"`) {
		t.Errorf("the next call is answered %s", got)
	}
}
