package stdio

import (
	"context"
	"errors"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/lines"
)

var _ transports.Conn = (*child)(nil)

// write is a line under way to a child.
type write struct {
	line []byte
	done chan error
}

// Write implements transports.Conn. A message that was begun is written whole,
// even when ctx ends meanwhile: half a line would spoil the next.
func (c *child) Write(ctx context.Context, m *mcp.Message) error {
	if isClosed(c.stopping) {
		return errStopped
	}
	w := write{line: lines.Append(make([]byte, 0, m.Size()+1), m), done: make(chan error, 1)}
	select {
	case c.writes <- w:
	case <-c.stopping:
		return errStopped
	case <-c.over:
		return c.lament("it ended")
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write writes one line after the other.
func (c *child) write() {
	for {
		select {
		case w := <-c.writes:
			_, err := c.in.Write(w.line)
			switch {
			case err == nil:
			case isClosed(c.stopping):
				err = errStopped
			default:
				err = c.lament("it closed its standard input")
			}
			w.done <- err
		case <-c.over:
			return
		}
	}
}

// Read implements transports.Conn. Lines that are no message are skipped.
func (c *child) Read(ctx context.Context) (*mcp.Frame, error) {
	defer context.AfterFunc(ctx, func() { _ = c.out.file.Close() })()
	for {
		line, err := c.lines.Next()
		var long *lines.TooLong
		switch {
		case isClosed(c.stopping):
			return nil, errStopped
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &long):
			if f := c.tooLong(long); f != nil {
				return f, nil
			}
		case err != nil:
			return nil, c.lament("it closed its standard output")
		default:
			if f := c.frame(line); f != nil {
				return f, nil
			}
		}
	}
}
