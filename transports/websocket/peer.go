package websocket

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// peer is one client. The goroutine of its request reads, another hands to
// the host what was read, a third writes: so pings are answered and its
// leaving is seen while the host is at work.
type peer struct {
	limited func(limit string)
	stream  *transports.Stream
	owed    *transports.Owed
	inbox   *inbox
	leaving chan struct{} // closed when the server is to end

	expired atomic.Bool // why it leaves

	once   sync.Once // closes leaving
	mu     sync.Mutex
	socket *socket // nil before the handshake
}

func newPeer(c ServerConfig) *peer {
	return &peer{
		limited: c.Limited, owed: transports.NewOwed(),
		stream: transports.Room{Messages: c.StreamMessages, Bytes: c.StreamBytes, Waited: c.Limited}.NewStream(),
		inbox:  newInbox(), leaving: make(chan struct{}),
	}
}

// serve lets the host serve the client until either leaves.
func (p *peer) serve(socket *socket, host transports.PipeHost, r *http.Request) {
	p.open(socket)
	// The request is over as far as HTTP goes, whoever cancels it.
	ctx, left := context.WithCancel(context.WithoutCancel(r.Context()))
	defer left()
	p.stream.Begin() // there is no status any more that could refuse
	speaker := transports.SpeakerOf(r.Context())
	defer p.expire(speaker)()
	session := host.Attach(&transports.Pipe{Header: r.Header, Remote: web.ClientAddress(r), Transport: Name, Stream: p.stream, Speaker: speaker})
	var working sync.WaitGroup
	working.Go(func() { p.write(ctx) })
	working.Go(func() { p.take(ctx, session) })
	err := p.read()
	var large *tooLarge
	if errors.As(err, &large) {
		p.limited(mcp.LimitBody)
	}
	left()
	p.inbox.close()
	session.Close()
	p.socket.finish(err)
	working.Wait()
}

// expire ends the connection when the proof of who opened it runs out: a
// socket has no way to bring another.
func (p *peer) expire(s *transports.Speaker) (stop func()) {
	if s == nil || s.Until.IsZero() {
		return func() {}
	}
	t := time.AfterFunc(time.Until(s.Until), func() {
		p.expired.Store(true)
		p.leave()
	})
	return func() { t.Stop() }
}

func (p *peer) open(socket *socket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.socket = socket
}

// read reads until the connection ends.
func (p *peer) read() error {
	for {
		h, err := p.socket.next()
		if err != nil {
			return err
		}
		p.inbox.put(h)
	}
}

// take hands what was read to the host, one after the other. A client that
// does not read what it is sent is not listened to either.
func (p *peer) take(ctx context.Context, session transports.PipeSession) {
	for {
		h, ok := p.inbox.take()
		if !ok {
			return
		}
		if p.expired.Load() { // what was asked for in time is still answered
			continue
		}
		added := p.owed.Add(h.frame)
		reply := session.Take(ctx, h.frame, h.fault)
		if m := reply.Explain(h.frame); m != nil {
			p.stream.Push(m)
		} else if reply.Status != http.StatusAccepted {
			p.owed.Forget(added)
		}
		p.stream.Wait(ctx)
	}
}

// write writes what the host sends until it ends the stream, the server is to
// end or the client left.
func (p *peer) write(ctx context.Context) {
	defer p.stream.Abandon()
	ping := time.NewTicker(p.socket.timing.Ping)
	defer ping.Stop()
	w := writer{peer: p}
	leaving, settled := p.leaving, (<-chan struct{})(nil)
	for !w.drain() {
		select {
		case <-p.stream.Ready():
		case <-ping.C:
			w.ping()
		case <-leaving:
			leaving, settled = nil, p.owed.None()
		case <-settled:
			w.stop = true
		case <-ctx.Done():
			return
		}
	}
}

// leave ends the connection after the last answer that is owed.
func (p *peer) leave() { p.once.Do(func() { close(p.leaving) }) }

// drop ends the connection at once.
func (p *peer) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.socket != nil {
		p.socket.drop()
	}
}
