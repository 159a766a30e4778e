package transports

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// line is a Conn between a test and the conversation under test.
type line struct {
	in     chan *mcp.Frame
	closed chan struct{}
	write  func(*mcp.Message) error // nil takes everything
	agreed mcp.Version
	header http.Header
}

func newLine() *line { return &line{in: make(chan *mcp.Frame), closed: make(chan struct{})} }

func (l *line) Read(context.Context) (*mcp.Frame, error) {
	select {
	case f := <-l.in:
		return f, nil
	case <-l.closed:
		return nil, errors.New("closed")
	}
}

func (l *line) Write(_ context.Context, m *mcp.Message) error {
	if l.write == nil {
		return nil
	}
	return l.write(m)
}

func (l *line) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

func (l *line) Agree(v mcp.Version, _ mcp.Traits) { l.agreed = v }

// says lets the other end send a message.
func (l *line) says(m *mcp.Message) { l.in <- &mcp.Frame{Items: []mcp.Item{{Message: m}}} }

func (l *line) Dial(ctx context.Context) (Conn, error) { return l.DialWith(ctx, nil) }

func (l *line) DialWith(_ context.Context, h http.Header) (Conn, error) {
	l.header = h
	return l, nil
}

// refuser is a Dialer that fails.
type refuser struct{ err error }

func (r refuser) Dial(context.Context) (Conn, error) { return nil, r.err }

func question(id int64) *mcp.Message {
	m := mcp.NewRequest(mcp.Ping, nil)
	m.ID = mcp.IntID(id)
	return m
}

// TestListenBeforeThePipe holds that a listener may come first, and hears
// everything in order.
func TestListenBeforeThePipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine()
		u := NewPiped(l)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var heard []int
		ended := make(chan error, 1)
		go func() {
			ended <- u.Listen(ctx, Outgoing{Receive: func(m *mcp.Message) { heard = append(heard, m.Size()) }})
		}()
		synctest.Wait()
		if err := u.Send(ctx, note(1), Outgoing{}); err != nil {
			t.Fatal(err)
		}
		for n := range backlogLimit + 10 {
			l.says(note(n))
		}
		synctest.Wait()
		if len(heard) != backlogLimit+10 || heard[0] != note(0).Size() {
			t.Errorf("heard %d messages", len(heard))
		}
		if err := u.Close(ctx); err != nil || !errors.Is(<-ended, ErrBroken) {
			t.Errorf("closing: %v", err)
		}
		if err := u.Listen(ctx, Outgoing{}); !errors.Is(err, ErrBroken) {
			t.Errorf("listening to a closed conversation: %v", err)
		}
	})
}

// TestListenCatchesUp has a listener that is slow with what was kept for it
// while more comes.
func TestListenCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine()
		u := NewPiped(l)
		if err := u.Send(t.Context(), note(1), Outgoing{}); err != nil {
			t.Fatal(err)
		}
		l.says(note(10))
		l.says(note(11))
		synctest.Wait()
		var heard []int
		hold := make(chan struct{})
		opened := false
		go func() {
			_ = u.Listen(t.Context(), Outgoing{Open: func() { opened = true }, Receive: func(m *mcp.Message) {
				<-hold
				heard = append(heard, m.Size()-note(0).Size())
			}})
		}()
		synctest.Wait()
		go l.says(note(12))
		synctest.Wait()
		if !opened || len(heard) != 0 {
			t.Errorf("%v %v", opened, heard)
		}
		close(hold)
		if synctest.Wait(); len(heard) != 3 || heard[0] != 10 || heard[1] != 11 || heard[2] != 12 {
			t.Errorf("heard %v", heard)
		}
		_ = u.Close(t.Context())
	})
}

func TestListenerIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine()
		u := NewPipedOver(l, l)
		var first, second int
		ended := make(chan error, 1)
		go func() { ended <- u.Listen(t.Context(), Outgoing{Receive: func(*mcp.Message) { first++ }}) }()
		synctest.Wait()
		l.says(note(1))
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = u.Listen(ctx, Outgoing{Receive: func(*mcp.Message) { second++ }}) }()
		if err := <-ended; !errors.Is(err, ErrBroken) {
			t.Errorf("%v", err)
		}
		l.says(note(1))
		synctest.Wait()
		cancel()
		synctest.Wait()
		l.says(note(1)) // kept for the next
		if synctest.Wait(); first != 1 || second != 1 {
			t.Errorf("%d %d", first, second)
		}
		_ = u.Close(t.Context())
	})
}

// TestErrorsOfOneMessage leave the pipe as it is; others break it.
func TestErrorsOfOneMessage(t *testing.T) {
	for _, one := range []error{&mcp.Refusal{Status: 403}, &Unreachable{Err: errors.New("x")}, ErrBroken} {
		l := newLine()
		l.write = func(*mcp.Message) error { return one }
		u := NewPipedOver(l, l)
		if err := u.Send(t.Context(), question(1), Outgoing{}); !errors.Is(err, one) {
			t.Errorf("%v became %v", one, err)
		}
		l.write = nil
		if err := u.Send(t.Context(), note(1), Outgoing{}); err != nil {
			t.Errorf("after %v: %v", one, err)
		}
		l.write = func(*mcp.Message) error { return errors.New("half a line") }
		for range 2 {
			if err := u.Send(t.Context(), question(1), Outgoing{}); !errors.Is(err, ErrSessionGone) {
				t.Errorf("%v", err)
			}
		}
		_ = u.Close(t.Context())
	}
}

// TestAnswerBeforeTheEndOfWriting has an answer that overtakes: it counts,
// whatever becomes of the writing, and nobody hears it before Sent.
func TestAnswerBeforeTheEndOfWriting(t *testing.T) {
	for _, failure := range []error{nil, ErrBroken, &mcp.Refusal{Status: 500}} {
		synctest.Test(t, func(t *testing.T) {
			l := newLine()
			l.write = func(m *mcp.Message) error {
				l.says(m.Answer(mcp.NewObject()))
				synctest.Wait()
				return failure
			}
			u := NewPipedOver(l, l)
			sent, received := 0, 0
			err := u.Send(t.Context(), question(1), Outgoing{Sent: func() { sent++ }, Receive: func(*mcp.Message) {
				if received++; sent != 1 {
					t.Error("an answer came before Sent")
				}
			}})
			if err != nil || sent != 1 || received != 1 {
				t.Errorf("%v: %v, sent %d, received %d", failure, err, sent, received)
			}
			_ = u.Close(t.Context())
		})
	}
}

func TestDialing(t *testing.T) {
	refused := &mcp.Refusal{Status: 401}
	if err := NewPiped(refuser{refused}).Send(t.Context(), question(1), Outgoing{}); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
	var unreachable *Unreachable
	if err := NewPiped(refuser{errors.New("x")}).Send(t.Context(), question(1), Outgoing{}); !errors.As(err, &unreachable) {
		t.Errorf("%v", err)
	}
	l := newLine()
	u := NewPiped(l)
	u.Agree("v0", mcp.Traits{}) // there is nobody who could be told
	m := note(1)
	m.Header = http.Header{"X-Own": {"1"}}
	if err := u.Send(t.Context(), m, Outgoing{}); err != nil || l.header.Get("X-Own") != "1" {
		t.Errorf("%v %v", err, l.header)
	}
	if u.Agree("v1", mcp.Traits{}); l.agreed != "v1" {
		t.Errorf("agreed %q", l.agreed)
	}
	if NameOf(u, "x") != "x" {
		t.Error("a pipe has a name")
	}
	_ = u.Close(t.Context())
}
