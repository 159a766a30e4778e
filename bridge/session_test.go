package bridge_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

var verbs = []string{http.MethodPost, http.MethodGet, http.MethodDelete}

// wantGone fails the test unless the session is unknown to that client on
// every verb. The answers name no request (report 70: a client that finds its
// request's id there does not notice that the session is gone).
func (c *client) wantGone(header ...string) {
	c.t.Helper()
	for _, verb := range verbs {
		body := ""
		if verb == http.MethodPost {
			body = toolCall(`4`, "t", `1`)
		}
		badInput{verb: verb, body: body, header: header, status: http.StatusNotFound, code: -32600}.check(c.t, c)
	}
}

func TestReport70UnknownSession(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	sent := r.up.count("")
	c.wantGone(mcp.HeaderSession, "of-another-process")
	if r.up.count("") != sent {
		t.Errorf("the upstream got %s", r.up.names())
	}
	c.works()
}

// A session belongs to the credentials that opened it, by whatever request it is
// named; that its streams are not taken up by others either is
// TestComingBackToACall's, what a renewed token may do TestRenewedToken's.
func TestReport170SessionOfAnotherPrincipal(t *testing.T) {
	for name, c := range map[string]struct{ owner, other string }{
		"other token":    {"Bearer a", "Bearer b"},
		"no token":       {"Bearer a", ""},
		"token for none": {"", "Bearer b"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			owner := r.client()
			if c.owner != "" {
				owner.header.Set("Authorization", c.owner)
			}
			owner.open(v4, `{}`)
			sent := r.up.count("")
			owner.wantGone("Authorization", c.other)
			if r.up.count("") != sent {
				t.Errorf("the upstream got %s", r.up.names())
			}
			owner.works()
		})
	}
}

func TestSessionDelete(t *testing.T) {
	r := newRig(t, nil)
	c, other := r.open(v4, `{}`), r.open(v4, `{}`)
	if got := c.do(http.MethodDelete, ""); got.status != http.StatusNoContent || got.body != "" {
		t.Errorf("%d %q", got.status, got.body)
	}
	c.wantGone()
	if got := r.up.await(t, "DELETE", 1); got.session != "up-1" {
		t.Errorf("the upstream's session %s was ended", got.session)
	}
	if n := r.heard.count("closed " + v4 + " " + v4); n != 1 || r.bridge.Sessions() != 1 {
		t.Errorf("closed %d, %d left", n, r.bridge.Sessions())
	}
	other.works()
}

// A session that ends ends its streams, and a call under way gets an error.
func TestSessionDeleteEndsStreams(t *testing.T) {
	r := newRig(t, nil)
	handler, arrived := hold(nil)
	r.up.handle(mcp.ToolsCall, handler)
	c := r.open(v4, `{}`)
	get := c.stream(http.MethodGet, "")
	call := hosted(c, toolCall(`1`, "t", `1`))
	<-arrived
	c.do(http.MethodDelete, "")
	if got := <-call; got.status != http.StatusOK || got.body != internalError(`1`, "the client ended the session", "") {
		t.Errorf("the call got %d %s", got.status, got.body)
	}
	get.wantEnd()
	r.up.await(t, "DELETE", 1)
}

// A second initialize without a session opens another.
func TestSessionSecondInitialize(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v4, `{}`)
	again := r.client()
	again.open(v2, `{}`)
	if c.session == again.session || r.bridge.Sessions() != 2 {
		t.Errorf("%d sessions", r.bridge.Sessions())
	}
	c.works()
	again.works()
}

// A client has one standalone stream, the newest: one that is half dead must not
// be in its way (report 80).
func TestSessionGETTakesOver(t *testing.T) {
	r := newRig(t, nil)
	send := make(chan string)
	r.up.handle("GET", func(c *call) {
		c.stream()
		for {
			select {
			case text := <-send:
				_ = c.event(text)
			case <-c.r.Context().Done():
				return
			}
		}
	})
	c := r.open(v4, `{}`)
	old := c.stream(http.MethodGet, "")
	send <- note("1")
	old.want(note("1"))
	fresh := c.stream(http.MethodGet, "")
	old.wantEnd()
	send <- note("2")
	fresh.want(note("2"))
	c.works()
}

// note is a log message.
func note(data string) string {
	return `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":` + data + `}}`
}

// Who probes gets an answer and costs no session (reports 67 and 125).
func TestReport125PingWithoutSession(t *testing.T) {
	r := newRig(t, nil)
	c := r.client()
	for range 3 {
		if got := c.post(request(`9`, mcp.Ping, `{}`)); got.status != http.StatusOK || got.body != `{"jsonrpc":"2.0","id":9,"result":{}}` {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	badInput{body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`, status: 400, code: -32600}.check(t, c)
	for _, probe := range []struct{ verb, accept string }{{http.MethodGet, "*/*"}, {http.MethodHead, ""}, {http.MethodOptions, ""}} {
		if got := c.do(probe.verb, "", "Accept", probe.accept); got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != "POST, GET, DELETE" {
			t.Errorf("%s: %d %v", probe.verb, got.status, got.header)
		}
	}
	if r.up.count("") != 0 || r.bridge.Sessions() != 0 {
		t.Errorf("%d sessions; the upstream got %s", r.bridge.Sessions(), r.up.names())
	}
	c.open(v4, `{}`)
	c.works()
}

// A client may forget Accept on its notifications (report 45).
func TestReport45InitializedWithoutAccept(t *testing.T) {
	r := newRig(t, nil)
	c := r.client()
	c.session = c.post(initializeWith(`0`, v4, `{}`)).header.Get(mcp.HeaderSession)
	if got := c.post(initialized, "Accept", ""); got.status != http.StatusAccepted || got.body != "" {
		t.Errorf("%d %q", got.status, got.body)
	}
	if r.up.count(mcp.Initialized) != 1 {
		t.Errorf("the upstream got %s", r.up.names())
	}
	c.works()
}

// Only what nobody uses expires: not a session with a call under way, nor one
// whose client listens (report 102).
func TestSessionExpires(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.SessionTimeout = time.Second })
	release := make(chan struct{})
	handler, arrived := hold(release)
	r.up.handle("tools/call slow", handler)
	caller, listener := r.open(v4, `{}`), r.open(v3, `{}`)
	call := hosted(caller, toolCall(`1`, "slow", `1`))
	<-arrived
	listener.stream(http.MethodGet, "")
	idle := r.open(v1, `{}`)
	r.heard.await(t, "closed "+v1+" "+v1, 1)
	idle.wantGone()
	if r.heard.starting("closed") != 1 {
		t.Errorf("heard %v", r.heard.counts)
	}
	listener.works()
	close(release)
	if got := <-call; got.body != echoed(`1`, `1`) {
		t.Errorf("the call got %s", got.body)
	}
	r.heard.await(t, "closed "+v4+" "+v4, 1)
	caller.wantGone()
}

// Upstream credentials do not pass from one session to another.
func TestSessionsKeepTheirCredentials(t *testing.T) {
	r := newRig(t, nil)
	a, b := r.client(), r.client()
	a.header.Set("Authorization", "Bearer a")
	b.header.Set("Authorization", "Bearer b")
	a.open(v4, `{}`)
	b.open(v4, `{}`)
	a.works()
	b.works()
	for _, up := range r.up.all("") {
		if up.is(mcp.Initialize) {
			continue
		}
		if want := map[string]string{"up-1": "Bearer a", "up-2": "Bearer b"}[up.session]; up.header.Get("Authorization") != want {
			t.Errorf("%s %s of %s has %q", up.verb, up.body, up.session, up.header.Get("Authorization"))
		}
	}
	if a.session == b.session || strings.HasPrefix(a.session, "up-") {
		t.Errorf("sessions %s %s", a.session, b.session)
	}
}

// A session is in use until its call is answered, not only when it came.
func TestSessionExpiresAfterItsLastAnswer(t *testing.T) {
	const idle = time.Second
	r := newRig(t, func(s *rigging) { s.SessionTimeout = idle })
	r.up.handle("tools/call slow", func(c *call) {
		timer := time.NewTimer(idle / 2)
		defer timer.Stop()
		<-timer.C
		c.standard()
	})
	c := r.open(v4, `{}`)
	c.post(toolCall(`1`, "slow", `1`))
	answered := time.Now()
	r.heard.await(t, "closed "+v4+" "+v4, 1)
	if lasted := time.Since(answered); lasted < idle*9/10 {
		t.Errorf("the session was closed %s after an answer", lasted)
	}
}
