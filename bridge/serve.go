package bridge

import (
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/transports"
)

// serve hands the messages of one POST to the session, in order, and returns
// the stream of their answers.
func (c *conversation) serve(x *transports.Exchange, in negotiate.Intake) transports.Reply {
	header := c.headers.keep(x.Header, c.bridge)
	stream := c.bridge.newStream()
	turn := NewTurn(stream, x.Events)
	c.Session.Hold(turn)
	asks := false
	for _, m := range in.Messages {
		m.Header = header
		asks = asks || m.Kind == mcp.Request
		c.take(m, turn, x.Frame.Batch)
	}
	for _, e := range in.Errors {
		stream.Push(e)
	}
	c.Session.Release(turn)
	if !asks && len(in.Errors) == 0 {
		return transports.Reply{Status: http.StatusAccepted}
	}
	reply := transports.Reply{Status: http.StatusOK, Stream: stream, Batch: x.Frame.Batch}
	c.mayComeBack(&reply)
	return reply
}

// take hands one message to the session. The server hears that the handshake
// is complete before anything else, even from a client whose messages overtake
// each other, and hears it once.
func (c *conversation) take(m *mcp.Message, turn *Turn, batched bool) {
	if m.Kind == mcp.Notification && m.Method == mcp.Initialized {
		c.bridge.Observer.Received(mcp.Client, m.Kind, m.Method)
		c.complete()
		return
	}
	if m.Kind != mcp.Request || m.Method != mcp.Ping {
		c.complete()
	}
	key, effects := c.Session.FromClient(m, turn, time.Now())
	if key == 0 && m.Kind == mcp.Request {
		c.tooLate(m, turn)
		return
	}
	c.do(effects)
	if batched && m.Kind == mcp.Request {
		c.inTurn(key, m.Method)
	}
}

// tooLate answers a request whose session ended while it came in.
func (c *conversation) tooLate(m *mcp.Message, turn *Turn) {
	if turn.shared || !turn.Stream.Refuse(c.bridge.gone()) {
		turn.Stream.Push(mcp.Errorf(mcp.CodeInvalidRequest, "the session has ended").Failure(m.ID))
	}
}

// inTurn waits until the next message of a batch may be sent: messages must
// reach the server in the order of the batch.
func (c *conversation) inTurn(key mcp.CallKey, method string) {
	x := c.exchange(key)
	if x == nil || x.laned { // its place in the queue is its turn
		return
	}
	until := x.sent
	switch method {
	case mcp.SetLevel, mcp.ResourcesSubscribe, mcp.ResourcesUnsubscribe:
		until = x.heard // not done: its stream may be full until all is dispatched
	}
	select {
	case <-until:
	case <-x.done:
	}
}

// complete tells the server that the handshake is complete and opens its
// standalone stream, once; concurrent callers wait for it.
func (c *conversation) complete() {
	c.start.Do(func() {
		if c.stateless { // nothing to announce; a stage may want to listen
			if !c.routed() { // what is no answer does not come with one, but on its own
				c.listen()
			}
			c.do(c.Session.Opened(time.Now()))
		} else {
			c.announce()
		}
		c.do(c.Session.Ready(time.Now()))
	})
}

// announce sends notifications/initialized and begins to listen.
func (c *conversation) announce() {
	m := mcp.NewNotification(mcp.Initialized, nil)
	m.Header = c.headers.get()
	c.bridge.Observer.Sent(mcp.Server, m.Kind, m.Method)
	if err := c.tell(m); err != nil {
		c.failedNotice(m, err)
	}
	c.listen()
}
