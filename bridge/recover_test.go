package bridge_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// past is an id as bridges give them out; nobody has it any more.
const past = "ABCDEFGHIJKLMNOPQRSTUVWX27"

func recovering(s *rigging) { s.RecoverSessions = true }

// returning is a client whose session is gone with the bridge that had it.
func (r *rig) returning(authorization string) *client {
	c := r.client()
	c.session = past
	if authorization != "" {
		c.header.Set("Authorization", authorization)
	}
	return c
}

// A request whose session is gone is served in a new one, whose id comes with
// the answer; the old id leads there too, for clients that keep it (report 70).
func TestRecoveredSession(t *testing.T) {
	for version, opened := range map[string]string{v1: v2, v2: v2, v3: v3, v4: v4, "": v2} { // which have no header before v3
		t.Run(version, func(t *testing.T) {
			header := []string{mcp.HeaderVersion, version}
			if version < v3 {
				header[1] = ""
			}
			r := newRig(t, recovering)
			c := r.returning("")
			got := c.post(toolCall(`4`, "t", `1`), header...)
			got.check(t, http.StatusOK, echoed(`4`, `1`))
			fresh := got.header.Get(mcp.HeaderSession)
			if fresh == "" || fresh == past {
				t.Fatalf("the new session is %q", fresh)
			}
			open := r.up.await(t, mcp.Initialize, 1)
			if got := open.Body.Text("protocolVersion"); got != opened {
				t.Errorf("opened as %s, not %s", got, opened)
			}
			if v, _ := open.Body.Get("capabilities"); string(v) != `{}` {
				t.Errorf("declared %s", v)
			}
			c.post(toolCall(`5`, "t", `2`), header...).check(t, http.StatusOK, echoed(`5`, `2`))
			c.session = fresh
			again := c.post(toolCall(`6`, "t", `3`), header...)
			again.check(t, http.StatusOK, echoed(`6`, `3`))
			if id := again.header.Get(mcp.HeaderSession); id != "" {
				t.Errorf("a session that is there is announced as %q", id)
			}
			if n := r.up.count(mcp.Initialize); n != 1 {
				t.Errorf("%d sessions were opened", n)
			}
			if c.do(http.MethodDelete, "").status != http.StatusNoContent {
				t.Error("the session does not end")
			}
			for _, id := range []string{fresh, past} { // and stays ended
				c.session = id
				if got := c.post(toolCall(`7`, "t", `4`), header...); got.status != http.StatusNotFound {
					t.Errorf("%s is answered %d %s", id, got.status, got.body)
				}
			}
		})
	}
}

// Requests that come at once share one new session, batches too.
func TestRecoveryIsShared(t *testing.T) {
	r := newRig(t, recovering)
	release := make(chan struct{})
	var holds sync.Once
	r.up.set(func() {
		r.up.first = func(c *call) bool {
			if c.Message != nil && c.Method == mcp.Initialize {
				holds.Do(func() { <-release })
			}
			return false
		}
	})
	c := r.returning("Bearer a")
	bodies := make(chan reply, 10)
	for range 10 {
		go func() {
			got, err := c.try(http.MethodPost, toolCall(`1`, "t", `1`))
			if err != nil {
				t.Error(err)
			}
			bodies <- got
		}()
	}
	r.up.await(t, mcp.Initialize, 1)
	close(release)
	ids := map[string]bool{}
	for range 10 {
		got := <-bodies
		got.check(t, http.StatusOK, echoed(`1`, `1`))
		ids[got.header.Get(mcp.HeaderSession)] = true
	}
	got := c.post(`[`+toolCall(`2`, "t", `2`)+`]`, mcp.HeaderVersion, "")
	if got.status != http.StatusOK || !strings.Contains(got.body, `"id":2,"result"`) {
		t.Errorf("a batch is answered %d %s", got.status, got.body)
	}
	if n := r.up.count(mcp.Initialize); n != 1 || len(ids) != 1 {
		t.Errorf("%d sessions were opened, %d announced", n, len(ids))
	}
}

// Nobody comes so to what another has: neither to a session that lives, nor to
// one that took the place of an old one, whoever had the id before.
func TestRecoveryTakesNothingOver(t *testing.T) {
	r := newRig(t, recovering)
	mine := r.client()
	mine.header.Set("Authorization", "Bearer a")
	mine.open(v3, `{}`)
	thief := r.client()
	thief.header.Set("Authorization", "Bearer b")
	nobody := r.client()
	for _, c := range []*client{thief, nobody} {
		c.session = mine.session
		for _, verb := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			body := ""
			if verb == http.MethodPost {
				body = toolCall(`1`, "t", `1`)
			}
			if got := c.do(verb, body); got.status != http.StatusNotFound || got.header.Get(mcp.HeaderSession) != "" {
				t.Errorf("%s is answered %d %s", verb, got.status, got.body)
			}
		}
	}
	if n := r.up.count(mcp.Initialize); n != 1 {
		t.Fatalf("%d sessions were opened", n)
	}
	sessions := map[string]string{}
	for n, who := range []string{"Bearer b", "Bearer a", ""} {
		c := r.returning(who)
		got := c.post(toolCall(`1`, "t", `1`))
		got.check(t, http.StatusOK, echoed(`1`, `1`))
		sessions[got.header.Get(mcp.HeaderSession)] = who
		if sent := r.up.await(t, mcp.Initialize, n+2).header.Get("Authorization"); sent != who {
			t.Errorf("the session of %q is opened with %q", who, sent)
		}
	}
	if len(sessions) != 3 {
		t.Errorf("sessions are shared: %v", sessions)
	}
	for id, who := range sessions {
		if who == "Bearer b" {
			continue
		}
		c := r.client()
		c.header.Set("Authorization", "Bearer b")
		c.session = id
		if got := c.post(toolCall(`2`, "t", `1`)); got.status != http.StatusNotFound {
			t.Errorf("the session of %q answers another: %d %s", who, got.status, got.body)
		}
	}
	mine.works()
}

// What is no request asks for no session; what no bridge gave out is unknown;
// what asks for a stream or an end has none.
func TestNothingToRecover(t *testing.T) {
	r := newRig(t, recovering)
	c := r.returning("")
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		initialized,
	} {
		if got := c.post(body); got.status != http.StatusAccepted || got.body != "" || got.header.Get(mcp.HeaderSession) != "" {
			t.Errorf("%s is answered %d %s", body, got.status, got.body)
		}
	}
	for name, got := range map[string]reply{
		"GET":        c.do(http.MethodGet, ""),
		"DELETE":     c.do(http.MethodDelete, ""),
		"initialize": c.post(initializeWith(`1`, v3, `{}`)),
		"foreign id": c.post(toolCall(`1`, "t", `1`), mcp.HeaderSession, "4f1c0b56-5f7a-4b0e-9d9e-8f0a1f6f6a11"),
		"lower case": c.post(toolCall(`1`, "t", `1`), mcp.HeaderSession, strings.ToLower(past)),
		"no batch":   c.post(`[]`),
		"no message": c.post(`[1]`),
		"no version": c.post(toolCall(`1`, "t", `1`), mcp.HeaderVersion, "1999-01-01"),
	} {
		if got.status != http.StatusNotFound {
			t.Errorf("%s is answered %d %s", name, got.status, got.body)
		}
	}
	if n := r.up.count(""); n != 0 {
		t.Errorf("the server was sent %s", r.up.names())
	}
	off := newRig(t, nil).returning("").post(toolCall(`4`, "t", `1`))
	if off.status != http.StatusNotFound || strings.Contains(off.body, `"id"`) {
		t.Errorf("without the option: %d %s", off.status, off.body)
	}
}

// A call in a recovered session runs once, whatever becomes of it, and an
// answer to a question of the old session answers none of the new.
func TestRecoveryRunsNothingAgain(t *testing.T) {
	r := newRig(t, recovering)
	r.up.handle("tools/call breaks", func(*call) { panic(http.ErrAbortHandler) })
	c := r.returning("")
	got := c.post(toolCall(`1`, "breaks", `1`))
	if got.status != http.StatusOK || !strings.Contains(got.body, `"error"`) || r.up.count(mcp.ToolsCall) != 1 {
		t.Errorf("answered %s after %d calls", got.body, r.up.count(mcp.ToolsCall))
	}
	asked := make(chan *mcp.Message, 1)
	r.up.handle("tools/call ask", func(c *call) {
		c.stream()
		_, answer := c.post(mcp.Ping, `{}`) // the only question that nobody must declare
		asked <- <-answer
		c.text("done")
	})
	for id := range 20 { // of any question before
		c.post(`{"jsonrpc":"2.0","id":` + string(mcp.IntID(int64(id)).Raw()) + `,"result":{"stale":true}}`)
	}
	c.post(toolCall(`2`, "ask", `1`))
	if m := <-asked; m.Kind != mcp.Result || m.Body.Has("stale") {
		t.Errorf("the question is answered %s", m.Bytes())
	}
}

// A server that cannot be reached is this request's error; the next one tries
// again.
func TestRecoveryThatFails(t *testing.T) {
	r := newRig(t, recovering)
	var failing atomic.Bool
	failing.Store(true)
	r.up.set(func() {
		r.up.first = func(c *call) bool {
			if failing.Load() {
				c.reply(http.StatusInternalServerError, "text/plain", "no")
				return true
			}
			return false
		}
	})
	c := r.returning("")
	got := c.post(toolCall(`"x"`, "t", `1`))
	if got.status != http.StatusOK || !strings.Contains(got.body, `"id":"x","error"`) || got.header.Get(mcp.HeaderSession) != "" {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	failing.Store(false)
	c.post(toolCall(`2`, "t", `1`)).check(t, http.StatusOK, echoed(`2`, `1`))
}
