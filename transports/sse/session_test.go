package sse

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// TestPost holds how a message is answered: the status where it can be said
// at once, everything else on the stream.
func TestPost(t *testing.T) {
	transporttest.Goroutines(t)
	refusal := mcp.Errorf(mcp.CodeInvalidRequest, "no").Failure(mcp.IntID(1))
	idless := mcp.Errorf(mcp.CodeInvalidRequest, "no").Failure(mcp.ID{})
	for name, c := range map[string]struct {
		reply  transports.Reply
		body   string
		status int
		text   string
		stream bool // the refusal is there
	}{
		"accepted":     {transports.Reply{Status: 202}, ping, 202, "Accepted", false},
		"notification": {transports.Reply{Status: 202}, initNote, 202, "Accepted", false},
		"refused":      {transports.Reply{Status: 400, Message: refusal}, ping, 202, "Accepted", true},
		"no room":      {transports.Reply{Status: 503, Message: refusal}, initialize, 202, "Accepted", true},
		"without id":   {transports.Reply{Status: 400, Message: idless}, ping, 202, "Accepted", true},
		"relayed": {transports.Reply{Status: 401, Header: http.Header{"Www-Authenticate": {"Bearer"}}, Message: refusal}, initialize,
			401, string(refusal.Bytes()), false},
		"forbidden":   {transports.Reply{Status: 403, Message: refusal}, ping, 403, string(refusal.Bytes()), false},
		"a note":      {transports.Reply{Status: 400, Message: idless}, initNote, 400, string(idless.Bytes()), false},
		"a batch":     {transports.Reply{Status: 400, Message: idless}, "[" + ping + "]", 400, string(idless.Bytes()), false},
		"no JSON-RPC": {transports.Reply{Status: 400, Message: refusal}, `{"id":1}`, 400, string(refusal.Bytes()), false},
		"no JSON":     {transports.Reply{Status: 400, Message: refusal}, "{", 400, string(refusal.Bytes()), false},
		"nothing":     {transports.Reply{Status: 503}, ping, 503, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			host := newScripted()
			r := newRig(t, host, ServerConfig{})
			defer r.stop()
			s := r.open()
			defer s.leave()
			host.take = func(_ context.Context, f *mcp.Frame, fault *mcp.Fault) transports.Reply {
				if (fault != nil) != (name == "no JSON") || (f == nil) != (name == "no JSON") {
					t.Errorf("the host was handed %v, %v", f, fault)
				}
				return c.reply
			}
			resp := r.do(t.Context(), "POST", s.endpoint, c.body)
			defer resp.Body.Close()
			text, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != c.status || string(text) != c.text || resp.Header.Get("Www-Authenticate") != c.reply.Header.Get("Www-Authenticate") {
				t.Errorf("%d %q %v", resp.StatusCode, text, resp.Header)
			}
			host.pipe.Stream.End()
			if got := s.next(); (got == event(string(refusal.Bytes()))) != c.stream || !c.stream && got != "" {
				t.Errorf("on the stream is %q", got)
			}
		})
	}
}

// TestFraming holds what the oldest clients understand (field reports 32 and
// 41): the type is named, lines end in LF, the data is one line.
func TestFraming(t *testing.T) {
	transporttest.Goroutines(t)
	host := newScripted()
	r := newRig(t, host, ServerConfig{})
	defer r.stop()
	s := r.open()
	defer s.leave()
	host.pipe.Stream.Push(message(t, pong))
	host.pipe.Stream.Push(message(t, "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\r\n\"a\":\"\u2028\"}}"))
	if got := s.next(); got != event(pong) {
		t.Errorf("%q", got)
	}
	if got := s.next(); strings.Contains(got, "\r") || strings.Count(got, "\n") != 3 || !strings.Contains(got, `"\u2028"`) {
		t.Errorf("%q", got)
	}
	if host.pipe.Stream.Refuse(transports.Reply{Status: 404}) {
		t.Error("a stream that is under way can be refused")
	}
	host.pipe.Stream.End()
	if got := s.next(); got != "" {
		t.Errorf("after the end of the session: %q", got)
	}
	<-host.gone
	if status, _ := r.post(s.endpoint, ping); status != http.StatusNotFound {
		t.Errorf("a session that is over answers %d", status)
	}
}

// TestNoRefusalBeforeTheFirstMessage has a host that would answer the GET
// itself after its headers are out.
func TestNoRefusalBeforeTheFirstMessage(t *testing.T) {
	transporttest.Goroutines(t)
	host := newScripted()
	r := newRig(t, host, ServerConfig{})
	defer r.stop()
	defer r.open().leave()
	if host.pipe.Stream.Refuse(transports.Reply{Status: 401}) {
		t.Error("a stream that has named its endpoint can be refused")
	}
}

func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newScripted()
		r := newRig(t, host, ServerConfig{})
		defer r.stop()
		start := time.Now()
		s := r.open()
		for range 3 {
			if got := s.next(); got != ":\n\n" {
				t.Errorf("%q", got)
			}
		}
		if time.Since(start) != 45*time.Second {
			t.Errorf("three comments came after %v", time.Since(start))
		}
		time.AfterFunc(10*time.Second, func() { host.pipe.Stream.Push(message(t, pong)) })
		if got := s.next(); got != event(pong) {
			t.Errorf("%q", got)
		}
		s.next()
		if time.Since(start) != 70*time.Second {
			t.Errorf("a message does not count as a sign of life: %v", time.Since(start))
		}
		s.leave()
	})
}

// TestSlowHandshake has a host that takes longer than clients wait for their
// POST, and refuses the session in the end.
func TestSlowHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newScripted()
		r := newRig(t, host, ServerConfig{})
		defer r.stop()
		s := r.open()
		defer s.leave()
		var order []string
		host.take = func(ctx context.Context, f *mcp.Frame, _ *mcp.Fault) transports.Reply {
			m := f.Items[0].Message
			if order = append(order, m.Method); m.Method != mcp.Initialize {
				return transports.Reply{Status: http.StatusAccepted}
			}
			select {
			case <-time.After(time.Minute):
			case <-ctx.Done():
				t.Error("the handshake ended with its POST")
			}
			return transports.Reply{Status: 401, Message: mcp.Errorf(mcp.CodeInternal, "who are you").Failure(mcp.ID{})}
		}
		start := time.Now()
		status, text := r.post(s.endpoint, initialize)
		if status != http.StatusAccepted || text != "Accepted" || time.Since(start) != 3*time.Second {
			t.Errorf("after %v: %d %q", time.Since(start), status, text)
		}
		second := make(chan int, 1)
		go func() {
			status, _ := r.post(s.endpoint, initNote)
			second <- status
		}()
		for got := ":\n\n"; strings.HasPrefix(got, ":"); {
			if got = s.next(); !strings.HasPrefix(got, ":") && got != event(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"who are you"}}`) {
				t.Errorf("%q", got)
			}
		}
		if status := <-second; status != http.StatusAccepted || strings.Join(order, " ") != "initialize notifications/initialized" {
			t.Errorf("%d %v", status, order)
		}
	})
}

// attacher is a host by a function.
type attacher func(*transports.Pipe) transports.PipeSession

func (a attacher) Attach(p *transports.Pipe) transports.PipeSession { return a(p) }

// TestOwns hands in another rule for whom a session belongs to.
func TestOwns(t *testing.T) {
	transporttest.Goroutines(t)
	host := newScripted()
	r := newRig(t, host, ServerConfig{Owns: func(_ context.Context, s transports.PipeSession, opened, now http.Header) bool {
		return s == host && opened.Get("X-Who") == now.Get("X-Who")
	}})
	defer r.stop()
	s := r.open("X-Who", "a", "Authorization", "Bearer old")
	defer s.leave()
	if status, _ := r.post(s.endpoint, ping, "X-Who", "a", "Authorization", "Bearer new"); status != http.StatusAccepted {
		t.Errorf("status %d", status)
	}
	if status, _ := r.post(s.endpoint, ping, "X-Who", "b"); status != http.StatusNotFound {
		t.Errorf("status %d", status)
	}
}
