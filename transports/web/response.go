package web

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/transports"
)

// drainTime bounds how long the HTTP server may read what a refused request
// still sends.
const drainTime = 5 * time.Second

// writeStep is how much must be written within the write timeout.
const writeStep = 256 << 10

// largestKept is the largest buffer that is kept for the next message.
const largestKept = 1 << 20

// Responder makes the responses of one endpoint. It sets read and write
// deadlines per body and per write, so the http.Server around it must have no
// WriteTimeout and no ReadTimeout, which would end long streams; it should
// have a ReadHeaderTimeout and an IdleTimeout.
type Responder struct {
	limits  Limits
	buffers sync.Pool // of *[]byte, for messages on their way out
}

// NewResponder returns a responder.
func NewResponder(l Limits) *Responder { return &Responder{limits: l.WithDefaults()} }

// Response writes the answer to one request, from the request's goroutine.
type Response struct {
	from *Responder
	w    http.ResponseWriter
	r    *http.Request
	rc   *http.ResponseController
	buf  *[]byte
}

// Response begins a response, which must be closed.
func (from *Responder) Response(w http.ResponseWriter, r *http.Request) *Response {
	buf, ok := from.buffers.Get().(*[]byte)
	if !ok {
		buf = new([]byte)
	}
	return &Response{from: from, w: w, r: r, rc: http.NewResponseController(w), buf: buf}
}

// Close gives back what the response used.
func (o *Response) Close() {
	if cap(*o.buf) <= largestKept {
		o.from.buffers.Put(o.buf)
	}
	if o.r.ContentLength != 0 {
		o.allowRead(min(o.from.limits.BodyTimeout, drainTime))
	}
}

// Header is the header of the response.
func (o *Response) Header() http.Header { return o.w.Header() }

// CopyHeader adds what a host answered with.
func (o *Response) CopyHeader(h http.Header) {
	for name, values := range h {
		o.w.Header()[name] = values
	}
}

// Plain writes a reply that is no stream.
func (o *Response) Plain(reply transports.Reply) {
	o.CopyHeader(reply.Header)
	body := reply.Body
	switch {
	case reply.Status == http.StatusAccepted || reply.Status == http.StatusNoContent:
		body = nil // MCP basic "Transports": 202 has no body
		o.w.Header().Del("Content-Type")
	case reply.Message != nil:
		body = o.Text(reply.Message.Append)
		o.w.Header().Set("Content-Type", TypeJSON)
	case len(body) > 0 && o.w.Header().Get("Content-Type") == "":
		o.w.Header().Set("Content-Type", "application/octet-stream") // never guessed
	}
	o.Send(reply.Status, body)
}

// Text collects what is appended in the response's own buffer.
func (o *Response) Text(appendTo func([]byte) []byte) []byte {
	*o.buf = appendTo((*o.buf)[:0])
	return *o.buf
}

// Send writes a whole answer and flushes it while its deadline holds.
func (o *Response) Send(status int, body []byte) {
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
func (o *Response) writeAll(b []byte) error {
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

// Problem refuses the request before anybody saw it. Where its body was not
// read, or could not be, the connection ends with the answer.
func (o *Response) Problem(status int, text string) {
	if status == http.StatusRequestEntityTooLarge || status == http.StatusRequestTimeout {
		o.w.Header().Set("Connection", "close")
	}
	o.from.limits.Refused(status)
	o.allowWrite()
	transports.WriteProblem(o.w, status, text)
	_ = o.rc.Flush()
}

// MethodNotAllowed refuses a method and names those that are served.
func (o *Response) MethodNotAllowed(allowed, text string) {
	o.w.Header().Set("Allow", allowed)
	o.Problem(http.StatusMethodNotAllowed, text)
}

// allowWrite gives the next write its deadline.
func (o *Response) allowWrite() {
	_ = o.rc.SetWriteDeadline(time.Now().Add(o.from.limits.WriteTimeout)) // a writer without deadlines has its own guards
}
