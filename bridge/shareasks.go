package bridge

import (
	"context"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// declared is what the server may ask for. Who lacks it is answered for by the
// operator's policy. No client's roots are those of all, so they never change.
func (s *share) declared() *mcp.Object {
	if s.lane == nil {
		return mcp.NewObject()
	}
	return mcp.MustObject(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`)
}

// settleTime bounds the wait for what a server does once the handshake is
// complete.
const settleTime = 2 * time.Second

// hearOut begins to listen. Many servers ask for roots as soon as the handshake
// is complete: that belongs to no call, so none is let in before it came. A
// server that answers a ping has read what was sent before.
func (s *share) hearOut(ctx context.Context, helper *conversation) {
	there := make(chan struct{})
	go s.listen(sync.OnceFunc(func() { close(there) }))
	if s.lane == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	select {
	case <-there:
		_, _, _ = helper.ask(ctx, mcp.NewRequest(mcp.Ping, nil), false) // one that answers none is not waited for
	case <-ctx.Done():
	}
}

// forNobody answers a question that belongs to no call of a client who could
// be asked, by the operator's policy for clients that cannot.
func (s *share) forNobody(m *mcp.Message) *mcp.Message {
	action := s.bridge.Options.FallbackFor("").Action
	if m.Method != mcp.Elicit || action == mcp.FallbackError {
		s.bridge.Observer.FellBack("shared", string(mcp.FallbackError))
		return m.Refuse(mcp.Errorf(mcp.CodeMethodNotFound, "many clients share this server: it is not clear which of them this is for"))
	}
	s.bridge.Observer.FellBack("shared", string(action))
	if action == mcp.FallbackDecline {
		return m.Answer(mcp.MustObject(`{"action":"decline"}`))
	}
	return m.Answer(mcp.MustObject(`{"action":"cancel"}`))
}

// abandoned answers a question whose client has left.
func abandoned(m *mcp.Message) *mcp.Message {
	if m.Method == mcp.Elicit {
		return m.Answer(mcp.MustObject(`{"action":"cancel"}`))
	}
	return m.Refuse(mcp.Errorf(mcp.CodeInternal, "the client that was asked has left"))
}
