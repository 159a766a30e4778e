package streamable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/eventstream"
	"github.com/mcpbridge/mcpbridge/transports/web"
)

// receiver hands what a response holds to the conversation.
type receiver struct {
	*exchange
	request  *mcp.Message // nil for the standalone stream
	got      bool         // some message was received
	answered bool
	spot     spot // the position in the stream, once the server gave one
}

// receive reads the response to a request.
func (x *exchange) receive(m *mcp.Message, resp *http.Response) error {
	r := &receiver{exchange: x, request: m}
	media := r.media(resp)
	switch {
	case resp.StatusCode/100 != 2:
		return r.failed(resp, media)
	case resp.StatusCode == http.StatusNoContent, media == "" && resp.StatusCode == http.StatusAccepted:
		return transports.ErrNoAnswer
	case web.IsJSON(media):
		return r.json(resp)
	case media == typeEvents:
		return r.events(resp)
	}
	refusal := x.Refusal(resp)
	if len(bytes.TrimSpace(refusal.Body)) == 0 || resp.StatusCode == http.StatusAccepted {
		return transports.ErrNoAnswer
	}
	return refusal
}

// media returns the response's type, from its first bytes where the server
// named none.
func (r *receiver) media(resp *http.Response) string {
	if h := resp.Header.Get("Content-Type"); h != "" {
		media, _ := web.MediaType(h)
		return media
	}
	sniffed := newSniffer(resp.Body)
	resp.Body = sniffed
	return sniffed.media()
}

// json reads a response that is one JSON text.
func (r *receiver) json(resp *http.Response) error {
	body, err := web.ReadAll(resp.Body, resp.ContentLength, r.c.client.site.MaxMessage)
	switch {
	case err != nil:
		return fmt.Errorf("streamable: reading the answer: %w", err)
	case len(bytes.TrimSpace(body)) == 0:
		return transports.ErrNoAnswer
	}
	r.frame(body)
	switch {
	case r.answered:
		return nil
	case r.got:
		return transports.ErrNoAnswer
	}
	return r.Refuse(resp, body)
}

// failed reads the response of a server that reports an error. Some put their
// JSON-RPC answers under such a status; what is addressed to the request is
// its answer, unless the status asks for credentials.
func (r *receiver) failed(resp *http.Response, media string) error {
	if !web.IsJSON(media) || resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		return r.Refused(resp)
	}
	body, err := web.ReadAll(resp.Body, resp.ContentLength, r.c.client.site.MaxMessage)
	frame, fault := mcp.Decode(body)
	if err != nil || fault != nil || !r.answers(frame) {
		return r.Refuse(resp, body)
	}
	r.items(frame)
	return nil
}

func (r *receiver) answers(frame *mcp.Frame) bool {
	for _, i := range frame.Items {
		if i.Message != nil && i.Message.IsAnswer() && i.Message.ID.Answers(r.request.ID) {
			return true
		}
	}
	return false
}

// events reads a response that is an event stream, and comes back for the
// rest where it breaks before the answer.
func (r *receiver) events(resp *http.Response) error {
	err := r.read(resp.Body)
	if r.comesBack(err) {
		return r.comeBack(err)
	}
	return r.ended(err)
}

// read reads one event stream to its end. A server may keep it open after the
// answer; what still comes is taken for a short while.
func (r *receiver) read(body io.Reader) error {
	reader := eventstream.NewReader(body, r.c.client.site.MaxMessage)
	var grace *time.Timer
	for {
		e, err := reader.Next()
		if err != nil {
			return err
		}
		r.spot.note(e)
		if !e.IsMessage() {
			continue
		}
		if r.frame(e.Data); r.answered && grace == nil {
			grace = r.AfterGrace()
			defer grace.Stop()
		}
	}
}

func (r *receiver) ended(err error) error {
	switch {
	case r.answered:
		return nil
	case errors.Is(err, io.EOF):
		return transports.ErrNoAnswer
	case r.c.closed.Err() != nil:
		return web.ErrClosed
	}
	return fmt.Errorf("streamable: reading the event stream: %w", err)
}

// frame hands over the messages in one body or event.
func (r *receiver) frame(b []byte) {
	frame, fault := mcp.Decode(b)
	if fault != nil {
		r.c.client.site.Garbage(transports.NotJSON)
		return
	}
	r.items(frame)
}

func (r *receiver) items(frame *mcp.Frame) {
	for _, i := range frame.Items {
		if i.Message == nil {
			r.c.client.site.Garbage(transports.NotJSONRPC)
			continue
		}
		r.message(i.Message)
	}
}

// message hands over one message. An error without id on the response to a
// request can only mean that request.
func (r *receiver) message(m *mcp.Message) {
	if r.request != nil && m.IsAnswer() && !r.answered {
		if m.ID.IsZero() {
			m.ID = r.request.ID
		}
		r.answered = m.ID.Answers(r.request.ID)
	}
	r.got = true
	r.Out() // nobody hears an answer before the request is known to be out
	if r.o.Receive != nil {
		r.o.Receive(m)
	}
}
