package streamable

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// held is a host that hands out streams which the test fills.
type held struct {
	stream     *transports.Stream
	standalone bool
	ctx        context.Context
}

func newHeld() *held { return &held{stream: transports.NewStream(1 << 20)} }

func (h *held) Post(ctx context.Context, _ *transports.Exchange) transports.Reply {
	h.ctx = ctx
	return transports.Reply{Stream: h.stream, Standalone: h.standalone}
}

func (h *held) Listen(ctx context.Context, x *transports.Exchange) transports.Reply {
	h.standalone = true
	return h.Post(ctx, x)
}

func (h *held) End(context.Context, *transports.Exchange) transports.Reply { return transports.Reply{} }

func (h *held) Malformed(context.Context, *transports.Exchange, *mcp.Fault) transports.Reply {
	return transports.Reply{}
}

// raw sends a request to an endpoint in memory and returns the response.
func raw(t *testing.T, c *Client, method, accept, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://localhost/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", typeJSON)
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	resp, err := c.site.Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func message(t *testing.T, text string) *mcp.Message {
	t.Helper()
	m, err := mcp.DecodeMessage([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		c, stop := inMemory(t, endpoint(t, h, ServerConfig{}), ClientConfig{})
		defer stop()
		start := time.Now()
		resp := raw(t, c, "POST", "", ping)
		if resp.Header.Get("Content-Type") != typeEvents || time.Since(start) != 15*time.Second {
			t.Errorf("after %v: %v", time.Since(start), resp.Header)
		}
		body := bufio.NewReader(resp.Body)
		for range 3 {
			for range 2 { // ":" and the blank line
				if _, err := body.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
		}
		if time.Since(start) != 45*time.Second {
			t.Errorf("three comments came after %v", time.Since(start))
		}
		if h.stream.Refuse(transports.Reply{Status: 404}) {
			t.Error("a stream that is under way can be refused")
		}
		<-time.After(10 * time.Second) // in the bubble no real time passes
		h.stream.Push(message(t, initNote))
		synctest.Wait()
		if got, _ := body.ReadString('\n'); got != "event: message\n" {
			t.Errorf("received %q", got)
		}
		h.stream.Finish(message(t, pong))
		rest, err := io.ReadAll(body)
		if err != nil || !strings.HasSuffix(string(rest), pongBody) {
			t.Errorf("%q %v", rest, err)
		}
	})
}

func TestNoKeepAliveForJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		c, stop := inMemory(t, endpoint(t, h, ServerConfig{}), ClientConfig{})
		defer stop()
		time.AfterFunc(130*time.Second, func() { h.stream.Finish(message(t, pong)) })
		resp := raw(t, c, "POST", "application/json", ping)
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != pong || resp.Header.Get("Content-Type") != typeJSON {
			t.Errorf("%q %v", got, err)
		}
	})
}

func TestStandalone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		c, stop := inMemory(t, endpoint(t, h, ServerConfig{}), ClientConfig{})
		defer stop()
		start := time.Now()
		resp := raw(t, c, "GET", "text/event-stream", "")
		if resp.StatusCode != 200 || time.Since(start) != 0 {
			t.Errorf("%d after %v", resp.StatusCode, time.Since(start))
		}
		_ = resp.Body.Close()
		synctest.Wait()
		if h.stream.Open() || h.ctx.Err() == nil {
			t.Error("the stream of a client that left is still open")
		}
	})
}

// TestStandaloneRefused answers a GET whose stream was refused at once.
func TestStandaloneRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		h.stream.Refuse(transports.Reply{Status: 405})
		c, stop := inMemory(t, endpoint(t, h, ServerConfig{}), ClientConfig{})
		defer stop()
		if resp := raw(t, c, "GET", "text/event-stream", ""); resp.StatusCode != 405 {
			t.Errorf("status %d", resp.StatusCode)
		}
	})
}

// TestWriteTimeout has a client that reads nothing: its stream is abandoned,
// so whoever waits for room goes on.
func TestWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		c, stop := inMemory(t, endpoint(t, h, ServerConfig{}), ClientConfig{})
		defer stop()
		resp := raw(t, c, "GET", "text/event-stream", "")
		defer resp.Body.Close()
		big := message(t, `{"jsonrpc":"2.0","method":"x","params":{"x":"`+strings.Repeat("x", 2<<20)+`"}}`)
		h.stream.Push(big)
		h.stream.Push(big)
		start := time.Now()
		h.stream.Wait(t.Context())
		if time.Since(start) != 30*time.Second || h.stream.Open() {
			t.Errorf("after %v the stream is open: %v", time.Since(start), h.stream.Open())
		}
	})
}

// TestSlowBody sends a body drop by drop: each 64 KiB have a minute.
func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHeld()
		c, stop := inMemory(t, endpoint(t, h, ServerConfig{}), ClientConfig{})
		defer stop()
		conn, err := c.site.Transport.DialContext(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		start := time.Now()
		over := make(chan struct{})
		defer close(over)
		go drip(conn, over)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != http.StatusRequestTimeout || time.Since(start) != time.Minute {
			t.Errorf("after %v: %v %v", time.Since(start), resp, err)
		}
		if h.ctx != nil {
			t.Error("the host saw half a body")
		}
	})
}

func drip(conn net.Conn, over <-chan struct{}) {
	_, _ = io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n{")
	for {
		if _, err := io.WriteString(conn, " "); err != nil {
			return
		}
		select {
		case <-time.After(time.Second): // in the bubble no real time passes
		case <-over:
			return
		}
	}
}
