package bridge_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func batch(elements ...string) string { return "[" + strings.Join(elements, ",") + "]" }

// wantArray fails the test unless the answer is a JSON array of these, in any
// order.
func wantArray(t *testing.T, got reply, want ...string) {
	t.Helper()
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(got.body), &raw); err != nil || got.status != http.StatusOK || got.header.Get("Content-Type") != "application/json" {
		t.Fatalf("no array but %d %v %s", got.status, got.header, got.body)
	}
	var all []string
	for _, r := range raw {
		all = append(all, string(r))
	}
	sameSet(t, all, want)
}

func sameSet(t *testing.T, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("got %s\nwant %s", strings.Join(got, "\n    "), strings.Join(want, "\n     "))
	}
}

// events reads a whole event stream.
func (s *stream) events() []string {
	s.t.Helper()
	var all []string
	for {
		event, err := s.event()
		if err != nil {
			return all
		}
		all = append(all, event)
	}
}

const rootsChanged = `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`

func pong(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` }

// Every client may send batches, whatever its version; no server gets one
// (T59, reports 27 and 28). The answers are one array, or single events.
func TestT59Unbatch(t *testing.T) {
	for _, version := range []string{v1, v2, v3, v4} {
		t.Run(version, func(t *testing.T) {
			r := newRig(t, nil)
			r.up.version = v3
			c := r.open(version, `{"roots":{}}`)
			body := batch(rootsChanged, request(`"a"`, mcp.ToolsList, `{}`), request(`2`, "nope/none", `{}`), toolCall(`3`, "t", `3`))
			want := []string{
				`{"jsonrpc":"2.0","id":"a","result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}`,
				`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}`, echoed(`3`, `3`),
			}
			wantArray(t, c.post(body, "Accept", "application/json"), want...)
			s := c.stream(http.MethodPost, body)
			sameSet(t, s.events(), want)
			got := strings.Fields(r.up.names())[3:] // after initialize, initialized, GET
			if got[0] != "notifications/roots/list_changed" || got[4] != got[0] {
				t.Errorf("the upstream got %s", got)
			}
			calls := []string{mcp.ToolsList, "nope/none", mcp.ToolsCall}
			sameSet(t, got[1:4], calls)
			sameSet(t, got[5:], calls)
		})
	}
}

// Each element counts and is rewritten like a message of its own (report 30).
func TestReport30EveryElementCounts(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle(mcp.ToolsCall, func(c *call) { c.result(`{"structuredContent":{"n":1}}`) })
	c := r.open(v2, `{}`)
	got := c.post(batch(toolCall(`1`, "denied", `1`), toolCall(`2`, "ok", `2`)), "Accept", "application/json")
	const result = `"result":{"structuredContent":{"n":1},"content":[{"type":"text","text":"{\"n\":1}"}]}}`
	wantArray(t, got, `{"jsonrpc":"2.0","id":1,`+result, `{"jsonrpc":"2.0","id":2,`+result)
	for fact, n := range map[string]int{
		"received client request tools/call": 2, "sent server request tools/call": 2, "answered tools/call result": 2,
		"worked tools/call": 2, "rewritten inject-text": 2, "batched client 2 true": 1,
	} {
		r.heard.await(t, fact, n)
		if got := r.heard.count(fact); got != n {
			t.Errorf("%s: %d", fact, got)
		}
	}
}

// A batch of one is a batch (T60); ids of two types are two ids (T62).
func TestT60BatchOfOne(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v2, `{}`)
	wantArray(t, c.post(batch(request(`60`, mcp.Ping, `{}`)), "Accept", "application/json"), pong(`60`))
	wantArray(t, c.post(batch(request(`5`, mcp.Ping, `{}`), request(`"5"`, mcp.Ping, `{}`)), "Accept", "application/json"), pong(`5`), pong(`"5"`))
	s := c.stream(http.MethodPost, batch(request(`60`, mcp.Ping, `{}`)))
	s.want(pong(`60`))
	s.wantEnd()
}

// What makes a batch no batch is refused whole, and nothing of it is served.
func TestBatchRefused(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.MaxBatch = 3 })
	c := r.open(v2, `{}`)
	ping := request(`1`, mcp.Ping, `{}`)
	for name, body := range map[string]string{
		"T64: empty":                   `[]`,
		"T61: duplicate ids":           batch(toolCall(`5`, "pay", `1`), toolCall(`5`, "pay", `2`)),
		"T62: 5 and 5.0":               batch(request(`5`, mcp.Ping, `{}`), request(`5.0`, mcp.Ping, `{}`)),
		"T63, report 31: initialize":   batch(initializeWith(`1`, v2, `{}`), request(`2`, mcp.ToolsList, `{}`)),
		"too long":                     batch(ping, request(`2`, mcp.Ping, `{}`), request(`3`, mcp.Ping, `{}`), request(`4`, mcp.Ping, `{}`)),
		"no messages":                  `[1, "x", null, [` + ping + `]]`,
		"only one with an unusable id": `[{"jsonrpc":"2.0","id":null,"method":"ping"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			sent := r.up.count("")
			badInput{body: body, status: 400, code: -32600}.check(t, c)
			if r.up.count("") != sent {
				t.Errorf("the upstream got %s", r.up.names())
			}
		})
	}
	if got := r.client().post(batch(initializeWith(`1`, v2, `{}`))); got.status != 400 || got.header.Get(mcp.HeaderSession) != "" || r.bridge.Sessions() != 1 {
		t.Errorf("report 31: %d %v", got.status, got.header)
	}
	c.works()
}

// One bad element does not spoil the rest (decision 6).
func TestBatchWithBadElements(t *testing.T) {
	r := newRig(t, nil)
	c := r.open(v3, `{}`)
	body := batch(`7`, request(`1`, mcp.Ping, `{}`), `{"jsonrpc":"1.0","id":"bad","method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`)
	got := c.post(body, "Accept", "application/json")
	wantArray(t, got, pong(`1`), `{"jsonrpc":"2.0","id":"bad","error":{"code":-32600,"message":"the member jsonrpc must be \"2.0\""}}`)
	if n := len(c.stream(http.MethodPost, body).events()); n != 2 {
		t.Errorf("%d events", n)
	}
}

// A strict route takes batches only where the version has them, and only good
// ones (T68).
func TestT68StrictBatches(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.Options.Strict = true })
	for version, served := range map[string]bool{v1: false, v2: true, v3: false, v4: false} {
		c := r.open(version, `{}`)
		body := batch(request(`1`, mcp.Ping, `{}`))
		if served {
			wantArray(t, c.post(body, "Accept", "application/json"), pong(`1`))
			badInput{body: batch(request(`1`, mcp.Ping, `{}`), `7`), status: 400, code: -32600}.check(t, c)
			continue
		}
		badInput{body: body, status: 400, code: -32600}.check(t, c)
	}
	if n := r.up.count(mcp.Ping); n != 1 {
		t.Errorf("the upstream got %s", r.up.names())
	}
}

// A batch that asks nothing is taken without a word (T65), also one of answers
// (T66).
func TestT65BatchesWithoutRequests(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle("tools/call ask", asking(mcp.RootsList, `{}`))
	c := r.open(v2, `{"roots":{}}`)
	c.accepted(batch(cancelNote(`3`), rootsChanged))
	if r.up.count(mcp.Cancelled) != 0 || r.up.count("notifications/roots/list_changed") != 1 {
		t.Errorf("the upstream got %s", r.up.names())
	}
	a, b := c.stream(http.MethodPost, toolCall(`1`, "ask", `1`)), c.stream(http.MethodPost, toolCall(`2`, "ask", `1`))
	c.accepted(batch(answerTo(t, a.next(), `"result":{"roots":[]}`), answerTo(t, b.next(), `"error":{"code":-1,"message":"no"}`)))
	a.want(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"roots\":[]}"}]}}`)
	b.want(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"code\":-1,\"message\":\"no\"}"}]}}`)
}

// Arrays from a server are split (T67, report 30).
func TestT67ServerBatches(t *testing.T) {
	r := newRig(t, nil)
	r.up.version = v2
	r.up.handle("tools/call events", func(c *call) {
		_ = c.event(batch(note(`[1]`), `{"jsonrpc":"2.0","id":`+c.ID.String()+`,"result":{"content":[]}}`))
	})
	r.up.handle("tools/call json", func(c *call) {
		c.reply(200, "application/json", batch(`{"jsonrpc":"2.0","id":`+c.ID.String()+`,"result":{"content":[]}}`, note(`"x"`)))
	})
	c := r.open(v3, `{}`)
	const done = `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
	s := c.stream(http.MethodPost, toolCall(`1`, "events", `1`))
	s.want(note(`[1]`), done)
	s.wantEnd()
	if got := c.post(toolCall(`1`, "json", `1`)); got.body != done {
		t.Errorf("%s", got.body)
	}
}
