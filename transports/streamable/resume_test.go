package streamable

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// scene runs a test with an endpoint in memory and a client of it.
func scene(t *testing.T, k *keeper, test func(t *testing.T, c *Client, s *Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := endpoint(t, k, ServerConfig{KeepAlive: 24 * time.Hour})
		c, stop := inMemory(t, s, ClientConfig{})
		defer stop()
		defer k.end() // or what collects the streams would outlive the bubble
		test(t, c, s)
	})
}

// TestResume loses the connection in the middle of a call; the answer comes
// while nobody is there.
func TestResume(t *testing.T) {
	k := &keeper{greet: []string{news(1), news(2)}}
	scene(t, k, func(t *testing.T, c *Client, _ *Server) {
		v := visitWith(t, c, "POST", "")
		v.want(news(1))
		first := v.last
		v.want(news(2))
		v.leave()
		if synctest.Wait(); k.stream().Attended() {
			t.Error("the host is not told that the client is away")
		}
		k.stream().Push(message(t, news(3)))
		synctest.Wait()
		if !k.stream().Finish(message(t, pong)) {
			t.Fatal("a stream that its client lost takes no answer")
		}
		synctest.Wait()
		for range 2 { // the second time after a loss of the same
			v = visitWith(t, c, "GET", first)
			v.want(news(2), news(3), pong)
			last := v.last
			v.want("")
			visitWith(t, c, "GET", last).want("") // nothing came after the answer
		}
		if k.opened() != "post" {
			t.Errorf("the host was asked for %s", k.opened())
		}
	})
}

// TestResumeLive comes back before the answer, and before the endpoint has
// noticed that the old connection is dead.
func TestResumeLive(t *testing.T) {
	k := &keeper{greet: []string{news(1)}}
	scene(t, k, func(t *testing.T, c *Client, _ *Server) {
		start := time.Now()
		old := visitWith(t, c, "POST", "")
		old.want(news(1))
		v := visitWith(t, c, "GET", old.last)
		if old.want(""); time.Since(start) > 0 {
			t.Errorf("the old connection ended after %v", time.Since(start))
		}
		synctest.Wait()
		for range 2 { // it leaves once more, and comes back
			if !k.stream().Attended() {
				t.Error("the host is told that the client is away")
			}
			v.leave()
			synctest.Wait()
			v = visitWith(t, c, "GET", old.last)
		}
		k.stream().Push(message(t, news(2)))
		v.want(news(2))
		k.stream().Finish(message(t, pong))
		v.want(pong, "")
	})
}

func TestResumeOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		header []string
		id     func(real string) string
		status int
		opened string
	}{
		"other owner":   {[]string{"Authorization", "thief"}, same, 404, "post"},
		"other session": {[]string{mcp.HeaderSession, "s2"}, same, 200, "post listen"},
		"no session":    {[]string{mcp.HeaderSession, ""}, same, 200, "post listen"},
		"unknown id":    {nil, func(string) string { return "x-1" }, 200, "post listen"},
		"no id of ours": {nil, func(string) string { return "17" }, 200, "post listen"},
		"negative":      {nil, func(id string) string { return id[:26] + "--1" }, 200, "post listen"},
		"future":        {nil, func(id string) string { return id[:26] + "-7" }, 200, "post listen"},
	} {
		t.Run(name, func(t *testing.T) {
			k := &keeper{greet: []string{news(1)}}
			scene(t, k, func(t *testing.T, client *Client, _ *Server) {
				v := visitWith(t, client, "POST", "")
				v.want(news(1))
				v.leave()
				synctest.Wait()
				got := visitWith(t, client, "GET", c.id(v.last), c.header...)
				if got.resp.StatusCode != c.status || k.opened() != c.opened {
					t.Errorf("status %d after %s", got.resp.StatusCode, k.opened())
				}
				if k.stream().Push(message(t, news(2))); c.status == 200 {
					got.want(news(2)) // and nothing of the call
				}
				got.leave()
				synctest.Wait()
			})
		})
	}
}

func same(id string) string { return id }

func TestNotKept(t *testing.T) {
	k := &keeper{greet: []string{news(1)}, fleeting: true, primed: true}
	scene(t, k, func(t *testing.T, c *Client, s *Server) {
		v := visitWith(t, c, "POST", "")
		if v.want(news(1)); v.last != "" {
			t.Errorf("the event has the id %q", v.last)
		}
		v.leave()
		if synctest.Wait(); k.stream().Open() || s.shelf.order.Len() > 0 {
			t.Error("the stream is kept")
		}
	})
}

// TestPriming has a call that is silent: only clients that know events
// without data are told where they are.
func TestPriming(t *testing.T) {
	for _, primed := range []bool{true, false} {
		k := &keeper{primed: primed}
		scene(t, k, func(t *testing.T, c *Client, _ *Server) {
			start := time.Now()
			v := visitWith(t, c, "POST", "")
			if primed != (time.Since(start) == primeAfter) {
				t.Errorf("the stream began after %v", time.Since(start))
			}
			if primed {
				if v.want(""); !strings.HasSuffix(v.last, "-0") || !v.retry {
					t.Errorf("the first event has the id %q, retry %v", v.last, v.retry)
				}
				v.leave()
				synctest.Wait()
				k.stream().Finish(message(t, pong))
				v = visitWith(t, c, "GET", v.last)
			} else {
				k.stream().Finish(message(t, pong))
			}
			v.want(pong, "")
		})
	}
}

// TestPrimingIsNoHaste keeps quick answers as JSON.
func TestPrimingIsNoHaste(t *testing.T) {
	k := &keeper{primed: true}
	scene(t, k, func(t *testing.T, c *Client, _ *Server) {
		time.AfterFunc(primeAfter-1, func() { k.stream().Finish(message(t, pong)) })
		v := visitWith(t, c, "POST", "", "Accept", "application/json, text/event-stream")
		if got := v.resp.Header.Get("Content-Type"); got != typeJSON {
			t.Errorf("the answer is %s", got)
		}
		v.leave()
	})
}

func TestResumeStandalone(t *testing.T) {
	for _, dead := range []bool{true, false} { // whether the endpoint noticed
		k := &keeper{}
		scene(t, k, func(t *testing.T, c *Client, _ *Server) {
			v := visitWith(t, c, "GET", "")
			k.stream().Push(message(t, news(1)))
			v.want(news(1))
			first, old := v.last, k.stream()
			k.stream().Push(message(t, news(2)))
			synctest.Wait()
			if dead {
				v.leave()
				if synctest.Wait(); old.Open() {
					t.Error("the host is not told that nobody listens")
				}
			}
			v = visitWith(t, c, "GET", first)
			v.want(news(2))
			k.stream().Push(message(t, news(3)))
			v.want(news(3))
			last := v.last
			v.leave()
			synctest.Wait()
			v = visitWith(t, c, "GET", last)
			k.stream().Push(message(t, news(4)))
			v.want(news(4))
			v.leave()
			synctest.Wait()
		})
	}
}

func TestExpiry(t *testing.T) {
	k := &keeper{greet: []string{news(1)}}
	scene(t, k, func(t *testing.T, c *Client, s *Server) {
		v := visitWith(t, c, "POST", "")
		v.want(news(1))
		v.leave()
		pass(s.shelf.limits.life - time.Second)
		w := visitWith(t, c, "GET", v.last)
		synctest.Wait()
		pass(s.shelf.limits.life) // it does not expire under a client
		k.stream().Push(message(t, news(2)))
		w.want(news(2))
		w.leave()
		pass(s.shelf.limits.life + time.Second)
		if synctest.Wait(); k.stream().Open() || s.shelf.order.Len() > 0 || s.shelf.bytes != 0 || len(s.shelf.sessions) > 0 {
			t.Error("the stream is still kept")
		}
	})
}

// TestEndForgets ends the session: nobody comes back to its streams.
func TestEndForgets(t *testing.T) {
	k := &keeper{greet: []string{news(1)}}
	scene(t, k, func(t *testing.T, c *Client, s *Server) {
		v := visitWith(t, c, "POST", "")
		v.want(news(1))
		v.leave()
		synctest.Wait()
		if resp := visitWith(t, c, "DELETE", "").resp; resp.StatusCode != http.StatusNoContent {
			t.Errorf("status %d", resp.StatusCode)
		}
		if synctest.Wait(); k.stream().Open() || s.shelf.order.Len() > 0 {
			t.Error("the stream is still kept")
		}
	})
}

var _ transports.Resumer = (*keeper)(nil)

// pass lets time go by: in the bubble no real one does.
func pass(d time.Duration) { <-time.After(d) }
