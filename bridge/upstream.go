package bridge

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// do performs effects in order, waiting for the server to take each notice
// and answer. It is called from the goroutine of a client's exchange.
func (c *conversation) do(effects []Effect) {
	for _, e := range effects {
		c.perform(e)
	}
	c.arm()
}

// perform does one effect.
func (c *conversation) perform(e Effect) {
	switch {
	case e.Verb == Abort:
		if x := c.exchange(e.Call); x != nil {
			x.cancel()
		}
	case e.Verb == Push:
		c.do(c.Session.Pushed(e, e.On() && c.listen(), time.Now()))
	case e.Msg.Kind == mcp.Request:
		c.launch(e)
	default:
		c.post(e)
	}
}

// post sends a message that is no request. A cancellation goes out after what
// it cancels.
func (c *conversation) post(e Effect) {
	if c.withdraws(e.Msg) {
		return
	}
	if x := c.exchange(e.Call); x != nil && e.Msg.Method == mcp.Cancelled {
		select {
		case <-x.sent:
		case <-x.done:
		}
	}
	if err := c.tell(e.Msg); err != nil {
		c.failedNotice(e.Msg, err)
	}
}

// noticeTimeout bounds how long a server may take to accept what needs no
// answer.
const noticeTimeout = 30 * time.Second

func (c *conversation) tell(m *mcp.Message) error {
	if m.Header == nil {
		m.Header = c.headers.get()
	}
	ctx, cancel := context.WithTimeout(c.ctx, noticeTimeout)
	defer cancel()
	return c.wire.Send(ctx, m, transports.Outgoing{Receive: func(r *mcp.Message) { c.receive(r, 0) }})
}

func (c *conversation) failedNotice(m *mcp.Message, err error) {
	if c.ctx.Err() != nil {
		return
	}
	c.bridge.Observer.Failed(mcp.Server, reasonOf(err))
	c.bridge.Log.Warn().Err(err).Str("message", m.String()).Msg("the upstream did not take a message")
}

func (c *conversation) exchange(key mcp.CallKey) *Exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exchanges[key]
}

// launch starts the exchange of a request with the server. Its goroutine
// reads the server's stream for as long as that is open.
func (c *conversation) launch(e Effect) {
	m := e.Msg
	x := &Exchange{Key: m.Call, own: time.Since(e.since), sent: make(chan struct{}), heard: make(chan struct{}), done: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	x.ctx, x.cancel = context.WithCancel(c.ctx)
	x.ticket = c.queue(m)
	x.laned = x.ticket != nil
	c.exchanges[m.Call] = x
	c.work.Add(1)
	go c.run(x, m)
}

func (c *conversation) run(x *Exchange, m *mcp.Message) {
	defer c.work.Done()
	if m.Header == nil {
		m.Header = c.headers.get()
	}
	err := c.request(x, m)
	if x.ticket != nil { // it was not even tried
		x.ticket.leave(true)
	}
	c.mu.Lock()
	delete(c.exchanges, x.Key)
	c.mu.Unlock()
	x.cancel()
	close(x.done)
	c.touch()
	if c.link.owes(m.ID) { // the answer may have come on another stream, and the call may be cancelled
		c.failed(x.Key, m, err)
	}
}

// errSilent says that the server sent nothing for too long.
var errSilent = errors.New("the upstream did not answer in time")

// request sends the request and delivers what comes back. A request that the
// server provably did not execute, because it had lost the session, is sent
// once more in a new one.
func (c *conversation) request(x *Exchange, m *mcp.Message) error {
	generation, lost := c.revival.now()
	if !lost {
		if err := c.attempt(x, m); !errors.Is(err, transports.ErrSessionGone) {
			return err
		}
	}
	if err := c.revive(generation); err != nil {
		return err
	}
	return c.attempt(x, m)
}

// carry is one attempt to do so.
func (c *conversation) carry(x *Exchange, m *mcp.Message) error {
	ctx, cancel := context.WithCancelCause(x.ctx)
	silence := time.AfterFunc(c.requestTimeout(), func() { cancel(errSilent) })
	defer silence.Stop()
	defer cancel(nil)
	turned := false
	if m.Method == mcp.Listen { // it lasts, and may be silent for long
		silence.Stop()
	}
	if x.asking != nil {
		x.asking(func(q *mcp.Message) {
			silence.Stop()
			defer c.stillThere(m, silence)
			c.hear(q, x.Key) // without waiting for the client: others share the pipe
		})
	}
	err := c.wire.Send(ctx, m, transports.Outgoing{
		Sent: func() { closeOnce(x.sent) }, // again after a retry
		Receive: func(r *mcp.Message) {
			c.respell(r)
			silence.Stop() // while the client takes its time
			defer c.stillThere(m, silence)
			if !r.IsAnswer() || !r.ID.Equal(m.ID) {
				c.receive(r, x.Key)
			} else if turned = c.turned(r); !turned {
				c.answered(x, m, r)
			}
		},
	})
	switch {
	case turned:
		return &stateLost{what: lostEra}
	case context.Cause(ctx) == errSilent:
		return errSilent
	case err == nil:
		return transports.ErrNoAnswer // of a call that has none yet
	}
	return err
}

// answered takes the answer to a request.
func (c *conversation) answered(x *Exchange, m, r *mcp.Message) {
	began := time.Now()
	c.kept.note(m, r)
	full := c.hear(r, x.Key)
	closeOnce(x.heard)
	c.bridge.Observer.Worked(m.Method, x.own+time.Since(began))
	c.await(full)
}

// closeOnce closes a channel that one goroutine closes, maybe again.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// receive takes a message of the server. It waits while the stream that the
// message goes to is full, so that the server's stream is not read meanwhile.
func (c *conversation) receive(m *mcp.Message, via mcp.CallKey) {
	c.respell(m)
	c.await(c.hear(m, via))
}

// On a pipe that others share nobody waits: see Session.overflows.
func (c *conversation) await(s *transports.Stream) {
	if s != nil && c.bridge.shared == nil {
		s.Wait(c.ctx)
	}
}

// hear hands a message of the server to the session, and returns the stream
// that it went to.
func (c *conversation) hear(m *mcp.Message, via mcp.CallKey) *transports.Stream {
	effects, stream := c.Session.Hear(m, via, time.Now())
	c.bridge.health.answered(time.Now())
	if len(effects) > 0 {
		c.reply(effects)
	} else {
		c.arm()
	}
	return stream
}

// replyLimit is how many replies to its server a conversation has under way.
const replyLimit = 16

// reply performs what a message of the server led to. The reader of that
// message does not wait for it, unless too much is under way already.
func (c *conversation) reply(effects []Effect) {
	select {
	case c.replies <- struct{}{}:
	case <-c.ctx.Done():
		return
	}
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		defer func() { <-c.replies }()
		c.do(effects)
	}()
}

// failed answers the client for an exchange that brought no answer. What the
// client must act on itself, to authenticate or to open a new session, it is
// told as it was said, if its headers are not out yet.
func (c *conversation) failed(key mcp.CallKey, m *mcp.Message, err error) {
	b := c.bridge
	b.Observer.Failed(mcp.Server, reasonOf(err))
	b.reached(err)
	b.Log.Warn().Err(err).Str("message", m.String()).Str("upstream", b.Upstream).Msg("a request failed upstream")
	stream := c.Session.Stream(key)
	var lost *stateLost
	var refusal *mcp.Refusal
	var unreachable *transports.Unreachable
	switch {
	case errors.As(err, &lost):
		if !c.move(key, m) {
			c.lose()
		}
		return
	case errors.As(err, &unreachable) && c.divert(key, m):
		return
	case c.gone(err) && c.Session.Cut(key, time.Now()):
		return
	case errors.As(err, &refusal) && b.forTheClient(refusal) && stream != nil:
		stream.Refuse(relay(refusal))
	}
	out := refusal != nil && c.doubt(refusal) // before the client hears, and asks again
	c.do(c.Session.Fail(key, c.explain(err), time.Now()))
	if out {
		c.wane()
	}
	if errors.Is(err, errSilent) { // only now: a silent server may not take this either
		c.giveUp(m)
	}
}

// gone reports whether a stateless server left its answer unfinished, for a
// client that would wait for it in a stream of its own.
func (c *conversation) gone(err error) bool {
	var refusal *mcp.Refusal
	var unreachable *transports.Unreachable
	return c.stateless && c.standsAlone() && !errors.Is(err, errSilent) && !errors.As(err, &refusal) && !errors.As(err, &unreachable)
}

// giveUp tells the server that nobody waits for a request any more.
func (c *conversation) giveUp(m *mcp.Message) {
	params := mcp.NewObject()
	params.Set("requestId", m.ID.Raw())
	params.Set("reason", mcp.Quote("timeout"))
	if err := c.tell(mcp.NewNotification(mcp.Cancelled, params)); err != nil {
		c.failedNotice(m, err)
	}
}

func asksToAuthenticate(r *mcp.Refusal) bool {
	return r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden
}

// forTheClient reports an answer that its HTTP client can act on: it must
// authenticate, if it is the client's credentials that the server sees, or come
// back later.
func (b *Bridge) forTheClient(r *mcp.Refusal) bool {
	later := r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable
	return asksToAuthenticate(r) && b.Credentials == mcp.CredentialsForward || later && r.Header.Get("Retry-After") != ""
}

// relay passes on what an HTTP client needs for that.
func relay(r *mcp.Refusal) transports.Reply {
	h := http.Header{}
	for _, name := range []string{"Www-Authenticate", "Retry-After"} {
		if v := r.Header.Values(name); len(v) > 0 {
			h[name] = v
		}
	}
	return transports.Reply{
		Status: r.Status, Header: h,
		Message: mcp.Errorf(mcp.CodeInternal, "the upstream answered HTTP status %d %s", r.Status, http.StatusText(r.Status)).Failure(mcp.ID{}),
	}
}

// stillThere starts the silence of a request anew.
func (c *conversation) stillThere(m *mcp.Message, silence *time.Timer) {
	if m.Method != mcp.Listen {
		silence.Reset(c.requestTimeout())
	}
}
