package stdio

import (
	"context"
	"errors"
	"io"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/lines"
)

// ahead is how many lines are read before their turn: so a client's leaving
// is seen while one of its messages is still at work.
const ahead = 4

// inlet reads the client's lines.
type inlet struct {
	lines  *lines.Reader
	depth  int        // levels of nesting in a message
	frames chan heard // closed at the end
	err    error      // why it ended; read after frames is closed
}

func newInlet(in io.Reader, limit, depth int) *inlet {
	return &inlet{lines: lines.NewReader(in, limit), depth: depth, frames: make(chan heard, ahead)}
}

// read reads until the client left, which it tells, or ctx ends.
func (i *inlet) read(ctx context.Context, left func()) {
	defer close(i.frames)
	defer left()
	for {
		line, err := i.lines.Next()
		var long *lines.TooLong
		if err != nil && !errors.As(err, &long) {
			i.err = failedTo("reading from", err)
			return
		}
		select {
		case i.frames <- i.decode(line, long):
		case <-ctx.Done():
			return
		}
	}
}

// decode reads a line, or says what is wrong with it: an error for a request
// whose id can be told, and for nothing else.
func (i *inlet) decode(line []byte, long *lines.TooLong) heard {
	if long == nil {
		f, fault := mcp.DecodeWithin(line, i.depth)
		return heard{frame: f, fault: fault}
	}
	fault := &mcp.Fault{Error: *mcp.Errorf(mcp.CodeInvalidRequest, "the message is larger than %d bytes, the limit %s", long.Limit, mcp.LimitBody), Limit: mcp.LimitBody}
	if id, answer := salvage(long.Head, long.Tail); !answer {
		fault.ID = id
	}
	return heard{fault: fault}
}
