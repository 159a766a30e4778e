package streamable

import (
	"net/http"
	"strconv"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// drainTime bounds how long the HTTP server may read what a refused request
// still sends.
const drainTime = 5 * time.Second

// writeStep is how much must be written within the write timeout.
const writeStep = 256 << 10

// largestKept is the largest buffer that is kept for the next message.
const largestKept = 1 << 20

// response writes the answer to one request, from the request's goroutine.
type response struct {
	s   *Server
	w   http.ResponseWriter
	r   *http.Request
	rc  *http.ResponseController
	buf *[]byte
}

func (s *Server) response(w http.ResponseWriter, r *http.Request) *response {
	buf, ok := s.buffers.Get().(*[]byte)
	if !ok {
		buf = new([]byte)
	}
	return &response{s: s, w: w, r: r, rc: http.NewResponseController(w), buf: buf}
}

func (o *response) close() {
	if cap(*o.buf) <= largestKept {
		o.s.buffers.Put(o.buf)
	}
	if o.r.ContentLength != 0 {
		o.allowRead(min(o.s.config.BodyTimeout, drainTime))
	}
}

// write writes what the host answered.
func (o *response) write(reply transports.Reply, x *transports.Exchange) {
	if reply.Stream != nil {
		o.follow(reply, x)
		return
	}
	o.plain(reply)
}

func (o *response) plain(reply transports.Reply) {
	o.copyHeader(reply.Header)
	body := reply.Body
	switch {
	case reply.Status == http.StatusAccepted || reply.Status == http.StatusNoContent:
		body = nil // MCP basic "Transports": 202 has no body
		o.w.Header().Del("Content-Type")
	case reply.Message != nil:
		body = o.text(reply.Message.Append)
		o.w.Header().Set("Content-Type", typeJSON)
	case len(body) > 0 && o.w.Header().Get("Content-Type") == "":
		o.w.Header().Set("Content-Type", "application/octet-stream") // never guessed
	}
	o.send(reply.Status, body)
}

// text collects what is appended in the response's own buffer.
func (o *response) text(appendTo func([]byte) []byte) []byte {
	*o.buf = appendTo((*o.buf)[:0])
	return *o.buf
}

// send writes a whole answer and flushes it while its deadline holds.
func (o *response) send(status int, body []byte) {
	if status == 0 {
		status = http.StatusOK
	}
	if status != http.StatusNoContent {
		o.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	o.allowWrite()
	o.w.WriteHeader(status)
	_ = o.writeAll(body) // a client that left needs no answer
	_ = o.rc.Flush()
}

// writeAll writes b in steps that each have the write timeout, so that a
// large message may take its time on a slow line.
func (o *response) writeAll(b []byte) error {
	for len(b) > 0 {
		step := b[:min(len(b), writeStep)]
		o.allowWrite()
		if _, err := o.w.Write(step); err != nil {
			return err
		}
		b = b[len(step):]
	}
	return nil
}

// answers writes the answers of an exchange as JSON.
func (o *response) answers(reply transports.Reply, answers []*mcp.Message) {
	o.copyHeader(reply.Header)
	o.w.Header().Set("Content-Type", typeJSON)
	o.send(reply.Status, o.text(func(b []byte) []byte {
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

// problem refuses the request before anybody saw it. Where its body was not
// read, or could not be, the connection ends with the answer.
func (o *response) problem(status int, text string) {
	if status == http.StatusRequestEntityTooLarge || status == http.StatusRequestTimeout {
		o.w.Header().Set("Connection", "close")
	}
	o.allowWrite()
	transports.WriteProblem(o.w, status, text)
	_ = o.rc.Flush()
}

func (o *response) methodNotAllowed(text string) {
	o.w.Header().Set("Allow", "POST, GET, DELETE")
	o.problem(http.StatusMethodNotAllowed, text)
}

func (o *response) copyHeader(h http.Header) {
	for name, values := range h {
		o.w.Header()[name] = values
	}
}

// allowWrite gives the next write its deadline.
func (o *response) allowWrite() {
	_ = o.rc.SetWriteDeadline(time.Now().Add(o.s.config.WriteTimeout)) // a writer without deadlines has its own guards
}
