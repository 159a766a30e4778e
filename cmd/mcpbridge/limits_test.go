package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/mcp"
)

// Every limit of a route reaches what enforces it.
func TestLimitsAreWired(t *testing.T) {
	r := configs.DefaultRoute()
	r.Upstream = "http://127.0.0.1:1/mcp"
	r.Limits = configs.Limits{
		MaxDepth: 21, MaxBatch: 22, MaxSessions: 23, MaxSessionsPerPrincipal: 24, MaxStreams: 25, MaxCalls: 26,
		MaxQueuedMessages: 27, MaxQueuedBytes: 28, HandshakeTimeout: 29 * time.Second,
		MaxPooled: 30, MaxPooledPerPrincipal: 31, PoolIdle: 32 * time.Second,
	}
	r.Options.MaxParked, r.Options.ParkTimeout = 33, 34*time.Second
	c := common{metrics: newCounters().of("a"), log: zerolog.Nop()}
	b, _, err := newBridge(r, c)
	if err != nil {
		t.Fatal(err)
	}
	got, want := b.Settings, bridge.Settings{
		MaxBatch: 22, MaxSessions: 23, MaxSessionsPerPrincipal: 24, MaxStreams: 25, MaxCalls: 26, StreamMessages: 27, StreamBytes: 28,
		HandshakeTimeout: 29 * time.Second, MaxPooled: 30, MaxPooledPerPrincipal: 31, PoolIdle: 32 * time.Second,
		ConnectTimeout: r.ConnectTimeout, RequestTimeout: r.RequestTimeout, SessionTimeout: r.SessionTimeout,
	}
	numbers := func(s bridge.Settings) string {
		return fmt.Sprint(s.MaxBatch, s.MaxSessions, s.MaxSessionsPerPrincipal, s.MaxStreams, s.MaxCalls, s.StreamMessages, s.StreamBytes,
			s.HandshakeTimeout, s.MaxPooled, s.MaxPooledPerPrincipal, s.PoolIdle, s.ConnectTimeout, s.RequestTimeout, s.SessionTimeout)
	}
	if numbers(got) != numbers(want) {
		t.Errorf("the bridge has %s, not %s", numbers(got), numbers(want))
	}
	if calls, lifetime := got.Options.Parking(); calls != 33 || lifetime != 34*time.Second {
		t.Errorf("parked: %d, %s", calls, lifetime)
	}
	limits := limitsOf(r, c)
	if limits.MaxDepth != 21 || limits.MaxBody != int64(r.MaxBody) {
		t.Errorf("the transports have %+v", limits)
	}
	if e := eventsOf(r, limits, nil); e.MaxStreams != 23 || e.StreamMessages != 27 || e.StreamBytes != 28 || e.MaxDepth != 21 {
		t.Errorf("HTTP+SSE has %+v", e)
	}
	if s := socketsOf(r, limits); s.MaxSockets != 23 || s.StreamMessages != 27 || s.StreamBytes != 28 || s.MaxDepth != 21 || s.Limited == nil {
		t.Errorf("WebSocket has %+v", s)
	}
}

// What limits refuse is answered with their names, and counted by them.
func TestLimitsAreCounted(t *testing.T) {
	c := serveFileOf(t, `
max_header: 2KiB
routes:
- name: a
  path: /mcp
  upstream: "`+upstream(t).URL+`/mcp"
  max_body: 4KiB
  max_depth: 16
  max_batch: 3
  max_sessions: 2
  max_sessions_per_principal: 1
`)
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	first := c.at("/mcp")
	if status, answer := first.initialize("2025-03-26"); status != http.StatusOK {
		t.Fatalf("initialize: %d %s", status, answer)
	}
	for _, one := range []struct {
		limit, body, name, value string
		status                   int
	}{
		{mcp.LimitHeader, ping, "X-Long", strings.Repeat("x", 2<<10), http.StatusRequestHeaderFieldsTooLarge},
		{mcp.LimitBody, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 4<<10) + `"}}`, "", "", http.StatusRequestEntityTooLarge},
		{mcp.LimitDepth, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + strings.Repeat("[", 15) + strings.Repeat("]", 15) + `}}`, "", "", http.StatusBadRequest},
		{mcp.LimitBatch, "[" + strings.Repeat(ping+",", 3) + ping + "]", "", "", http.StatusBadRequest},
	} {
		status, answer := first.postWith(one.body, one.name, one.value)
		if status != one.status || !strings.Contains(answer, "the limit "+one.limit) || !strings.HasPrefix(answer, `{"jsonrpc":"2.0",`) {
			t.Errorf("%s: %d %s", one.limit, status, answer)
		}
		c.counted(one.limit, 1)
		if _, answer := first.post(callTool); !strings.Contains(answer, `"result"`) {
			t.Errorf("after %s: %s", one.limit, answer)
		}
	}
	open := func(who string) (int, string) {
		return c.at("/mcp").postWith(`{"jsonrpc":"2.0","id":9,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, "Authorization", who)
	}
	if status, answer := open("Bearer alice"); status != http.StatusOK {
		t.Errorf("the second session: %d %s", status, answer)
	}
	if status, answer := open("Bearer bob"); status != http.StatusServiceUnavailable || !strings.Contains(answer, `"id":9`) || !strings.Contains(answer, "the limit max_sessions;") {
		t.Errorf("the third session: %d %s", status, answer)
	}
	c.counted(mcp.LimitSessions, 1)
	c.end()
}

// postWith is post with one more header.
func (c *client) postWith(body, name, value string) (int, string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.endpoint, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	if name != "" {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	var text strings.Builder
	if err := resp.Write(&text); err != nil {
		c.t.Fatal(err)
	}
	_, answer, _ := strings.Cut(text.String(), "\r\n\r\n")
	return resp.StatusCode, answer
}

// counted fails the test unless a limit of route a was hit that often.
func (c *configured) counted(limit string, n int) {
	c.t.Helper()
	_, text := fetch(c.t, c.admin+"/metrics")
	if want := fmt.Sprintf("mcpbridge_limit_hits_total{limit=%q,route=\"a\"} %d\n", limit, n); !strings.Contains(text, want) {
		c.t.Errorf("the metrics have no line %s", want)
	}
}
