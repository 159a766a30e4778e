package streamable

import (
	"net/http"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// follower writes a reply's stream. What kind of answer it becomes is open
// until the first delivery: one answer alone can be a JSON body, anything
// else needs an event stream where the client takes one.
type follower struct {
	web.Events
	out       response
	reply     transports.Reply
	x         *transports.Exchange
	collected []*mcp.Message // answers for a client that takes only JSON
}

// follow writes the stream until it ends or the client leaves.
func (o response) follow(reply transports.Reply, x *transports.Exchange) {
	f := &follower{Events: web.NewEvents(o.Response), out: o, reply: reply, x: x}
	var silence func()
	if reply.Standalone || x.Events {
		silence = f.keepAlive
	}
	if reply.Standalone {
		f.begin()
	}
	f.Follow(reply.Stream, f.drain, silence)
}

// drain writes all that is there and flushes once; done means the answer is
// complete.
func (f *follower) drain() (wrote, done bool) {
	for !f.Failed() {
		d, ok := f.reply.Stream.Next()
		if !ok {
			break
		}
		wrote = true
		if f.deliver(d); d.Last {
			done = true
			break
		}
	}
	f.Flush()
	return wrote, done
}

func (f *follower) deliver(d transports.Delivery) {
	switch {
	case d.Refusal != nil:
		f.Plain(*d.Refusal)
	case f.Begun():
		f.Message(d.Message)
	case f.x.JSON && !f.reply.Batch && d.Last && d.Message != nil && d.Message.IsAnswer() && len(f.collected) == 0:
		f.out.answers(f.reply, []*mcp.Message{d.Message})
	case f.x.Events:
		f.begin()
		f.Message(d.Message)
	default:
		f.collect(d)
	}
}

// collect serves a client that takes only JSON: one body cannot hold interim
// messages, so only the answers count.
func (f *follower) collect(d transports.Delivery) {
	if d.Message != nil && d.Message.IsAnswer() {
		f.collected = append(f.collected, d.Message)
	}
	switch {
	case !d.Last:
	case len(f.collected) == 0:
		f.Plain(transports.Reply{Status: http.StatusAccepted, Header: f.reply.Header})
	default:
		f.out.answers(f.reply, f.collected)
	}
}

// begin commits to an event stream, unless a refusal came first.
func (f *follower) begin() {
	if !f.Begun() && f.reply.Stream.Begin() {
		f.Begin(f.reply.Header)
	}
}

// keepAlive writes a comment, so that nobody on the way takes silence for
// death.
func (f *follower) keepAlive() {
	f.begin()
	if f.Begun() {
		f.Comment()
		f.Flush()
	}
}
