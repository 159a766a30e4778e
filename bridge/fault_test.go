package bridge_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

const (
	brokeOff = "the connection to the upstream server broke before it answered; whether it acted on the request is not known"
	noAnswer = "the upstream server closed the exchange without an answer"
)

// fault is an answer of the server to a call, and what the client gets: the
// whole body, or any error where none is given.
type fault struct {
	script func(*call)
	body   string
}

func faultsOfACall() map[string]fault {
	html := func(status int) func(*call) {
		return func(c *call) { c.reply(status, "text/html", "<html>secret</html>") }
	}
	return map[string]fault{
		"report 54: HTML":       {html(200), noJSONRPC(`"f"`, "200 OK", "200")},
		"report 66: 413":        {html(413), noJSONRPC(`"f"`, "413 Request Entity Too Large", "413")},
		"report 176: 502":       {html(502), noJSONRPC(`"f"`, "502 Bad Gateway", "502")},
		"500 with other JSON":   {func(c *call) { c.reply(500, "application/json", `{"message":"secret"}`) }, noJSONRPC(`"f"`, "500 Internal Server Error", "500")},
		"200 with other JSON":   {func(c *call) { c.reply(200, "application/json", `{"message":"secret"}`) }, noJSONRPC(`"f"`, "200 OK", "200")},
		"report 60: 202":        {func(c *call) { c.w.WriteHeader(202) }, internalError(`"f"`, noAnswer, "")},
		"report 60: 204":        {func(c *call) { c.w.WriteHeader(204) }, internalError(`"f"`, noAnswer, "")},
		"report 60: empty 200":  {func(c *call) { c.w.WriteHeader(200) }, internalError(`"f"`, noAnswer, "")},
		"empty stream":          {func(c *call) { c.stream() }, internalError(`"f"`, noAnswer, "")},
		"stream without answer": {func(c *call) { _ = c.notify("notifications/x", `{}`) }, ""},
		"connection broke":      {func(c *call) { panic(http.ErrAbortHandler) }, internalError(`"f"`, brokeOff, "")},
		"JSON cut off":          {cutOff, internalError(`"f"`, brokeOff, "")},
		"stream cut off":        {func(c *call) { c.stream(); panic(http.ErrAbortHandler) }, internalError(`"f"`, brokeOff, "")},
		"another call's answer": {func(c *call) { c.reply(200, "application/json", `{"jsonrpc":"2.0","id":4711,"result":{}}`) }, internalError(`"f"`, noAnswer, "")},
		"report 176: 500 error": {func(c *call) { c.reply(500, "application/json", failure(c, -32603, "Blueprint not found")) }, failed(-32603, "Blueprint not found")},
		"report 53: no type":    {func(c *call) { c.w.Header()["Content-Type"] = nil; c.reply(200, "", failure(c, -32603, "x")) }, failed(-32603, "x")},
		"report 25: -32602": {func(c *call) {
			c.fail(-32602, "Output validation error: Tool x has an output schema but no structured content was provided")
		}, failed(-32602, "Output validation error: Tool x has an output schema but no structured content was provided")},
		"report 174: -32002": {func(c *call) { c.fail(-32002, "Resource not found") }, failed(-32002, "Resource not found")},
		"report 96: without id": {func(c *call) {
			c.reply(200, "application/json", `{"jsonrpc":"2.0","error":{"code":-32000,"message":"no id"}}`)
		}, failed(-32000, "no id")},
		"report 96: with id null": {func(c *call) {
			c.reply(200, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"null id"}}`)
		}, failed(-32000, "null id")},
	}
}

// A call that fails upstream is answered at once, with an error that names
// the call and quotes nothing; it was sent once, and the session goes on.
func TestFaultOfACall(t *testing.T) {
	for name, f := range faultsOfACall() {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.up.handle("tools/call f", f.script)
			c := r.open(v4, `{}`)
			got := c.post(toolCall(`"f"`, "f", `1`))
			if got.status != http.StatusOK || f.body != "" && got.body != f.body {
				t.Errorf("%d %s\nwant %s", got.status, got.body, f.body)
			}
			if strings.Contains(got.body, "secret") || !strings.Contains(got.body, `"id":"f","error":`) {
				t.Errorf("the client got %s", got.body)
			}
			if n := r.up.count(mcp.ToolsCall); n != 1 {
				t.Errorf("the call was sent %d times", n)
			}
			c.works()
		})
	}
}

func cutOff(c *call) {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Header().Set("Content-Length", "1000")
	_, _ = c.w.Write([]byte(`{"jsonrpc":"2.0","id":` + c.ID.String() + `,"result":{`))
	c.flush()
	panic(http.ErrAbortHandler)
}

// failure is the server's error for a call, failed what the client gets.
func failure(c *call, code int, message string) string {
	return string((&mcp.Error{Code: code, Message: message}).Failure(c.ID).Bytes())
}

func failed(code int, message string) string {
	return string((&mcp.Error{Code: code, Message: message}).Failure(mcp.TextID("f")).Bytes())
}

// Whatever 2xx a server gives for what needs no answer, it is taken (reports
// 58 and 60).
func TestReport58AcceptedInAnyWay(t *testing.T) {
	for name, script := range map[string]func(*call){
		"200 null": func(c *call) { c.reply(200, "application/json", "null") },
		"200 HTML": func(c *call) { c.reply(200, "text/html", "<html>") },
		"204":      func(c *call) { c.w.WriteHeader(204) },
		"a stream": func(c *call) { c.stream() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.up.set(func() {
				r.up.first = func(c *call) bool {
					if c.Message == nil || c.Kind == mcp.Request {
						return false
					}
					r.up.admit(c)
					r.up.deliver(c.Message)
					script(c)
					return true
				}
			})
			r.up.handle("tools/call ask", asking(mcp.RootsList, `{}`))
			c := r.open(v4, allClientCapabilities)
			s := c.stream(http.MethodPost, toolCall(`1`, "ask", `1`))
			c.accepted(answerTo(t, s.next(), `"result":{"roots":[]}`))
			s.next()
			s.wantEnd()
			c.accepted(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
			if n := r.heard.starting("failed"); n != 0 {
				t.Errorf("heard %v", r.heard.counts)
			}
		})
	}
}

// A slash too much or too little is the bridge's affair (report 55).
func TestReport55Redirects(t *testing.T) {
	for _, status := range []int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		r := newRig(t, nil)
		r.up.set(func() {
			r.up.first = func(c *call) bool {
				if c.r.URL.Path == "/mcp/" {
					return false
				}
				c.w.Header().Set("Location", "/mcp/")
				c.w.WriteHeader(status)
				return true
			}
		})
		c := r.open(v4, `{}`)
		c.works()
		if n := r.up.count(mcp.Initialize); n != 2 || r.up.count(mcp.ToolsCall) != 1 {
			t.Errorf("%d: the upstream got %s", status, r.up.names())
		}
	}
}

// An upstream that is away is reported to every call; when it is back, the
// session is still there.
func TestFaultUpstreamUnreachable(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	r.up.CloseClientConnections()
	address := r.up.Listener.Addr().String()
	r.up.Listener.Close()
	c.post(toolCall(`"u"`, "t", `1`)) // may find that its connection is dead
	for range 3 {
		got := c.post(toolCall(`"u"`, "t", `1`))
		if want := internalError(`"u"`, "cannot reach the upstream server http://"+address+": check that it is running and that the bridge has the right address", ""); got.status != http.StatusOK || got.body != want {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	r.heard.await(t, "failed server unreachable", 3)
	if r.bridge.Sessions() != 1 {
		t.Errorf("%d sessions", r.bridge.Sessions())
	}
}

// A server that says nothing is given up: the client gets an error, the
// server a cancellation.
func TestFaultSilence(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.RequestTimeout = 200 * time.Millisecond })
	gone := make(chan struct{})
	r.up.handle("tools/call mute", func(c *call) {
		<-c.r.Context().Done()
		close(gone)
	})
	c := r.open(v4, `{}`)
	got := c.post(toolCall(`"m"`, "mute", `1`))
	if want := internalError(`"m"`, "the upstream server did not answer within 200ms, the limit request_timeout", ""); got.status != http.StatusOK || got.body != want {
		t.Errorf("%d %s", got.status, got.body)
	}
	within(t, "the end of the exchange with the server", gone)
	up, id := r.up.await(t, mcp.Cancelled, 1), r.up.all(mcp.ToolsCall)[0].ID.String()
	if want := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"timeout"}}`; up.body != want {
		t.Errorf("the server got %s", up.body)
	}
	r.heard.await(t, "failed server timeout", 1)
	c.works()
}

// The client's error does not wait for a server that does not even take the
// cancellation.
func TestFaultSilenceOfAllKinds(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.RequestTimeout = 200 * time.Millisecond })
	r.up.handle("tools/call mute", func(c *call) { c.wait(nil) })
	r.up.handle(mcp.Cancelled, func(c *call) { c.wait(nil) })
	c := r.open(v4, `{}`)
	began := time.Now()
	if got := c.post(toolCall(`"m"`, "mute", `1`)); !strings.Contains(got.body, `"id":"m","error":`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if took := time.Since(began); took > patience {
		t.Errorf("the answer took %s", took)
	}
	c.works()
}

// A server that reports progress is not silent.
func TestFaultProgressIsNoSilence(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.RequestTimeout = time.Second })
	r.up.handle("tools/call busy", func(c *call) {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for i := range 15 {
			<-tick.C
			_ = c.progress(i)
		}
		c.text("done")
	})
	c := r.open(v4, `{}`)
	got := c.post(request(`1`, mcp.ToolsCall, `{"name":"busy","_meta":{"progressToken":1}}`))
	if !strings.Contains(got.body, `"done"`) || r.up.count(mcp.Cancelled) != 0 {
		t.Errorf("%d %s", got.status, got.body)
	}
}
