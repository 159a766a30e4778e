package bridge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// What sets something up is answered before the next message of the batch
// goes out; a notification is taken before.
func TestBatchOrderOfDispatch(t *testing.T) {
	for _, method := range []string{mcp.SetLevel, mcp.ResourcesSubscribe, mcp.ResourcesUnsubscribe, "notifications/roots/list_changed"} {
		t.Run(method, func(t *testing.T) {
			r := newRig(t, nil)
			release := make(chan struct{})
			r.up.handle(method, func(c *call) {
				c.wait(release)
				if c.Kind == mcp.Request {
					c.result(`{}`)
				}
			})
			c := r.open(v2, `{}`)
			first := request(`1`, method, `{"uri":"a:1","level":"debug"}`)
			if strings.HasPrefix(method, "notifications/") {
				first = rootsChanged
			}
			done := hosted(c, batch(first, toolCall(`2`, "t", `2`)))
			r.up.await(t, method, 1)
			for range 20 { // others go on meanwhile
				c.works()
			}
			if n := r.up.count(mcp.ToolsCall); n != 20 {
				t.Errorf("the call overtook %s: %d calls", method, n)
			}
			close(release)
			if got := <-done; !strings.Contains(got.body, echoed(`2`, `2`)) {
				t.Errorf("%d %s", got.status, got.body)
			}
		})
	}
}

// Calls of a batch do not wait for each other's answers.
func TestBatchIsConcurrent(t *testing.T) {
	r := newRig(t, nil)
	release := make(chan struct{})
	handler, arrived := hold(release)
	r.up.handle(mcp.ToolsCall, handler)
	c := r.open(v2, `{}`)
	done := hosted(c, batch(toolCall(`1`, "t", `1`), toolCall(`2`, "t", `2`), toolCall(`3`, "t", `3`)))
	for range 3 {
		<-arrived
	}
	close(release)
	if got := <-done; strings.Count(got.body, `"result"`) != 3 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// A challenge to one element is the answer to all, as long as nothing else is
// out.
func TestBatchUnauthorized(t *testing.T) {
	r := newRig(t, nil)
	release := make(chan struct{})
	handler, _ := hold(release)
	r.up.handle("tools/call slow", handler)
	r.up.handle("tools/call secret", func(c *call) {
		c.w.Header().Set("WWW-Authenticate", `Bearer scope="b"`)
		c.w.WriteHeader(http.StatusUnauthorized)
	})
	c := r.open(v2, `{}`)
	got := c.post(batch(toolCall(`1`, "slow", `1`), toolCall(`2`, "secret", `2`)))
	if got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") != `Bearer scope="b"` || strings.Contains(got.body, `"id"`) {
		t.Errorf("%d %v %s", got.status, got.header, got.body)
	}
	close(release)
	c.works()
}

// Afterwards it is that element's error.
func TestBatchUnauthorizedTooLate(t *testing.T) {
	r := newRig(t, nil)
	release := make(chan struct{})
	r.up.handle("tools/call secret", func(c *call) {
		c.wait(release)
		c.w.WriteHeader(http.StatusUnauthorized)
	})
	c := r.open(v2, `{}`)
	s := c.stream(http.MethodPost, batch(toolCall(`1`, "t", `1`), toolCall(`2`, "secret", `2`)))
	s.want(echoed(`1`, `1`))
	close(release)
	s.want(noJSONRPC(`2`, "401 Unauthorized", "401"))
	s.wantEnd()
}

// Who cancels a whole batch gets the end of the stream, or an empty answer
// where it takes only JSON: never an empty array.
func TestBatchAllCancelled(t *testing.T) {
	r := newRig(t, nil)
	handler, _ := hold(nil)
	r.up.handle(mcp.ToolsCall, handler)
	c := r.open(v2, `{}`)
	body := batch(toolCall(`1`, "t", `1`), toolCall(`2`, "t", `2`), cancelNote(`1`), cancelNote(`2`))
	if got := c.post(body); got.status != http.StatusOK || got.header.Get("Content-Type") != "text/event-stream" || got.body != "" {
		t.Errorf("%d %v %q", got.status, got.header, got.body)
	}
	if got := c.post(body, "Accept", "application/json"); got.status != http.StatusAccepted || got.body != "" {
		t.Errorf("%d %v %q", got.status, got.header, got.body)
	}
	if n := r.up.count(mcp.Cancelled); n != 4 {
		t.Errorf("%d cancellations", n)
	}
}

// One element cancelled: the others are answered.
func TestBatchOneCancelled(t *testing.T) {
	r := newRig(t, nil)
	handler, _ := hold(nil)
	r.up.handle("tools/call slow", handler)
	c := r.open(v2, `{}`)
	got := c.post(batch(toolCall(`1`, "slow", `1`), toolCall(`2`, "t", `2`), cancelNote(`1`)), "Accept", "application/json")
	wantArray(t, got, echoed(`2`, `2`))
}

// A server that dies in the middle leaves no element unanswered.
func TestBatchServerDies(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle("tools/call f", func(c *call) { panic(http.ErrAbortHandler) })
	c := r.open(v2, `{}`)
	got := c.post(batch(toolCall(`1`, "f", `1`), toolCall(`2`, "t", `2`), toolCall(`3`, "f", `3`)), "Accept", "application/json")
	wantArray(t, got, internalError(`1`, brokeOff, ""), echoed(`2`, `2`), internalError(`3`, brokeOff, ""))
}

// A batch whose first call says more than its stream may hold does not wait
// for itself: the rest is dispatched although nobody reads the answer yet.
func TestBatchDoesNotWaitForItself(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.StreamBytes = 1000 })
	sent := make(chan struct{})
	r.up.handle("tools/call loud", func(c *call) {
		for i := range 100 {
			_ = c.notify(mcp.LogMessage, `{"level":"info","data":"`+strings.Repeat("x", 100)+`"}`)
			if i == 50 {
				close(sent)
			}
		}
		c.standard()
	})
	r.up.handle(mcp.SetLevel, func(c *call) {
		c.wait(sent)
		c.result(`{}`)
	})
	c := r.open(v2, `{}`)
	s := c.stream(http.MethodPost, batch(toolCall(`1`, "loud", `1`), request(`2`, mcp.SetLevel, `{"level":"info"}`), toolCall(`3`, "t", `3`)))
	if n := len(s.events()); n != 103 {
		t.Errorf("%d events", n)
	}
}
