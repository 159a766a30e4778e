package transports

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// ErrBroken says that a pipe broke while a request was under way: whether the
// server acted on it is not known.
var ErrBroken = errors.New("transports: the pipe to the upstream broke")

// backlogLimit bounds what is kept of a server that speaks before anybody
// listens.
const backlogLimit = 256

// NewPiped returns a conversation over a pipe: answers go to whoever sent the
// request, everything else to whoever listens. It opens the pipe with the
// first message. When the pipe breaks, what was not yet written fails with
// ErrSessionGone, so that a Reset and a new handshake can go on.
func NewPiped(d Dialer) Upstream {
	return &piped{dialer: d, waiting: map[string]*waiter{}}
}

type piped struct {
	dialer Dialer

	opening sync.Mutex // held while a pipe is opened

	mu       sync.Mutex
	conn     Conn
	lost     bool // the pipe broke and was not reset
	closed   bool
	waiting  map[string]*waiter // by the id of the request
	listener *listener
	backlog  []*mcp.Message
	readers  sync.WaitGroup
}

type waiter struct {
	receive func(*mcp.Message)
	done    chan struct{} // closed when the answer was received, or with err set
	err     error
}

type listener struct {
	receive func(*mcp.Message)
	done    chan struct{} // closed when the pipe breaks
}

// Agree implements Upstream: a pipe says nothing about versions.
func (p *piped) Agree(mcp.Version, mcp.Traits) {}

// Send implements Upstream.
func (p *piped) Send(ctx context.Context, m *mcp.Message, o Outgoing) error {
	var once sync.Once
	sent := func() {
		if o.Sent != nil {
			once.Do(o.Sent)
		}
	}
	defer sent()
	conn, err := p.open(ctx)
	if err != nil {
		return err
	}
	if m.Kind != mcp.Request {
		return p.write(ctx, conn, m)
	}
	w := p.await(m.ID, o.Receive)
	defer p.forget(m.ID, w)
	if err := p.write(ctx, conn, m); err != nil {
		return err
	}
	sent()
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// write sends a message. One that could not be written whole was not executed:
// a partial line or frame is no message.
func (p *piped) write(ctx context.Context, conn Conn, m *mcp.Message) error {
	err := conn.Write(ctx, m)
	if err == nil || ctx.Err() != nil {
		return err
	}
	p.broke(conn)
	return ErrSessionGone
}

// open returns the pipe, opening it for the first message.
func (p *piped) open(ctx context.Context) (Conn, error) {
	p.opening.Lock()
	defer p.opening.Unlock()
	p.mu.Lock()
	conn, lost, closed := p.conn, p.lost, p.closed
	p.mu.Unlock()
	switch {
	case closed:
		return nil, fmt.Errorf("transports: opening a pipe: the conversation is closed")
	case conn != nil:
		return conn, nil
	case lost:
		return nil, ErrSessionGone
	}
	conn, err := p.dialer.Dial(ctx)
	if err != nil {
		return nil, &Unreachable{Err: err}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.Join(fmt.Errorf("transports: opening a pipe: the conversation is closed"), conn.Close())
	}
	p.conn = conn
	p.readers.Add(1)
	go p.read(conn)
	return conn, nil
}

func (p *piped) await(id mcp.ID, receive func(*mcp.Message)) *waiter {
	w := &waiter{receive: receive, done: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[id.Key()] = w
	return w
}

func (p *piped) forget(id mcp.ID, w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting[id.Key()] == w {
		delete(p.waiting, id.Key())
	}
}

// read delivers what comes through one pipe, in order, until it breaks.
func (p *piped) read(conn Conn) {
	defer p.readers.Done()
	defer p.broke(conn)
	for {
		frame, err := conn.Read(context.Background())
		if err != nil {
			return
		}
		for _, item := range frame.Items {
			if item.Message != nil {
				p.deliver(item.Message)
			}
		}
	}
}

func (p *piped) deliver(m *mcp.Message) {
	p.mu.Lock()
	if w := p.waiting[m.ID.Key()]; m.IsAnswer() && w != nil {
		delete(p.waiting, m.ID.Key())
		p.mu.Unlock()
		w.receive(m)
		close(w.done)
		return
	}
	l := p.listener
	if l == nil && len(p.backlog) < backlogLimit {
		p.backlog = append(p.backlog, m)
	}
	p.mu.Unlock()
	if l != nil {
		l.receive(m)
	}
}

// broke ends everything that waits for a pipe.
func (p *piped) broke(conn Conn) {
	_ = conn.Close() // it is broken; a second error says no more
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != conn {
		return
	}
	p.conn, p.lost = nil, true
	for key, w := range p.waiting {
		w.err = ErrBroken
		close(w.done)
		delete(p.waiting, key)
	}
	if p.listener != nil {
		close(p.listener.done)
		p.listener = nil
	}
}

// Listen implements Upstream: a pipe always has a stream.
func (p *piped) Listen(ctx context.Context, o Outgoing) error {
	l := &listener{receive: o.Receive, done: make(chan struct{})}
	p.mu.Lock()
	if p.conn == nil {
		p.mu.Unlock()
		return ErrBroken
	}
	p.listener = l
	backlog := p.backlog
	p.backlog = nil
	p.mu.Unlock()
	if o.Open != nil {
		o.Open()
	}
	for _, m := range backlog {
		o.Receive(m)
	}
	select {
	case <-l.done:
		return ErrBroken
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reset implements Upstream: the next message opens a new pipe.
func (p *piped) Reset() {
	p.mu.Lock()
	conn := p.conn
	p.mu.Unlock()
	if conn != nil {
		p.broke(conn)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost, p.backlog = false, nil
}

// Close implements Upstream.
func (p *piped) Close(ctx context.Context) error {
	p.mu.Lock()
	conn := p.conn
	p.closed = true
	p.mu.Unlock()
	if conn == nil {
		return nil
	}
	err := conn.Close()
	p.broke(conn)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.readers.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	return err
}
