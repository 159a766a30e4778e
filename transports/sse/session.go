package sse

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// session is one event stream and what is posted for it.
type session struct {
	ctx     context.Context // ends with the stream
	pipe    *transports.Pipe
	host    transports.PipeSession
	jobs    chan *job
	owed    *transports.Owed
	leaving atomic.Bool
}

func newSession(ctx context.Context, pipe *transports.Pipe) *session {
	return &session{ctx: ctx, pipe: pipe, jobs: make(chan *job), owed: transports.NewOwed()}
}

// job is one POST on its way to the host.
type job struct {
	frame *mcp.Frame
	fault *mcp.Fault
	reply chan transports.Reply // has room for the one reply
	// settled is set by the host's reply or by the end of the POST's patience,
	// whichever comes first.
	settled atomic.Bool
}

// work hands what is posted to the host, one after the other: the next may
// come when the host has taken the last. It lives as long as the stream and
// not as the POST, whose client may leave: a handshake goes on without it.
func (c *session) work() {
	for {
		select {
		case j := <-c.jobs:
			c.answer(j, c.take(j))
		case <-c.ctx.Done():
			return
		}
	}
}

// answer answers a POST. A request that is refused is answered on the stream,
// as every request is: clients take a status that refuses for the end of the
// whole connection, so it is left for what they must act on before they go on,
// credentials, and for what is no request. After the end of its patience a
// POST has been accepted, and the stream is all there is.
func (c *session) answer(j *job, r transports.Reply) {
	late := !j.settled.CompareAndSwap(false, true)
	if late || isRequest(j.frame) && r.Message != nil && !asksToAuthenticate(r.Status) {
		if m := r.Explain(j.frame); m != nil {
			c.pipe.Stream.Push(m)
			r = transports.Reply{Status: http.StatusAccepted}
		}
	}
	j.reply <- r // nobody reads a late one
	c.part()
}

func isRequest(f *mcp.Frame) bool {
	if f == nil || f.Batch || len(f.Items) != 1 {
		return false
	}
	m := f.Items[0].Message
	return m != nil && m.Kind == mcp.Request
}

func asksToAuthenticate(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

func (c *session) take(j *job) transports.Reply {
	added := c.owed.Add(j.frame)
	reply := c.host.Take(c.ctx, j.frame, j.fault)
	if reply.Status != http.StatusAccepted {
		c.owed.Forget(added)
	}
	return reply
}

// paid notes a message that was written to the client.
func (c *session) paid(m *mcp.Message) {
	if m != nil {
		c.owed.Paid(m)
		c.part()
	}
}

// leave ends the stream after the last answer that is owed.
func (c *session) leave() {
	c.leaving.Store(true)
	c.part()
}

// part ends the stream of a session that is to leave and owes nothing.
func (c *session) part() {
	if !c.leaving.Load() {
		return
	}
	select {
	case <-c.owed.None():
		c.pipe.Stream.End()
	default:
	}
}
