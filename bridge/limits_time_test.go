package bridge_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/internal/schema"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
)

// clockwork is a bridge before processes, without a network: its time passes
// when all sides wait.
type clockwork struct {
	*rig
	// Of the processes to come: how long they take to start, and whether they
	// answer initialize.
	slow   time.Duration
	silent bool

	mu        sync.Mutex
	processes []*process
}

// Dial implements transports.Dialer: each conversation has its own process.
func (c *clockwork) Dial(ctx context.Context) (transports.Conn, error) {
	p := newProcess(c.t)
	p.silent = c.silent
	c.mu.Lock()
	c.processes = append(c.processes, p)
	c.mu.Unlock()
	select {
	case <-time.After(c.slow):
		return p.Dial(ctx)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func inTime(t *testing.T, change func(*bridge.Settings), test func(c *clockwork)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &clockwork{}
		heard := newWitness()
		s := bridge.Settings{
			Ladder: rewrite.Standard(), Era: negotiate.Legacy, Dial: func() transports.Upstream { return transports.NewPiped(c) },
			Upstream: "one", Deps: rewrite.Deps{Validate: schema.Validate}, Options: mcp.DefaultOptions(), Observer: heard, Log: zerolog.Nop(),
		}
		change(&s)
		c.rig = &rig{t: t, bridge: bridge.New(s), heard: heard}
		t.Cleanup(func() {
			if err := c.bridge.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		test(c)
	})
}

// post hands in a message as an endpoint does, and returns how it is answered
// once nothing moves any more, and the session that it opens.
func (c *clockwork) post(session, text string, header ...string) (answer reply, opened string) {
	c.t.Helper()
	f, fault := mcp.Decode([]byte(text))
	if fault != nil {
		c.t.Fatal(fault)
	}
	x := &transports.Exchange{Header: http.Header{}, Session: session, Transport: streamable.Name, Frame: f, JSON: true, Events: true}
	for i := 0; i < len(header); i += 2 {
		x.Header.Set(header[i], header[i+1])
	}
	x.Version = x.Header.Get(mcp.HeaderVersion)
	ctx, left := context.WithCancel(context.Background())
	defer left()
	r := c.bridge.Post(ctx, x)
	answer.status, answer.header = r.Status, r.Header
	m := r.Message
	for r.Stream != nil && m == nil {
		d, ok := r.Stream.Next()
		if m = d.Message; ok || m != nil {
			break
		}
		<-r.Stream.Ready()
	}
	if m != nil {
		answer.body = string(m.Bytes())
	}
	return answer, r.Header.Get(mcp.HeaderSession)
}

// opens returns the session of a new client.
func (c *clockwork) opens() string {
	c.t.Helper()
	answer, session := c.post("", initializeWith(`1`, v3, `{}`))
	if session == "" {
		c.t.Fatalf("initialize is answered %d %s", answer.status, answer.body)
	}
	c.post(session, initialized)
	return session
}

// works fails the test unless a session serves a request.
func (c *clockwork) works(session string) {
	c.t.Helper()
	if got, _ := c.post(session, request(`5`, mcp.ToolsList, `{}`)); got.body != `{"jsonrpc":"2.0","id":5,"result":{"tools":[]}}` {
		c.t.Errorf("the session answers %d %s", got.status, got.body)
	}
}

func TestLimitHandshake(t *testing.T) {
	inTime(t, func(s *bridge.Settings) { s.HandshakeTimeout = time.Minute }, func(c *clockwork) {
		c.slow = time.Minute - time.Nanosecond
		first := c.opens()
		c.wantLimited("", 0)
		c.slow, c.silent = 0, true
		began := time.Now()
		got, session := c.post("", initializeWith(`"i"`, v3, `{}`))
		if session != "" || got.body != internalError(`"i"`, "the upstream server did not answer within 1m0s, the limit handshake_timeout", "") || time.Since(began) != time.Minute {
			t.Errorf("after %s %d %s", time.Since(began), got.status, got.body)
		}
		c.wantLimited(mcp.LimitHandshake, 1)
		c.silent = false
		c.works(first)
		c.works(c.opens())
	})
}

func TestLimitRequest(t *testing.T) {
	inTime(t, func(s *bridge.Settings) { s.RequestTimeout = time.Minute }, func(c *clockwork) {
		first, other := c.opens(), c.opens()
		c.processes[0].hold = true
		answerAfter := func(d time.Duration) string {
			timer := time.AfterFunc(d, func() { c.processes[0].done("x") })
			defer timer.Stop()
			got, _ := c.post(first, request(`7`, mcp.ToolsCall, `{"name":"x"}`))
			return got.body
		}
		if got := answerAfter(time.Minute - time.Nanosecond); !strings.Contains(got, `"result"`) {
			t.Errorf("in time: %s", got)
		}
		c.wantLimited("", 0)
		if got := answerAfter(time.Hour); got != internalError(`7`, "the upstream server did not answer within 1m0s, the limit request_timeout", "") {
			t.Errorf("too late: %s", got)
		}
		c.wantLimited(mcp.LimitRequest, 1)
		c.works(first)
		c.works(other)
	})
}

func TestLimitSession(t *testing.T) {
	inTime(t, func(s *bridge.Settings) { s.SessionTimeout = time.Minute }, func(c *clockwork) {
		idle, used := c.opens(), c.opens()
		time.Sleep(time.Minute - time.Nanosecond)
		synctest.Wait()
		c.works(used)
		c.wantLimited("", 0)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		c.wantLimited(mcp.LimitSession, 1)
		if got, _ := c.post(idle, request(`1`, mcp.ToolsList, `{}`)); got.status != http.StatusNotFound {
			t.Errorf("the session that expired answers %d %s", got.status, got.body)
		}
		c.works(used)
	})
}

func TestLimitPoolIdle(t *testing.T) {
	inTime(t, func(s *bridge.Settings) { s.PoolIdle = time.Minute }, func(c *clockwork) {
		list := func(who string) {
			t.Helper()
			got, _ := c.post("", standalone(`7`, mcp.ToolsList, "", `{}`), routing(mcp.ToolsList, "", "Authorization", who)...)
			if got.status != http.StatusOK || !strings.Contains(got.body, `"tools":[]`) {
				t.Errorf("%s is answered %d %s", who, got.status, got.body)
			}
			synctest.Wait()
		}
		list("Bearer alice")
		time.Sleep(time.Second)
		list("Bearer bob")
		time.Sleep(time.Minute - time.Second - time.Nanosecond)
		synctest.Wait()
		c.wantLimited("", 0)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		c.wantLimited(mcp.LimitPoolIdle, 1)
		if n := c.bridge.Pool()[bridge.PoolIdle]; n != 1 {
			t.Errorf("the pool holds %v", c.bridge.Pool())
		}
		list("Bearer bob")
		list("Bearer alice") // in another
		if n := len(c.processes); n != 3 {
			t.Errorf("%d conversations were opened", n)
		}
	})
}

// A server that takes too long to be reached is not one that is not there.
func TestLimitConnect(t *testing.T) {
	inTime(t, func(s *bridge.Settings) {
		s.ConnectTimeout = 10 * time.Second
		s.Dial = func() transports.Upstream { return transports.NewPiped(late{}) }
	}, func(c *clockwork) {
		got, _ := c.post("", initializeWith(`1`, v3, `{}`))
		if want := "cannot reach the upstream server one within 10s, the limit connect_timeout: "; !strings.Contains(got.body, want) {
			t.Errorf("answered %d %s", got.status, got.body)
		}
		c.wantLimited(mcp.LimitConnect, 1)
	})
	inTime(t, func(s *bridge.Settings) {
		s.ConnectTimeout = 10 * time.Second
		s.Dial = func() transports.Upstream { return transports.NewPiped(away{}) }
	}, func(c *clockwork) {
		got, _ := c.post("", initializeWith(`1`, v3, `{}`))
		if !strings.Contains(got.body, "cannot reach the upstream server one: ") {
			t.Errorf("answered %d %s", got.status, got.body)
		}
		c.wantLimited("", 0)
	})
}

// A reader that waits for its client is counted, by what makes it wait.
func TestLimitsOfQueues(t *testing.T) {
	for limit, change := range map[string]func(*rigging){
		mcp.LimitQueuedMessages: func(s *rigging) { s.StreamMessages, s.StreamBytes = 4, 1<<30 },
		mcp.LimitQueuedBytes:    func(s *rigging) { s.StreamMessages, s.StreamBytes = 1<<30, 4*ballast },
	} {
		t.Run(limit, func(t *testing.T) {
			r := newRig(t, change)
			f := newFlood(endless)
			r.up.handle("tools/call flood", f.pour)
			other, c := r.openAs("bob"), r.openAs("alice")
			c.works()
			r.wantLimited("", 0)
			before := heap()
			s := c.stream(http.MethodPost, toolCall(`1`, "flood", `1`))
			r.heard.await(t, "limited "+limit, 1)
			f.standstill(other)
			f.check(t, before)
			if n := r.heard.starting("limited"); n != r.heard.count("limited "+limit) {
				t.Errorf("heard %v", r.heard.counts)
			}
			c.works()
			f.read(s)
		})
	}
}
