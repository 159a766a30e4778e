package streamable

import (
	"errors"
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/eventstream"
)

// follower writes a reply's stream. What kind of answer it becomes is open
// until the first delivery: one answer alone can be a JSON body, anything
// else needs an event stream where the client takes one.
type follower struct {
	*response
	reply   transports.Reply
	x       *transports.Exchange
	events  bool           // the headers of an event stream are written
	dirty   bool           // something written is not flushed yet
	answers []*mcp.Message // of a client that takes only JSON
	failed  bool           // the client left
}

// follow writes the stream until it ends or the client leaves.
func (o *response) follow(reply transports.Reply, x *transports.Exchange) {
	f := &follower{response: o, reply: reply, x: x}
	defer reply.Stream.Abandon()
	var silence *time.Timer
	var silent <-chan time.Time
	if reply.Standalone || x.Events {
		silence = time.NewTimer(o.s.config.KeepAlive)
		defer silence.Stop()
		silent = silence.C
	}
	if reply.Standalone {
		f.begin()
	}
	for !f.failed {
		wrote, done := f.drain()
		if done {
			return
		}
		if wrote && silence != nil {
			silence.Reset(o.s.config.KeepAlive)
		}
		select {
		case <-reply.Stream.Ready():
		case <-o.r.Context().Done():
			return
		case <-silent:
			f.keepAlive()
			silence.Reset(o.s.config.KeepAlive)
		}
	}
}

// drain writes all that is there and flushes once; done means the answer is
// complete.
func (f *follower) drain() (wrote, done bool) {
	for !f.failed {
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
	f.flush()
	return wrote, done
}

func (f *follower) deliver(d transports.Delivery) {
	switch {
	case d.Refusal != nil:
		f.plain(*d.Refusal)
	case f.events:
		f.event(d.Message)
	case f.x.JSON && !f.reply.Batch && d.Last && d.Message != nil && d.Message.IsAnswer() && len(f.answers) == 0:
		f.response.answers(f.reply, []*mcp.Message{d.Message})
	case f.x.Events:
		f.begin()
		f.event(d.Message)
	default:
		f.collect(d)
	}
}

// collect serves a client that takes only JSON: one body cannot hold interim
// messages, so only the answers count.
func (f *follower) collect(d transports.Delivery) {
	if d.Message != nil && d.Message.IsAnswer() {
		f.answers = append(f.answers, d.Message)
	}
	switch {
	case !d.Last:
	case len(f.answers) == 0:
		f.plain(transports.Reply{Status: http.StatusAccepted, Header: f.reply.Header})
	default:
		f.response.answers(f.reply, f.answers)
	}
}

// begin commits to an event stream, unless a refusal came first. The headers
// go out with the next flush, which follows at once: many clients take them
// for the sign that the stream lives.
func (f *follower) begin() {
	if f.events || !f.reply.Stream.Begin() {
		return
	}
	f.events, f.dirty = true, true
	f.copyHeader(f.reply.Header)
	h := f.w.Header()
	h.Set("Content-Type", typeEvents)
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no") // or nginx holds small events back
	f.w.WriteHeader(http.StatusOK)
}

// event writes one message as one event.
func (f *follower) event(m *mcp.Message) {
	if m == nil {
		return
	}
	f.put(f.text(func(b []byte) []byte { return eventstream.Append(b, "", m) }))
}

// keepAlive writes a comment, so that nobody on the way takes silence for
// death.
func (f *follower) keepAlive() {
	f.begin()
	if f.events {
		f.put([]byte(eventstream.Comment))
		f.flush()
	}
}

func (f *follower) put(b []byte) {
	f.dirty = true
	f.failed = f.failed || f.writeAll(b) != nil
}

func (f *follower) flush() {
	if !f.dirty || f.failed {
		return
	}
	f.dirty = false
	f.allowWrite()
	if err := f.rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		f.failed = true
	}
}
