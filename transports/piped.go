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

// Why the bridge itself ends a pipe.
var (
	errReset  = errors.New("transports: the conversation begins anew")
	errClosed = errors.New("transports: the conversation is closed")
)

// backlogLimit bounds what is kept of a server that speaks before anybody
// listens.
const backlogLimit = 256

// NewPiped returns a conversation over a pipe: answers go to whoever sent the
// request, everything else to whoever listens. It opens the pipe with the
// first message. When the pipe breaks, what was not yet written fails with
// ErrSessionGone, so that a Reset and a new handshake can go on. Only a
// handshake opens the next pipe: its other end knows nothing of the last one.
func NewPiped(d Dialer) Upstream {
	return newPiped(d)
}

// NewPipedOver returns what NewPiped does, with a pipe that is open already.
func NewPipedOver(conn Conn, d Dialer) Upstream {
	p := newPiped(d)
	p.attach(conn)
	return p
}

func newPiped(d Dialer) *piped { return &piped{dialer: d, waiting: map[string]*waiter{}} }

type piped struct {
	dialer Dialer

	opening sync.Mutex // held while a pipe is opened

	mu       sync.Mutex
	conn     Conn
	used     bool // there was a pipe before
	closed   bool
	waiting  map[string]*waiter // by the id of the request
	listener *listener
	backlog  []*mcp.Message
	readers  sync.WaitGroup
}

// Agree implements Upstream.
func (p *piped) Agree(v mcp.Version, t mcp.Traits) {
	p.mu.Lock()
	conn := p.conn
	p.mu.Unlock()
	if a, ok := conn.(Agreer); ok {
		a.Agree(v, t)
	}
}

// Send implements Upstream.
func (p *piped) Send(ctx context.Context, m *mcp.Message, o Outgoing) error {
	var once sync.Once
	sent := func() {
		if o.Sent != nil {
			once.Do(o.Sent)
		}
	}
	defer sent()
	conn, err := p.open(ctx, m)
	if err != nil {
		return err
	}
	if m.Kind != mcp.Request {
		return p.write(ctx, conn, m)
	}
	w := &waiter{receive: o.Receive, sent: sent, done: make(chan struct{})}
	if !p.await(conn, m.ID, w) {
		return ErrSessionGone
	}
	if err = p.write(ctx, conn, m); err == nil {
		sent()
		err = w.wait(ctx)
	}
	if !p.forget(m.ID, w) {
		if <-w.done; w.err == nil { // an answer may overtake the end of the writing
			return nil
		}
	}
	if ctx.Err() != nil && opens(m) { // what has no handshake is no session
		p.broke(conn, context.Cause(ctx))
	}
	return err
}

// opens reports whether a message begins a conversation.
func opens(m *mcp.Message) bool {
	return m.Kind == mcp.Request && (m.Method == mcp.Initialize || m.Method == mcp.Discover)
}

// write sends a message. One that could not be written whole was not executed:
// a partial line or frame is no message. Where messages travel one by one, an
// error may concern this one alone.
func (p *piped) write(ctx context.Context, conn Conn, m *mcp.Message) error {
	err := conn.Write(ctx, m)
	var refusal *mcp.Refusal
	var unreachable *Unreachable
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &refusal), errors.As(err, &unreachable), errors.Is(err, ErrBroken):
		return err
	}
	p.broke(conn, err)
	return ErrSessionGone
}

// open returns the pipe, opening it for the first message.
func (p *piped) open(ctx context.Context, m *mcp.Message) (Conn, error) {
	p.opening.Lock()
	defer p.opening.Unlock()
	p.mu.Lock()
	conn, used, closed := p.conn, p.used, p.closed
	p.mu.Unlock()
	switch {
	case closed:
		return nil, errClosed
	case conn != nil:
		return conn, nil
	case used && !opens(m):
		return nil, ErrSessionGone
	}
	conn, err := p.dial(ctx, m)
	if err != nil {
		return nil, err
	}
	if !p.attach(conn) {
		return nil, errors.Join(errClosed, conn.Close())
	}
	return conn, nil
}

// dial opens a pipe for its first message.
func (p *piped) dial(ctx context.Context, m *mcp.Message) (conn Conn, err error) {
	if d, ok := p.dialer.(HeaderDialer); ok {
		conn, err = d.DialWith(ctx, m.Header)
	} else {
		conn, err = p.dialer.Dial(ctx)
	}
	var refusal *mcp.Refusal
	if err == nil || errors.As(err, &refusal) {
		return conn, err
	}
	return nil, &Unreachable{Err: err}
}

// attach begins to read a pipe; false when the conversation is closed.
func (p *piped) attach(conn Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.conn, p.used = conn, true
	p.readers.Add(1)
	go p.read(conn)
	return true
}

// read delivers what comes through one pipe, in order, until it breaks.
func (p *piped) read(conn Conn) {
	defer p.readers.Done()
	for {
		frame, err := conn.Read(context.Background())
		if err != nil {
			p.broke(conn, err)
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
	key := m.ID.Key()
	if p.waiting[key] == nil {
		key = m.ID.Unquoted().Key()
	}
	if w := p.waiting[key]; m.IsAnswer() && w != nil {
		delete(p.waiting, key)
		w.taken = true
		p.mu.Unlock()
		w.sent()
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
		l.take(m)
	}
}

// broke ends everything that waits for a pipe. The cause is for logs.
func (p *piped) broke(conn Conn, cause error) {
	_ = conn.Close() // it is broken; a second error says no more
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != conn {
		return
	}
	p.conn = nil
	for key, w := range p.waiting {
		w.taken, w.err = true, fmt.Errorf("%w: %w", ErrBroken, cause)
		close(w.done)
		delete(p.waiting, key)
	}
	p.dismiss()
}

// Reset implements Upstream: the next message opens a new pipe.
func (p *piped) Reset() {
	p.mu.Lock()
	conn := p.conn
	p.mu.Unlock()
	if conn != nil {
		p.broke(conn, errReset)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.backlog = nil
}

// Close implements Upstream.
func (p *piped) Close(ctx context.Context) error {
	p.mu.Lock()
	conn := p.conn
	p.closed = true
	if conn == nil {
		p.dismiss()
	}
	p.mu.Unlock()
	if conn == nil {
		return nil
	}
	err := conn.Close()
	p.broke(conn, errClosed)
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
