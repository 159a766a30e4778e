package mcp

import (
	"fmt"
	"net/http"
	"strconv"
)

// Kind is what a JSON-RPC message is.
type Kind uint8

// The four kinds of JSON-RPC message.
const (
	Request Kind = iota + 1
	Notification
	Result
	Failure
)

// String returns the name of the kind, as used in metrics and logs.
func (k Kind) String() string {
	switch k {
	case Request:
		return "request"
	case Notification:
		return "notification"
	case Result:
		return "result"
	case Failure:
		return "error"
	}
	return "unknown"
}

// CallKey names one request within one Session, whoever asked it. The zero
// key is no call.
type CallKey uint64

// Message is one JSON-RPC message.
type Message struct {
	Kind Kind
	// ID is the request's id as the peer that wrote this message knows it;
	// zero for a notification.
	ID ID
	// Method is the method of a request or notification. Of a result or
	// failure it is the method that it answers, filled in from the call table,
	// since the wire does not say.
	Method string
	// Body is the params object of a request or notification, the result
	// object of a result, the error object of a failure. Nil means absent.
	Body *Object
	// Header holds the end-to-end HTTP headers that came with the message.
	Header http.Header
	// Call is the request this message is or answers.
	Call CallKey
	// Within is the client's call on whose stream the message belongs: set for
	// what a server sends while it serves that call. Zero means standalone.
	Within CallKey
}

// NewRequest returns a request; the sender's end gives it its id.
func NewRequest(method string, params *Object) *Message {
	return &Message{Kind: Request, Method: method, Body: params}
}

// NewNotification returns a notification.
func NewNotification(method string, params *Object) *Message {
	return &Message{Kind: Notification, Method: method, Body: params}
}

// Answer returns a result that answers m.
func (m *Message) Answer(result *Object) *Message {
	return &Message{Kind: Result, ID: m.ID, Method: m.Method, Call: m.Call, Within: m.Within, Body: result}
}

// Refuse returns a failure that answers m.
func (m *Message) Refuse(e *Error) *Message {
	return &Message{Kind: Failure, ID: m.ID, Method: m.Method, Call: m.Call, Within: m.Within, Body: e.Object()}
}

// IsAnswer reports whether m answers a request.
func (m *Message) IsAnswer() bool { return m.Kind == Result || m.Kind == Failure }

// Params opens the body, making an empty one where it is absent.
func (m *Message) Params() *Object {
	if m.Body == nil {
		m.Body = NewObject()
	}
	return m.Body
}

// Meta opens the _meta object of the body; nil when there is none.
func (m *Message) Meta() *Object { return m.Body.object("_meta") }

func (o *Object) object(name string) *Object {
	if o == nil {
		return nil
	}
	return o.Object(name)
}

// ProgressToken returns the progress token that the request carries.
func (m *Message) ProgressToken() (ID, bool) {
	r, ok := m.Meta().Get("progressToken")
	if !ok {
		return ID{}, false
	}
	return ParseID(r)
}

// Code returns the error code of a failure, 0 when it has none.
func (m *Message) Code() int {
	r, _ := m.Body.Get("code")
	n, err := strconv.Atoi(string(r))
	if err != nil {
		return 0
	}
	return n
}

// Append writes the message as JSON-RPC to the end of dst. The envelope is
// written anew; the body stays as it was.
func (m *Message) Append(dst []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if !m.ID.IsZero() {
		dst = append(append(dst, `,"id":`...), m.ID.raw...)
	}
	switch m.Kind {
	case Request, Notification:
		dst = append(append(dst, `,"method":`...), Quote(m.Method)...)
		if m.Body != nil {
			dst = m.Body.Append(append(dst, `,"params":`...))
		}
	case Result:
		dst = m.Body.Append(append(dst, `,"result":`...))
	case Failure:
		dst = m.Body.Append(append(dst, `,"error":`...))
	}
	return append(dst, '}')
}

// Size returns about how many bytes Append writes.
func (m *Message) Size() int { return m.Body.Size() + len(m.ID.raw) + len(m.Method) + 48 }

// Bytes returns the message as JSON-RPC.
func (m *Message) Bytes() []byte { return m.Append(make([]byte, 0, m.Size())) }

// String describes the message for logs without its content.
func (m *Message) String() string {
	return fmt.Sprintf("%s %s id=%s", m.Kind, m.Method, m.ID)
}
