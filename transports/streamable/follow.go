package streamable

import (
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/eventstream"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// primeAfter is how long a call may be silent before its client is told a
// position to come back to: quick answers are JSON, and answers that take
// longer than a refusal of credentials does can be fetched later.
const primeAfter = 3 * time.Second

// retryAfter is when a client that lost its stream should come back.
const retryAfter = time.Second

// follower writes a reply's stream. What kind of answer it becomes is open
// until the first delivery: one answer alone can be a JSON body, anything
// else needs an event stream where the client takes one.
type follower struct {
	web.Events
	out       response
	reply     transports.Reply
	x         *transports.Exchange
	collected []*mcp.Message // answers for a client that takes only JSON
	shelf     *shelf         // nil where the stream cannot be taken up again
	player    *player        // once events are kept
	wait      web.Watch
}

// follow writes the stream until it ends or the client leaves.
func (o response) follow(reply transports.Reply, x *transports.Exchange, s *shelf) {
	f := &follower{Events: web.NewEvents(o.Response), out: o, reply: reply, x: x, shelf: s}
	defer f.leave()
	if reply.Standalone {
		f.begin()
	}
	f.watch()
}

// replay writes a stream that the client lost, from where it lost it.
func (o response) replay(reply transports.Reply, p *player) {
	f := &follower{Events: web.NewEvents(o.Response), out: o, reply: reply}
	defer f.leave()
	f.play(p)
	f.Begin(reply.Header)
	f.watch()
}

func (f *follower) watch() {
	f.wait.Ready, f.wait.Drain = f.reply.Stream.Ready(), f.drain
	if f.player != nil || f.reply.Standalone || f.x.Events {
		f.wait.Silence = f.keepAlive
	}
	if f.shelf != nil && f.reply.Primed {
		f.wait.First = primeAfter
	}
	f.Watch(&f.wait)
}

// play lets the events come from a tape.
func (f *follower) play(p *player) {
	f.player, f.wait.Again, f.wait.Over = p, p.again, p.over
}

func (f *follower) leave() {
	if f.player != nil {
		f.player.leave()
		return
	}
	f.reply.Stream.Abandon()
}

// drain writes all that is there and flushes once; done means the answer is
// complete.
func (f *follower) drain() (wrote, done bool) {
	for !f.Failed() {
		some, over := f.one()
		wrote = wrote || some
		if done = over; done || !some {
			break
		}
	}
	f.Flush()
	return wrote, done
}

// one writes the next delivery, if there is one.
func (f *follower) one() (wrote, over bool) {
	if f.player != nil {
		text, over := f.player.next()
		if text != nil {
			f.Put(text)
		}
		return text != nil, over
	}
	d, ok := f.reply.Stream.Next()
	if ok {
		f.deliver(d)
	}
	return ok, d.Last
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
		f.first(d)
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
	if f.Begun() || !f.reply.Stream.Begin() {
		return
	}
	f.Begin(f.reply.Header)
	if f.shelf == nil {
		return
	}
	f.play(f.shelf.record(f.x.Session, f.reply.Stream, f.reply.Standalone))
	if f.reply.Primed {
		f.Put(eventstream.AppendPosition(nil, f.player.tape.position(0), retryAfter))
	}
}

// first writes the delivery that made the response an event stream.
func (f *follower) first(d transports.Delivery) {
	if f.player == nil || d.Message == nil {
		f.Message(d.Message)
		return
	}
	f.Put(f.player.put(d.Message, d.Last))
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
