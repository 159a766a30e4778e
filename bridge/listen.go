package bridge

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

const (
	// listenWait is how long the first message to a server waits for its
	// standalone stream: some servers drop what they cannot send there.
	listenWait = 500 * time.Millisecond

	reconnectMin = time.Second
	reconnectMax = 30 * time.Second
)

// listen opens the server's standalone stream in the background and reports
// whether it is there, or may still come.
func (c *conversation) listen() bool {
	c.mu.Lock()
	if c.ended || c.listening != nil {
		l := c.listening
		c.mu.Unlock()
		return l != nil && !l.refused()
	}
	l := &listener{open: make(chan struct{})}
	l.ctx, l.replace = context.WithCancel(c.ctx)
	c.listening = l
	c.work.Add(1)
	c.mu.Unlock()
	go c.keepListening(l)
	timer := time.NewTimer(listenWait)
	defer timer.Stop()
	select {
	case <-l.open:
	case <-timer.C:
	case <-c.ctx.Done():
	}
	return !l.refused()
}

// listener is one attempt to have a standalone stream, reconnects included.
type listener struct {
	ctx     context.Context // ends with the conversation, or when another takes its place
	replace context.CancelFunc

	once sync.Once
	open chan struct{} // closed when the stream is there or is known not to be
	mu   sync.Mutex
	none bool
}

func (l *listener) settle(none bool) {
	l.mu.Lock()
	l.none = l.none || none
	l.mu.Unlock()
	l.once.Do(func() { close(l.open) })
}

func (l *listener) refused() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.none
}

// keepListening reads the server's standalone stream and opens it again when
// it ends, with growing pauses while it brings nothing.
func (c *conversation) keepListening(l *listener) {
	defer c.work.Done()
	defer l.replace()
	defer l.settle(false)
	pause, opened, conflicts := reconnectMin, false, 0
	for l.ctx.Err() == nil {
		err := c.wire.Listen(l.ctx, transports.Outgoing{
			Open: func() {
				opened = true
				c.bridge.pushless.Store(false)
				l.settle(false)
			},
			Receive: func(m *mcp.Message) {
				pause = reconnectMin
				c.receive(m, 0)
			},
		})
		if l.ctx.Err() != nil {
			return
		}
		if errors.Is(err, transports.ErrNoStream) {
			if opened { // it has streams: what it lacks may be the session
				c.recheck(l.ctx)
			} else {
				c.bridge.pushless.Store(true)
			}
			l.settle(true)
			return
		}
		if err != nil {
			c.bridge.Log.Debug().Err(err).Msg("the upstream's standalone stream ended")
		}
		if opened { // else it may be that there is none for anybody
			conflicts = c.conflict(l.ctx, err, conflicts)
		}
		if !pauseFor(l.ctx, pause) {
			return
		}
		pause = min(2*pause, reconnectMax)
	}
}

// maxConflicts is how often a server may say that a session's standalone stream
// is taken. It takes a stream that broke on the way for alive, and may do so for
// ever.
const maxConflicts = 3

// conflict counts the refusals for a stream that is taken. Of too many in a row it
// ends the session, once no call is under way there, and opens a new one. A server
// that lets nobody end sessions is only asked again.
func (c *conversation) conflict(ctx context.Context, err error, before int) int {
	var refusal *mcp.Refusal
	if !errors.As(err, &refusal) || refusal.Status != http.StatusConflict {
		return 0
	}
	e, ok := c.wire.(transports.Ender)
	if before+1 < maxConflicts || !ok || c.link.Busy() > 0 {
		return before + 1
	}
	ending, cancel := context.WithTimeout(ctx, noticeTimeout)
	defer cancel()
	if err := e.End(ending); err != nil {
		c.bridge.Log.Debug().Err(err).Msg("ending an upstream session whose standalone stream is taken")
	}
	c.recheck(ctx)
	return 0
}

// relisten opens the standalone stream of a new upstream session.
func (c *conversation) relisten() {
	c.mu.Lock()
	if c.listening != nil {
		c.listening.replace()
		c.listening = nil
	}
	c.mu.Unlock()
	c.listen()
}

func pauseFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
