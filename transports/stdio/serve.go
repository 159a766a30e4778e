package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"runtime"
	"syscall"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// ServerConfig holds an operator's choices for a client on standard streams.
// Zero values mean the defaults.
type ServerConfig struct {
	MaxMessage     int // bytes of a line; default 64 MiB
	MaxDepth       int // levels of nesting in it; default mcp.MaxDepth
	StreamBytes    int // queued for the client before the server's side pauses; default 1 MiB
	StreamMessages int // the same in messages; default 1000
	// Limited hears the key of a limit of the queue when the server's side
	// pauses for it; nil is allowed.
	Limited func(limit string)
	// Linger is how long calls may still be answered after the client closed
	// its end, and how long what is queued then may take to be written;
	// default 1 s. Most clients kill their server after two.
	Linger time.Duration
}

func (c ServerConfig) withDefaults() ServerConfig {
	if c.MaxMessage <= 0 {
		c.MaxMessage = 64 << 20
	}
	if c.StreamBytes <= 0 {
		c.StreamBytes = 1 << 20
	}
	if c.StreamMessages <= 0 {
		c.StreamMessages = 1000
	}
	if c.Linger <= 0 {
		c.Linger = time.Second
	}
	return c
}

// Serve serves one client, whose messages are the lines of in and who reads
// out. It returns nil when the client left, by closing either, or the host
// ended the conversation. When it returns, a goroutine may still wait in a
// Read of in or a Write to out, which end with those.
func Serve(ctx context.Context, host transports.PipeHost, in io.Reader, out io.Writer, config ServerConfig) error {
	config = config.withDefaults()
	room := transports.Room{Messages: config.StreamMessages, Bytes: config.StreamBytes, Waited: config.Limited}
	s := &server{owed: transports.NewOwed(), stream: room.NewStream()}
	taking, left := context.WithCancel(ctx)
	defer left()
	session := host.Attach(&transports.Pipe{Transport: Name, Stream: s.stream})
	defer session.Close()
	written := make(chan error, 1)
	go func() {
		defer left() // nobody takes answers any more
		written <- s.write(out)
	}()
	inlet := newInlet(in, config.MaxMessage, config.MaxDepth)
	go inlet.read(taking, func() { time.AfterFunc(config.Linger, left) })
	err := s.take(taking, session, inlet)
	s.stream.End()
	return errors.Join(ctx.Err(), err, within(config.Linger, written))
}

// server is the conversation with the client.
type server struct {
	stream *transports.Stream
	owed   *transports.Owed
}

// take hands the client's frames to the session, and waits for the answers
// that are owed when no more come.
func (s *server) take(ctx context.Context, session transports.PipeSession, in *inlet) error {
	for {
		select {
		case f, more := <-in.frames:
			if !more {
				s.settle(ctx)
				return in.err
			}
			added := s.owed.Add(f.frame)
			r := session.Take(ctx, f.frame, f.fault)
			if m := r.Explain(f.frame); m != nil {
				s.stream.Push(m)
			} else if r.Status != http.StatusAccepted {
				s.owed.Forget(added)
			}
			s.stream.Wait(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// settle waits until nothing is owed: a client may close its end after its
// last request.
func (s *server) settle(ctx context.Context) {
	select {
	case <-s.owed.None():
	case <-ctx.Done():
	}
}

// within returns what the writer said, if it does so in time.
func within(patience time.Duration, written <-chan error) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-written:
		return err
	case <-timer.C:
		return nil // the client does not read; what is left is lost with it
	}
}

// departed reports an error that only says that the client is gone.
func departed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, fs.ErrClosed) ||
		errors.Is(err, syscall.EPIPE) || runtime.GOOS == "windows" && brokenOnWindows(err)
}

// brokenOnWindows reports ERROR_BROKEN_PIPE and ERROR_NO_DATA.
func brokenOnWindows(err error) bool {
	return errors.Is(err, syscall.Errno(109)) || errors.Is(err, syscall.Errno(232))
}

// heard is what one line of the client held.
type heard struct {
	frame *mcp.Frame
	fault *mcp.Fault
}

func failedTo(what string, err error) error {
	if err == nil || departed(err) {
		return nil
	}
	return fmt.Errorf("stdio: %s the client: %w", what, err)
}
