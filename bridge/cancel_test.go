package bridge_test

import (
	"net/http"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func cancelNote(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"user"}}`
}

// accepted posts a notification that must be taken.
func (c *client) accepted(body string) {
	c.t.Helper()
	if got := c.post(body); got.status != http.StatusAccepted || got.body != "" {
		c.t.Errorf("%s: %d %q", body, got.status, got.body)
	}
}

// A cancellation reaches the server under the id it knows, the client's
// stream ends without an answer, and the exchange with the server ends
// (reports 117 and 118, T53).
func TestReport117Cancel(t *testing.T) {
	for _, id := range []string{`101`, `"call-7"`} {
		t.Run(id, func(t *testing.T) {
			r := newRig(t, nil)
			gone := make(chan struct{})
			r.up.handle("tools/call slow", func(c *call) {
				_ = c.progress(1)
				<-c.r.Context().Done()
				close(gone)
			})
			c := r.open(v4, `{}`)
			s := c.stream(http.MethodPost, request(id, mcp.ToolsCall, `{"name":"slow","_meta":{"progressToken":1}}`))
			s.want(progressNote(`1`, "1"))
			c.accepted(cancelNote(id))
			up := r.up.await(t, mcp.Cancelled, 1)
			if want := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + r.up.all(mcp.ToolsCall)[0].ID.String() + `,"reason":"user"}}`; up.body != want {
				t.Errorf("the server got %s, want %s", up.body, want)
			}
			s.wantEnd()
			within(t, "the end of the exchange with the server", gone)
			c.works()
			gives(t, "the exchange does not end", func() bool { return running("conversation).run") == 0 })
			if n := r.heard.starting("failed"); n != 0 {
				t.Errorf("a cancelled call is a failure: %v", r.heard.counts)
			}
		})
	}
}

// What is unknown, finished or spelled otherwise is not cancelled.
func TestReport117CancelOfNothing(t *testing.T) {
	r := newRig(t, nil)
	release := make(chan struct{})
	handler, arrived := hold(release)
	r.up.handle("tools/call slow", handler)
	c := r.open(v4, `{}`)
	c.works()
	slow := hosted(c, toolCall(`101`, "slow", `1`))
	<-arrived
	for _, id := range []string{`"101"`, `102`, `"still"`, `null`, `101.5`} {
		c.accepted(cancelNote(id))
	}
	if n := r.heard.count("failed client unknown_cancel"); n < 3 || r.up.count(mcp.Cancelled) != 0 {
		t.Errorf("counted %d, the upstream got %s", n, r.up.names())
	}
	close(release)
	if got := <-slow; got.body != echoed(`101`, `1`) {
		t.Errorf("the call got %s", got.body)
	}
}

// The client's ids need not be unique: what a cancellation could mean for two
// calls, it does for none.
func TestCancelOfTwoCallsWithOneID(t *testing.T) {
	r := newRig(t, nil)
	release := make(chan struct{})
	handler, arrived := hold(release)
	r.up.handle("tools/call slow", handler)
	c := r.open(v4, `{}`)
	a, b := hosted(c, toolCall(`1`, "slow", `"a"`)), hosted(c, toolCall(`1`, "slow", `"b"`))
	<-arrived
	<-arrived
	c.accepted(cancelNote(`1`))
	close(release)
	if got := <-a; got.body != echoed(`1`, `"a"`) {
		t.Errorf("a got %s", got.body)
	}
	if got := <-b; got.body != echoed(`1`, `"b"`) {
		t.Errorf("b got %s", got.body)
	}
	if r.heard.count("failed client ambiguous_cancel") != 1 || r.up.count(mcp.Cancelled) != 0 {
		t.Errorf("heard %v", r.heard.counts)
	}
}

// Initialize cannot be cancelled (report 120): before the session is there a
// cancellation has none, and afterwards there is nothing left to cancel.
func TestReport120CancelOfInitialize(t *testing.T) {
	r := newRig(t, nil)
	release := make(chan struct{})
	r.up.opens(func(c *call) {
		c.wait(release)
		c.s.initialize(c)
	})
	c := r.client()
	opening := hosted(c, initializeWith(`0`, v4, `{}`))
	r.up.await(t, mcp.Initialize, 1)
	badInput{body: cancelNote(`0`), status: 400, code: -32600}.check(t, c)
	close(release)
	c.session = (<-opening).header.Get(mcp.HeaderSession)
	c.accepted(cancelNote(`0`))
	c.works()
	if n := r.up.count(mcp.Cancelled); n != 0 || r.heard.count("failed client unknown_cancel") != 1 {
		t.Errorf("the upstream got %s", r.up.names())
	}
}

// A client that takes only JSON and cancels gets an answer without a body.
func TestCancelOfJSONOnlyCall(t *testing.T) {
	r := newRig(t, nil)
	handler, arrived := hold(nil)
	r.up.handle("tools/call slow", handler)
	c := r.open(v4, `{}`)
	c.header.Set("Accept", "application/json")
	done := make(chan reply, 1)
	go func() {
		got, err := c.try(http.MethodPost, toolCall(`1`, "slow", `1`), "Accept", "application/json")
		if err != nil {
			t.Error(err)
		}
		done <- got
	}()
	<-arrived
	c.accepted(cancelNote(`1`))
	if got := <-done; got.status != http.StatusAccepted || got.body != "" {
		t.Errorf("%d %q", got.status, got.body)
	}
}

// An answer that crosses its cancellation goes nowhere.
func TestCancelAndAnswerCross(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle("tools/call slow", func(c *call) {
		<-c.r.Context().Done()
	})
	r.up.handle(mcp.Cancelled, func(c *call) {
		c.w.WriteHeader(http.StatusAccepted)
	})
	late := make(chan struct{})
	r.up.handle("GET", func(c *call) {
		c.stream()
		c.wait(late)
		_ = c.event(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
		_ = c.event(`{"jsonrpc":"2.0","id":2,"result":{"content":[]}}`)
		c.wait(nil)
	})
	c := r.open(v4, `{}`)
	s := hosted(c, toolCall(`5`, "slow", `1`))
	r.up.await(t, mcp.ToolsCall, 1)
	c.accepted(cancelNote(`5`))
	if got := <-s; got.body != "" {
		t.Errorf("the call got %s", got.body)
	}
	close(late)
	r.heard.await(t, "failed server unknown_response", 2)
	c.works()
}
