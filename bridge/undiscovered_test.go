package bridge_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// undiscoverable is a stateless server that does not answer discovery.
func undiscoverable(c *call) bool {
	if c.Message != nil && c.Method == mcp.Discover {
		c.refuse(http.StatusNotFound, `{"code":-32601,"message":"Method not found"}`)
		return true
	}
	return stateless(c)
}

// A stateless server without discovery is found out when it refuses a
// handshake. What it has is what it lists, and it tells of no changes (B.1).
func TestServerWithoutDiscovery(t *testing.T) {
	r := newEraRig(t, undiscoverable, nil)
	r.up.handle(mcp.ResourcesList, func(c *call) {
		c.result(`{"resultType":"complete","resources":[],"ttlMs":0,"cacheScope":"private"}`)
	})
	for i := range 2 {
		c := r.client()
		got := c.post(initializeWith("0", v4, `{"roots":{}}`))
		equivalent(t, "the answer", got.body, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"`+v4+
			`","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"scripted","version":"1"}}}`)
		c.session = got.header.Get(mcp.HeaderSession)
		c.post(initialized)
		c.echoes(1)
		if n := r.up.count(mcp.Initialize); n != 1 {
			t.Errorf("the server was asked for a handshake %d times", n)
		}
		if n := r.up.count(mcp.ToolsList); n < i+1 { // one more may be for the names of parameters
			t.Errorf("the server was sent %s", r.up.names())
		}
	}
	equivalent(t, "what is declared", r.up.all(mcp.PromptsList)[0].stamp(mcp.MetaCapabilities), `{"roots":{}}`)
	if n := r.up.count(mcp.Listen); n != 0 {
		t.Errorf("the server was asked to listen %d times", n)
	}
	if r.heard.count("judged modern handshake") != 1 || r.heard.starting("reclassified") != 0 {
		t.Errorf("of a server that was never known the verdicts are %v", r.heard.counts)
	}
}

// A stateless client is served by it too, whoever comes first.
func TestServerWithoutDiscoveryBeforeStatelessClient(t *testing.T) {
	r := newEraRig(t, undiscoverable, nil)
	for i := range 3 {
		if got, err := r.client().modernCall(strconv.Itoa(i)); err != nil || !got.served() {
			t.Errorf("a call is answered %d %s %v", got.status, got.body, err)
		}
	}
	r.open(v4, `{}`).echoes(4)
	if n := r.up.count(mcp.Initialize); n != 1 {
		t.Errorf("the server was sent %s", r.up.names())
	}
}

// A server that has no handshake, no discovery and no list is none.
func TestServerWithoutAnything(t *testing.T) {
	r := newEraRig(t, func(c *call) bool {
		c.refuse(http.StatusNotFound, `{"code":-32601,"message":"Method not found"}`)
		return true
	}, nil)
	got := r.client().post(initializeWith("5", v4, `{}`))
	if got.status != http.StatusOK || !strings.Contains(got.body, `"id":5,"error":{"code":-3260`) || got.header.Get(mcp.HeaderSession) != "" {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	if r.heard.starting("judged modern") != 0 {
		t.Errorf("the verdicts are %v", r.heard.counts)
	}
}

// A JSON-RPC error under a status that says that the server is busy says no
// more than the status does, on either kind of opening (E.4 rules 6 and 7).
func TestBusyServerWithWords(t *testing.T) {
	for _, status := range []int{429, 500, 502, 503, 504} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			busy := func(c *call) bool {
				if c.Message != nil && (c.Method == mcp.Discover || c.Method == mcp.Initialize) {
					c.refuse(status, `{"code":-32603,"message":"come back later"}`)
					return true
				}
				return false
			}
			r := newEraRig(t, busy, nil)
			if got := r.client().post(initializeWith("1", v4, `{}`)); !strings.Contains(got.body, `"error"`) {
				t.Errorf("answered %d %s", got.status, got.body)
			}
			if n := r.heard.starting("judged"); status != 500 && n != 0 {
				t.Errorf("%d verdicts rest on it: %v", n, r.heard.counts)
			}
			r.up.set(func() { r.up.first = dual })
			if got, err := r.client().modernCall(`1`); status != 500 && (err != nil || !got.served()) {
				t.Errorf("a stateless client is answered %d %s %v", got.status, got.body, err)
			}
			r.open(v4, `{}`).echoes(2)
			if call := r.up.await(t, mcp.ToolsCall, r.up.count(mcp.ToolsCall)); negotiate.Claims(call.Message) {
				t.Errorf("a handshake that was busy once is never tried again: %s", call.body)
			}
		})
	}
}

// A verdict that was no guess and is another by now is told.
func TestReclassification(t *testing.T) {
	r := newEraRig(t, stateless, nil)
	r.open(v4, `{}`).echoes(1)
	if r.heard.count("judged modern probe") != 1 || r.heard.count("judged modern handshake") != 1 {
		t.Errorf("heard %v", r.heard.counts)
	}
	r.up.set(func() {
		r.up.first = probed(func(c *call) { c.discovered(`["2025-11-25"]`) })
	})
	if got, err := r.client().modernCall(`1`); err != nil || got.served() {
		t.Errorf("answered %d %s %v", got.status, got.body, err) // it was sent as to a stateless server
	}
	if got, err := r.client().modernCall(`2`); err != nil || !got.served() {
		t.Errorf("answered %d %s %v", got.status, got.body, err)
	}
	if n := r.heard.count("reclassified modern legacy"); n != 1 {
		t.Errorf("it is told %d times: %v", n, r.heard.counts)
	}
}
