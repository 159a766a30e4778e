package bridge_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// A server that restarts forgets its sessions. The calls that it refuses for
// that share one new session and are sent there once; what the client had set
// up is set up again; the client notices nothing (report 68).
func TestReport68SessionLost(t *testing.T) {
	r := newRig(t, nil)
	c := r.client()
	c.header.Set("Authorization", "Bearer me")
	c.open(v4, `{"roots":{}}`)
	c.post(request(`1`, mcp.SetLevel, `{"level":"debug"}`))
	for _, uri := range []string{"a:1", "a:2", "a:3"} {
		c.post(request(`2`, mcp.ResourcesSubscribe, `{"uri":"`+uri+`"}`))
	}
	c.post(request(`3`, mcp.ResourcesUnsubscribe, `{"uri":"a:2"}`))
	const calls = 20
	loseSession(r, calls)
	var answers []<-chan reply
	for i := range calls {
		answers = append(answers, hosted(c, toolCall(fmt.Sprint(i), "t", fmt.Sprint(i))))
	}
	for i, a := range answers {
		if got := <-a; got.status != http.StatusOK || got.body != echoed(fmt.Sprint(i), fmt.Sprint(i)) {
			t.Errorf("call %d got %d %s", i, got.status, got.body)
		}
	}
	if n := r.up.count(mcp.ToolsCall); n != 2*calls {
		t.Errorf("the calls were sent %d times in all", n)
	}
	checkRevival(t, r)
	c.works()
}

// loseSession makes the server forget the first session once so many calls
// are on their way to it.
func loseSession(r *rig, calls int) {
	all := make(chan struct{})
	n := 0
	r.up.set(func() {
		r.up.first = func(c *call) bool {
			if c.Message == nil || c.Method != mcp.ToolsCall || c.session != "up-1" {
				return false
			}
			r.up.set(func() {
				if n++; n == calls {
					clear(r.up.live)
					close(all)
				}
			})
			c.wait(all)
			return false
		}
	})
}

// checkRevival checks what a server got after the calls that it refused: the
// same handshake as before, without a session, and what was set up before.
func checkRevival(t *testing.T, r *rig) {
	t.Helper()
	inits := r.up.all(mcp.Initialize)
	if len(inits) != 2 || inits[1].session != "" {
		t.Fatalf("the upstream got %s", r.up.names())
	}
	if a, b := inits[0].Body.Raw(), inits[1].Body.Raw(); string(a) != string(b) {
		t.Errorf("the second handshake says %s, the first %s", b, a)
	}
	var again []string
	for _, up := range r.up.all("") {
		if up.header.Get("Authorization") != "Bearer me" {
			t.Errorf("%s %s has the authorization %q", up.verb, up.body, up.header.Get("Authorization"))
		}
		if up.session != "up-2" || up.is(mcp.ToolsCall) {
			continue
		}
		what := up.verb
		if up.Message != nil {
			what = up.Method + " " + up.Body.Text("level") + up.Body.Text("uri")
		}
		again = append(again, what)
	}
	want := "notifications/initialized , GET, logging/setLevel debug, resources/subscribe a:1, resources/subscribe a:3"
	if got := strings.Join(again, ", "); got != want {
		t.Errorf("the new session got %s\nwant %s", got, want)
	}
}

// A server that loses the new session as well is not asked a third time.
func TestRevivalSecond404(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	r.up.handle("tools/call f", func(c *call) { c.reply(404, "application/json", `{}`) })
	if got := c.post(toolCall(`"f"`, "f", `1`)); got.status != http.StatusOK || got.body != internalError(`"f"`, "the upstream server lost the session, and the new one too", "") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if r.up.count(mcp.ToolsCall) != 2 || r.up.count(mcp.Initialize) != 2 {
		t.Errorf("the upstream got %s", r.up.names())
	}
	r.heard.await(t, "failed server session_lost", 1)
	c.works()
}

// A server that is not the same as before: the client has to know, so its
// session ends too, with an answer that names no request.
func TestRevivalOfAnotherServer(t *testing.T) {
	for name, change := range map[string]func(*server){
		"capabilities": func(s *server) { s.capabilities = `{"tools":{"listChanged":true}}` },
		"instructions": func(s *server) { s.instructions = "anew" },
		"version":      func(s *server) { s.version = v3 },
		"subscription": func(s *server) {
			s.on[mcp.ResourcesSubscribe] = func(c *call) { c.fail(-32002, "Resource not found") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			c := r.open(v4, `{}`)
			c.post(request(`2`, mcp.ResourcesSubscribe, `{"uri":"a:1"}`))
			get := c.stream(http.MethodGet, "")
			r.up.forget()
			r.up.set(func() { change(r.up) })
			badInput{body: toolCall(`7`, "t", `1`), status: http.StatusNotFound, code: -32600}.check(t, c)
			get.wantEnd()
			c.wantGone()
			if n := r.up.count(mcp.ToolsCall); n != 1 {
				t.Errorf("the call was sent %d times", n)
			}
			r.heard.await(t, "closed "+v4+" "+v4, 1)
			if got := r.up.await(t, "DELETE", 1); got.session != "up-2" {
				t.Errorf("the session %q was ended", got.session)
			}
			r.up.set(func() { delete(r.up.on, mcp.ResourcesSubscribe) })
			r.open(v4, `{}`).works()
		})
	}
}

// All calls that were refused for the lost session are told the same.
func TestRevivalOfAnotherServerForMany(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	const calls = 10
	loseSession(r, calls)
	r.up.set(func() { r.up.capabilities = `{"tools":{"listChanged":true}}` })
	var answers []<-chan reply
	for i := range calls {
		answers = append(answers, hosted(c, toolCall(fmt.Sprint(i), "t", `1`)))
	}
	for _, a := range answers {
		if got := <-a; got.status != http.StatusNotFound || strings.Contains(got.body, `"id"`) {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	if n := r.up.count(mcp.Initialize); n != 2 {
		t.Errorf("%d handshakes", n)
	}
}

// The order of members does not make another server.
func TestRevivalOfEquivalentServer(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	r.up.forget()
	r.up.set(func() {
		r.up.capabilities = `{"completions": {},"logging":{},"prompts":{},"resources":{"subscribe":true},"tools":{}}`
	})
	c.works()
}

// While no new session can be had the calls fail; the session is kept for
// better times.
func TestRevivalWhileTheServerIsAway(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	r.up.forget()
	r.up.opens(func(c *call) { c.reply(503, "text/plain", "starting") })
	for range 2 {
		if got := c.post(toolCall(`1`, "t", `1`)); got.body != noJSONRPC(`1`, "503 Service Unavailable", "503") {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	r.up.set(func() { r.up.first = nil })
	c.works()
}

// A question that was asked in the lost session is taken back: nobody could
// take its answer.
func TestRevivalWithdrawsQuestions(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, allClientCapabilities)
	r.up.handle("tools/call ask", func(c *call) {
		_, _ = c.post(mcp.RootsList, `{}`)
		c.wait(nil)
	})
	s := c.stream(http.MethodPost, toolCall(`1`, "ask", `1`))
	question := s.next()
	r.up.forget()
	c.works()
	s.want(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"the server lost the session","requestId":` + idOf(t, question) + `}}`)
	c.accepted(answerTo(t, question, `"result":{"roots":[]}`)) // would fail the test at the server
	r.heard.await(t, "failed client unknown_response", 1)
}

// Without a session there is none to lose: a 404 is a 404.
func TestRevivalNotWithoutSession(t *testing.T) {
	r := newRig(t, nil)
	r.up.stateless = true
	c := r.open(v4, `{}`)
	r.up.handle("tools/call f", func(c *call) { c.reply(404, "text/html", "<html>") })
	if got := c.post(toolCall(`"f"`, "f", `1`)); got.body != noJSONRPC(`"f"`, "404 Not Found", "404") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if n := r.up.count(mcp.Initialize); n != 1 {
		t.Errorf("the upstream got %s", r.up.names())
	}
}

// The standalone stream moves to the new session, and there is one only.
func TestRevivalMovesTheStandaloneStream(t *testing.T) {
	r := newRig(t, nil)
	lost := make(chan struct{})
	fresh := make(chan struct{}, 10)
	r.up.handle("GET", func(c *call) {
		c.stream()
		if c.session == "up-1" {
			c.wait(lost) // the stream of the old session ends
			return
		}
		fresh <- struct{}{}
		_ = c.event(note(`"again"`))
		c.wait(nil)
	})
	c := r.open(v4, `{}`)
	get := c.stream(http.MethodGet, "")
	r.up.forget()
	close(lost)
	gives(t, "the old stream does not end", func() bool { return running("bridge.pauseFor") == 1 })
	c.works()
	get.want(note(`"again"`))
	<-fresh
	gives(t, "the listener of the old session goes on", func() bool { return running("conversation).keepListening") == 1 })
	if n := len(fresh); n != 0 {
		t.Errorf("%d more streams were opened", n)
	}
}
