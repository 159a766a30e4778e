package mcp

import (
	"fmt"
	"net/http"
	"strconv"
)

// Error is a JSON-RPC error made on this side of the wire. Errors that peers
// send stay objects, with whatever members they have.
type Error struct {
	Code    int
	Message string
	Data    Raw // optional
}

// Errorf returns an error without data.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Object returns the JSON form.
func (e *Error) Object() *Object {
	o := NewObject()
	o.Set("code", Raw(strconv.Itoa(e.Code)))
	o.Set("message", Quote(e.Message))
	if e.Data != nil {
		o.Set("data", e.Data)
	}
	return o
}

// Failure returns the error as an answer to the request with that id. A zero
// id is left out, never written as null.
func (e *Error) Failure(id ID) *Message {
	return &Message{Kind: Failure, ID: id, Body: e.Object()}
}

// Refusal is an HTTP answer that is no JSON-RPC message: what a server said
// instead of serving. Body is capped by who read it.
type Refusal struct {
	Status int
	Header http.Header
	Body   []byte
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("HTTP status %d %s", r.Status, http.StatusText(r.Status))
}
