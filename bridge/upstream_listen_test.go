package bridge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// lasting is a listen at the server. What the test does with it is done by the
// goroutine of its request.
type lasting struct {
	*call
	work chan func()
}

// listens makes the test answer the listens of a server, which last until the
// bridge closes them.
func listens(up *server) <-chan *lasting {
	came := make(chan *lasting, 16)
	up.handle(mcp.Listen, func(c *call) {
		l := &lasting{call: c, work: make(chan func())}
		came <- l
		for {
			select {
			case f := <-l.work:
				f()
			case <-c.r.Context().Done():
				return
			}
		}
	})
	return came
}

// do returns once the request's goroutine did what is asked.
func (l *lasting) do(f func()) {
	done := make(chan struct{})
	select {
	case l.work <- func() { defer close(done); f() }:
		<-done
	case <-l.r.Context().Done():
	}
}

// agree acknowledges the listen.
func (l *lasting) agree(notifications string) {
	l.do(func() { l.acknowledge(notifications) })
}

// tell sends a message on the stream of the listen, marked as its own.
func (l *lasting) tell(method, params string) {
	l.do(func() { _ = l.notify(method, `{`+params+l.subscription()+`}`) })
}

// update tells of a resource.
func (l *lasting) update(uri string) { l.tell(mcp.ResourceUpdated, `"uri":"`+uri+`",`) }

// isOpen fails the test if the listen was closed.
func (l *lasting) isOpen(t *testing.T) {
	t.Helper()
	if l.r.Context().Err() != nil {
		t.Error("the listen is closed")
	}
}

// begun makes a request whose answer may take until something else happened.
func (c *client) begun(body string) <-chan reply {
	done := make(chan reply, 1)
	go func() {
		r, err := c.try(http.MethodPost, body)
		if err != nil {
			r.body = err.Error()
		}
		done <- r
	}()
	return done
}

func subscribe(id, uri string) string {
	return request(id, mcp.ResourcesSubscribe, `{"uri":"`+uri+`"}`)
}

func updated(uri string) string {
	return `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + uri + `"}}`
}

// Subscriptions are one listen, which is replaced by a larger one before it is
// closed (G-24).
func TestSubscriptionIsAListen(t *testing.T) {
	r := newModernRig(t, known)
	r.up.capabilities = `{"resources":{"subscribe":true}}`
	came := listens(r.up)
	c := r.open(v4, `{}`)
	news := c.stream(http.MethodGet, "")

	answer := c.begun(subscribe(`1`, "a:a"))
	first := <-came
	equivalent(t, "the listen", first.param("notifications"), `{"resourceSubscriptions":["a:a"]}`)
	c.post(request(`"p"`, mcp.Ping, `{}`))
	select {
	case got := <-answer:
		t.Errorf("before the server agreed: %d %s", got.status, got.body)
	default:
	}
	first.agree(`{"resourceSubscriptions":["a:a"]}`)
	(<-answer).check(t, http.StatusOK, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	first.update("a:a")
	news.want(updated("a:a"))
	c.post(subscribe(`2`, "a:a")).check(t, http.StatusOK, `{"jsonrpc":"2.0","id":2,"result":{}}`)

	answer = c.begun(subscribe(`3`, "a:b"))
	second := <-came
	equivalent(t, "the listen", second.param("notifications"), `{"resourceSubscriptions":["a:a","a:b"]}`)
	first.isOpen(t)
	first.update("a:a/part")
	news.want(updated("a:a/part"))
	second.agree(`{"resourceSubscriptions":["a:a","a:b"]}`)
	(<-answer).check(t, http.StatusOK, `{"jsonrpc":"2.0","id":3,"result":{}}`)
	within(t, "the end of the first listen", first.r.Context().Done())

	answer = c.begun(subscribe(`4`, "a:c"))
	third := <-came
	third.agree(`{"resourceSubscriptions":["a:a","a:b"]}`)
	if got := <-answer; got.status != http.StatusOK || !strings.Contains(got.body, `"id":4,"error":{"code":-32602`) || !strings.Contains(got.body, `"data":{"uri":"a:c"}`) {
		t.Errorf("a refused subscription is answered %d %s", got.status, got.body)
	}
	third.update("a:b")
	news.want(updated("a:b"))
	third.isOpen(t)

	c.post(request(`5`, mcp.ResourcesUnsubscribe, `{"uri":"a:a"}`)).check(t, http.StatusOK, `{"jsonrpc":"2.0","id":5,"result":{}}`)
	last := <-came
	equivalent(t, "the listen", last.param("notifications"), `{"resourceSubscriptions":["a:b"]}`)
	last.agree(`{"resourceSubscriptions":["a:b"]}`)
	within(t, "the end of the third listen", third.r.Context().Done())
	c.do(http.MethodDelete, "")
	within(t, "the end of the last listen", last.r.Context().Done())
}

// Changes of lists come to a client that listens, whatever else a listen may
// bring (B.6).
func TestChangesOfListsAreListenedFor(t *testing.T) {
	r := newModernRig(t, known)
	r.up.capabilities = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true},"logging":{}}`
	came := listens(r.up)
	c := r.open(v3, `{}`)
	listen := <-came
	equivalent(t, "the listen", listen.param("notifications"), `{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`)
	news := c.stream(http.MethodGet, "")
	listen.agree(`{"toolsListChanged":true}`)
	listen.do(func() {
		_ = listen.notify(mcp.LogMessage, `{"level":"info","data":"x"}`)
		_ = listen.notify(mcp.Progress, `{"progressToken":`+listen.ID.String()+`,"progress":1}`)
		_ = listen.event(request(`9`, mcp.RootsList, `{}`))
	})
	listen.tell(mcp.ToolsChanged, ``)
	news.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	c.do(http.MethodDelete, "")
	within(t, "the end of the listen", listen.r.Context().Done())
}

// A listen that breaks off is opened again, and what may have been missed is
// told (B.6).
func TestListenIsOpenedAgain(t *testing.T) {
	r := newModernRig(t, known)
	r.up.capabilities = `{"resources":{"subscribe":true}}`
	breaking := make(chan struct{})
	came := make(chan *call, 16)
	r.up.handle(mcp.Listen, func(c *call) {
		c.acknowledge(c.param("notifications"))
		came <- c
		c.wait(breaking)
	})
	c := r.open(v4, `{}`)
	news := c.stream(http.MethodGet, "")
	c.post(subscribe(`1`, "a:a")).check(t, http.StatusOK, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	<-came
	breaking <- struct{}{}
	again := <-came
	equivalent(t, "the listen", again.param("notifications"), `{"resourceSubscriptions":["a:a"]}`)
	news.want(updated("a:a"))
}

// A server without listen serves everything else, and is not asked again
// (G-80).
func TestServerWithoutListen(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle(mcp.Listen, func(c *call) { c.refuse(http.StatusNotFound, `{"code":-32601,"message":"Method not found"}`) })
	c := r.open(v4, `{}`)
	r.up.await(t, mcp.Listen, 1)
	c.echoes(1)
	for range 2 {
		if got := c.post(subscribe(`2`, "a:a")); got.status != http.StatusOK || !strings.Contains(got.body, `"id":2,"error"`) {
			t.Errorf("the subscription is answered %d %s", got.status, got.body)
		}
	}
	if n := r.up.count(mcp.Listen); n > 2 {
		t.Errorf("the server was asked to listen %d times", n)
	}
	c.echoes(3)
}

// A session belongs to who opened it, before a server without sessions too
// (G-30).
func TestSessionBeforeStatelessServerHasAnOwner(t *testing.T) {
	r := newModernRig(t, known)
	alice := r.client()
	alice.header.Set("Authorization", "Bearer alice")
	alice.open(v4, `{}`)
	for _, verb := range verbs {
		body := ""
		if verb == http.MethodPost {
			body = toolCall(`1`, "t", `1`)
		}
		if got := alice.do(verb, body, "Authorization", "Bearer bob"); got.status != http.StatusNotFound {
			t.Errorf("%s by another is answered %d %s", verb, got.status, got.body)
		}
	}
	alice.echoes(2)
	if got := r.up.await(t, mcp.ToolsCall, 1).header.Get("Authorization"); got != "Bearer alice" {
		t.Errorf("the server was shown %q", got)
	}
}
