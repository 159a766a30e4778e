package sse

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// TestPosts has servers that answer the POST in every way that is seen, and
// then the request on the stream.
func TestPosts(t *testing.T) {
	for name, c := range map[string]struct {
		status      int
		contentType string
		body        string
	}{
		"202":              {202, "", ""},
		"202 Accepted":     {202, "text/plain", "Accepted"},
		"200 OK":           {200, "text/plain", "OK"},
		"204":              {204, "", ""},
		"200 JSON":         {200, "application/json", `{"status":"accepted"}`},
		"202 JSON string":  {202, "application/json", `"Accepted"`},
		"202 no JSON":      {202, "application/json", `Accepted`},
		"202 JSON null":    {202, "application/json", `null`},
		"200 other answer": {200, "application/json", strings.Replace(pong, `"id":1`, `"id":2`, 1)},
		"200 request":      {200, "application/json", ping},
		"200 page":         {200, "text/html", "<p>"},
		"200 events":       {200, "text/event-stream", event(pong)},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			s.post = func(w http.ResponseWriter, r *http.Request, body string) string {
				says(c.status, c.contentType, c.body)(w, r, body)
				if strings.Contains(body, `"id"`) {
					return event(pong)
				}
				return ""
			}
			u, heard := s.conversation(t, ClientConfig{})
			if got, err := send(t, u, ping); err != nil || len(got) != 1 || got[0] != pong {
				t.Errorf("%v %q", err, got)
			}
			if got, err := send(t, u, initNote); err != nil || len(got) != 0 || len(heard) != 0 {
				t.Errorf("%v %q, heard %d", err, got, len(heard))
			}
		})
	}
}

// TestAnswerInPost has servers that answer in the POST's body, and some of
// them on the stream too: exactly one answer counts (field report 42).
func TestAnswerInPost(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		body    string
		stream  string
		answers string
		news    int
	}{
		"only there":     {200, pong, "", pong, 0},
		"202":            {202, pong, "", pong, 0},
		"in an array":    {200, "[" + update + "," + pong + "]", "", pong, 0},
		"in both places": {200, pong, event(pong), pong, 1},
		"an error":       {400, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x"}}`, "", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"x"}}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			s.post = func(w http.ResponseWriter, r *http.Request, body string) string {
				says(c.status, "application/json; charset=utf-8", c.body)(w, r, body)
				return c.stream
			}
			u, heard := s.conversation(t, ClientConfig{})
			got, err := send(t, u, ping)
			if err != nil || len(got) != 1 || got[0] != c.answers {
				t.Errorf("%v %q", err, got)
			}
			s.stream <- event(update)
			for range c.news { // whichever came second belongs to nobody
				if got := within(t, "the second answer", heard); got != pong {
					t.Errorf("heard %q", got)
				}
			}
			if got := within(t, "the news", heard); got != update {
				t.Errorf("heard %q", got)
			}
		})
	}
}

// TestRefusedPost has servers that do not take one message: the pipe lives.
func TestRefusedPost(t *testing.T) {
	for _, text := range []string{initialize, ping, initNote} {
		for _, status := range []int{301, 400, 401, 403, 404, 405, 409, 413, 429, 500, 503} {
			s := newScript(t)
			s.post = func(w http.ResponseWriter, r *http.Request, body string) string {
				w.Header().Set("Www-Authenticate", "Bearer")
				says(status, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}`)(w, r, body)
				return ""
			}
			u, heard := s.conversation(t, ClientConfig{})
			_, err := send(t, u, text)
			r, refused := errors.AsType[*mcp.Refusal](err)
			if !refused || r.Status != status || r.Header.Get("Www-Authenticate") != "Bearer" || !strings.Contains(string(r.Body), "no") {
				t.Fatalf("%d: %v", status, err)
			}
			s.stream <- event(update)
			if got := within(t, "the news", heard); got != update || len(s.paths()) != 1 {
				t.Errorf("%d: %q %v", status, got, s.paths())
			}
		}
	}
}

// TestBrokenPost has a server that takes a message and breaks off: it may
// have done what was asked, so nobody may send it again. The stream lives.
func TestBrokenPost(t *testing.T) {
	s := newScript(t)
	s.post = func(http.ResponseWriter, *http.Request, string) string { panic(http.ErrAbortHandler) }
	u, heard := s.conversation(t, ClientConfig{})
	_, err := send(t, u, ping)
	_, unreachable := errors.AsType[*transports.Unreachable](err)
	if !errors.Is(err, transports.ErrBroken) || errors.Is(err, transports.ErrSessionGone) || unreachable {
		t.Errorf("%v", err)
	}
	s.stream <- event(update)
	if got := within(t, "the news", heard); got != update {
		t.Errorf("%q", got)
	}
}

// TestUnreachableEndpoint has messages that never leave.
func TestUnreachableEndpoint(t *testing.T) {
	s := newScript(t)
	u, heard := s.conversation(t, ClientConfig{MessageURL: "http://127.0.0.1:1/m"})
	_, err := send(t, u, ping)
	if _, ok := errors.AsType[*transports.Unreachable](err); !ok {
		t.Errorf("%v", err)
	}
	s.stream <- event(update)
	if got := within(t, "the news", heard); got != update {
		t.Errorf("%q", got)
	}
}

// TestOvertaking has a server that answers on the stream before it answers
// the POST: the request is out then.
func TestOvertaking(t *testing.T) {
	s := newScript(t)
	received := make(chan struct{})
	s.post = func(w http.ResponseWriter, r *http.Request, _ string) string {
		s.stream <- event(pong)
		<-received
		w.WriteHeader(500)
		return ""
	}
	u, _ := s.conversation(t, ClientConfig{})
	sent := 0
	err := u.Send(t.Context(), message(t, ping), transports.Outgoing{
		Sent: func() { sent++ },
		Receive: func(*mcp.Message) {
			if sent != 1 {
				t.Errorf("an answer came after %d calls of Sent", sent)
			}
			close(received)
		},
	})
	if err != nil || sent != 1 {
		t.Errorf("%v, Sent was called %d times", err, sent)
	}
}
