package bridge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func tokenCall(id, token, v string) string {
	return request(id, mcp.ToolsCall, `{"name":"t","arguments":{"v":`+v+`},"_meta":{"progressToken":`+token+`}}`)
}

func progressNote(token, n string) string {
	return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":` + n + `}}`
}

// Progress comes back under the client's own token, in its own type, on the
// stream of its call; so do log messages of that call (report 114).
func TestReport114ProgressOnItsOwnStream(t *testing.T) {
	r := newRig(t, nil)
	both := make(chan struct{}, 2)
	release := make(chan struct{})
	r.up.handle(mcp.ToolsCall, func(c *call) {
		arguments, _ := c.Body.Get("arguments")
		both <- struct{}{}
		c.wait(release)
		_ = c.progress(1)
		_ = c.notify(mcp.LogMessage, `{"level":"info","data":`+string(arguments)+`}`)
		c.standard()
	})
	c := r.open(v4, `{}`)
	get := c.stream(http.MethodGet, "")
	streams := map[string]<-chan []string{}
	for _, token := range []string{`0`, `"0"`} {
		streams[token] = collect(c, tokenCall(`7`, token, token))
	}
	<-both
	<-both
	close(release)
	for token, got := range streams {
		want := []string{progressNote(token, "1"), note(`{"v":` + token + `}`), echoed(`7`, token)}
		if events := <-got; strings.Join(events, "\n") != strings.Join(want, "\n") {
			t.Errorf("the stream of %s brought %s", token, events)
		}
	}
	c.do(http.MethodDelete, "")
	get.wantEnd() // and nothing came there
}

// collect posts a call and delivers all events of its answer.
func collect(c *client, body string) <-chan []string {
	done := make(chan []string, 1)
	go func() {
		var events []string
		defer func() { done <- events }()
		s, err := c.tryStream(http.MethodPost, body)
		for err == nil {
			var event string
			if event, err = s.event(); err == nil {
				events = append(events, event)
			}
		}
	}()
	return done
}

// Progress that no call asked for, or that comes too late, is dropped and
// counted (report 115).
func TestReport115InventedProgress(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle(mcp.ToolsCall, func(c *call) {
		_ = c.notify(mcp.Progress, `{"progressToken":"tool-call-4","progress":0.5}`)
		_ = c.notify(mcp.Progress, `{"progressToken":99,"progress":0.5}`)
		_ = c.notify(mcp.Progress, `{"progressToken":`+c.ID.String()+`,"progress":0.5}`) // the client gave none
		_ = c.notify(mcp.Progress, `{"progress":0.5}`)
		c.text("done")
		_ = c.notify(mcp.Progress, `{"progressToken":`+c.ID.String()+`,"progress":1}`)
	})
	c := r.open(v4, `{}`)
	if got := c.post(toolCall(`4`, "t", `1`)); got.body != `{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"done"}]}}` {
		t.Errorf("%s", got.body)
	}
	r.heard.await(t, "failed server unknown_progress", 4)
	if up := r.up.all(mcp.ToolsCall)[0]; strings.Contains(up.body, "progressToken") {
		t.Errorf("the server got %s", up.body)
	}
}

// What a client cannot take with its answer goes on its standalone stream,
// if it has one (report 46).
func TestReport46JSONOnlyWithGET(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle(mcp.ToolsCall, func(c *call) {
		_ = c.progress(1)
		_ = c.progress(2)
		c.text("done")
	})
	c := r.open(v4, `{}`)
	const done = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`
	if got := c.post(tokenCall(`1`, `"p"`, `1`), "Accept", "application/json"); got.body != done || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%v %s", got.header, got.body)
	}
	if n := r.heard.count("lost deliver pass"); n != 2 {
		t.Errorf("without a stream %d are counted as lost", n)
	}
	get := c.stream(http.MethodGet, "")
	c.post(tokenCall(`1`, `"p"`, `1`), "Accept", "application/json")
	get.want(progressNote(`"p"`, "1"), progressNote(`"p"`, "2"))
}

// The answer's form follows what the client takes (report 43).
func TestReport43Accept(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	for accept, media := range map[string]string{
		"":                               "application/json",
		"*/*":                            "application/json",
		"application/json":               "application/json",
		"text/event-stream":              "text/event-stream",
		"application/*, text/*":          "application/json",
		"application/json;q=0.5":         "application/json",
		"APPLICATION/JSON, text/*;q=0.9": "application/json",
		"application/*;q=0, text/html, text/event-stream": "text/event-stream",
	} {
		got := c.post(toolCall(`1`, "t", `1`), "Accept", accept)
		want := echoed(`1`, `1`)
		if media == "text/event-stream" {
			got.body = onlyEvent(got.body)
		}
		if got.status != http.StatusOK || got.header.Get("Content-Type") != media || got.body != want {
			t.Errorf("%q: %d %v %s", accept, got.status, got.header, got.body)
		}
	}
	for _, media := range []string{"application/json; charset=utf-8", `Application/JSON ; CHARSET="UTF-8"`, "application/json;charset=UTF-8"} {
		if got := c.post(toolCall(`1`, "t", `1`), "Content-Type", media); got.body != echoed(`1`, `1`) {
			t.Errorf("report 51: %s: %d %s", media, got.status, got.body)
		}
	}
}

// A client's leaving is not a cancellation: the call goes on upstream, and
// its session with it (report 118, report 65).
func TestReport118LeavingDoesNotCancel(t *testing.T) {
	r := newRig(t, nil)
	release := make(chan struct{})
	ended := make(chan error, 1)
	r.up.handle("tools/call slow", func(c *call) {
		_ = c.progress(1)
		c.wait(release)
		c.standard()
		ended <- c.r.Context().Err()
	})
	c := r.open(v4, `{}`)
	s := c.stream(http.MethodPost, request(`1`, mcp.ToolsCall, `{"name":"slow","arguments":{"v":1},"_meta":{"progressToken":1}}`))
	s.want(progressNote(`1`, "1"))
	s.leave()
	c.works()
	close(release)
	if err := <-ended; err != nil {
		t.Errorf("the server's call ended early: %v", err)
	}
	r.heard.await(t, "answered tools/call result", 2)
	if n := r.up.count(mcp.Cancelled); n != 0 {
		t.Errorf("the upstream got %s", r.up.names())
	}
	c.works()
}

// Standalone messages wait for a stream, and go on one only.
func TestStreamStandalone(t *testing.T) {
	r := newRig(t, nil)
	more := make(chan struct{})
	r.up.handle("GET", func(c *call) {
		for _, text := range []string{changed("tools"), changed("tools"), changed("prompts"), note("1")} {
			_ = c.event(text)
		}
		c.wait(more)
		_ = c.event(changed("tools"))
		c.wait(nil)
	})
	c := r.open(v4, `{}`)
	r.heard.await(t, "received server notification notifications/message", 1)
	get := c.stream(http.MethodGet, "")
	get.want(changed("tools"), changed("prompts"), note("1"))
	close(more)
	get.want(changed("tools"))
}

func changed(what string) string {
	return `{"jsonrpc":"2.0","method":"notifications/` + what + `/list_changed"}`
}

// A server without a standalone stream is asked once, however it says so
// (reports 47, 48 and 50).
func TestReport47NoStandaloneStream(t *testing.T) {
	for _, status := range []int{400, 404, 405, 406, 501, 500, 200} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			r := newRig(t, nil)
			r.up.handle("GET", func(c *call) { c.reply(status, "application/json", `{"status":"ok"}`) })
			c := r.open(v4, `{}`)
			c.works()
			gives(t, "the bridge goes on asking", func() bool { return running("conversation).keepListening") == 0 })
			get := c.stream(http.MethodGet, "") // the bridge offers one all the same
			c.works()
			c.do(http.MethodDelete, "")
			get.wantEnd()
			if n := r.up.count("GET"); n != 1 {
				t.Errorf("%d GETs", n)
			}
		})
	}
}
