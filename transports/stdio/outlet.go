package stdio

import (
	"io"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/lines"
)

// keptBuffer is the largest buffer that is kept for the next message.
const keptBuffer = 1 << 20

// write writes what the host sends until it ends the stream or the client
// left.
func (s *server) write(out io.Writer) error {
	s.stream.Begin() // there is no status that could refuse
	var buf []byte
	for {
		d, ok := s.stream.Next()
		if !ok {
			<-s.stream.Ready()
			continue
		}
		if m := d.Message; m != nil {
			buf = lines.Append(buf[:0], m)
			if _, err := out.Write(buf); err != nil {
				s.stream.Abandon()
				return failedTo("writing to", err)
			}
			s.owed.Paid(m)
			if cap(buf) > keptBuffer {
				buf = nil
			}
		}
		if d.Last {
			return nil
		}
	}
}

var _ lines.Body = (*mcp.Message)(nil)
