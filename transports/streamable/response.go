package streamable

import (
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// response writes the answer to one request, from the request's goroutine.
type response struct{ *web.Response }

// write writes what the host answered; s is where a stream may be kept.
func (o response) write(reply transports.Reply, x *transports.Exchange, s *shelf) {
	switch {
	case reply.Stream == nil:
		o.Plain(reply)
	case reply.Kept && x.Session != "":
		o.follow(reply, x, s)
	default:
		o.follow(reply, x, nil)
	}
}

// answers writes the answers of an exchange as JSON.
func (o response) answers(reply transports.Reply, answers []*mcp.Message) {
	o.CopyHeader(reply.Header)
	o.Header().Set("Content-Type", typeJSON)
	status := reply.Status
	if reply.StatusOf != nil && len(answers) == 1 {
		status = reply.StatusOf(answers[0])
	}
	o.Send(status, o.Text(func(b []byte) []byte {
		if !reply.Batch {
			return answers[0].Append(b)
		}
		b = append(b, '[')
		for i, m := range answers {
			if i > 0 {
				b = append(b, ',')
			}
			b = m.Append(b)
		}
		return append(b, ']')
	}))
}
