package bridge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// odd is JSON that any reading and writing would change.
const odd = `{"a":1.10,"b":1e400,"c":"\u00e9\/","d":[ ],"e":-0,"io.modelcontextprotocol/future":{"x":9007199254740993}}`

// Between two peers of the stateless revision only ids change, and headers pass as they are (G-57, G-58).
func TestRelayIsOpaque(t *testing.T) {
	for name, era := range map[string]func(*rigging){"known": known, "found out": nil} {
		t.Run(name, func(t *testing.T) {
			r := newModernRig(t, era)
			state := string(mcp.Quote(strings.Repeat(`x"\é`, 2<<10)))
			round := `{"resultType":"input_required","inputRequests":{"one":` + user + `,"two":{"method":"elicitation/create","params":` + odd + `}},"requestState":` + state + `,"vendor":` + odd + `,"_meta":` + odd + `}`
			result := `{"resultType":"vendor/kind","structuredContent":1.10,"content":[{"type":"vendor","v":` + odd + `}],"ttlMs":5,"cacheScope":"public","_meta":` + odd + `}`
			r.up.handle("tools/call ask", func(c *call) {
				if c.Body.Has("requestState") {
					c.result(result)
					return
				}
				c.result(round)
			})
			c := r.client()
			const id = `9007199254740993`
			params := `"name":"ask","arguments":` + odd + `,"vendor":` + odd
			for i, x := range []struct{ params, answer string }{
				{params, round}, {params + `,"inputResponses":{"one":` + odd + `},"requestState":` + state, result},
			} {
				body := standalone(id, mcp.ToolsCall, x.params, `{"elicitation":{"form":{}},"vendor":`+odd+`}`)
				got := c.post(body, routing(mcp.ToolsCall, "ask", mcp.HeaderParam+"Zzz", "=?base64?eA==?=", "Traceparent", "00-ab")...)
				got.check(t, http.StatusOK, `{"jsonrpc":"2.0","id":`+id+`,"result":`+x.answer+`}`)
				sent := r.up.await(t, mcp.ToolsCall, i+1)
				if want := strings.Replace(body, `"id":`+id, `"id":`+sent.ID.String(), 1); sent.body != want {
					t.Errorf("the server was sent %s\nwant %s", sent.body, want)
				}
				if h := sent.header; h.Get(mcp.HeaderParam+"Zzz") != "=?base64?eA==?=" || h.Get("Traceparent") != "00-ab" {
					t.Errorf("the server got the headers %v", h)
				}
				if got.header.Get(mcp.HeaderSession) != "" {
					t.Error("a session is given")
				}
			}
		})
	}
}

// The HTTP status of an error goes with its code; what a tool says of itself
// is an answer like others (G-59, G-60, F-2).
func TestRelayedErrors(t *testing.T) {
	for name, x := range map[string]struct {
		status int
		err    string
		want   int
	}{
		"no method":        {http.StatusNotFound, `{"code":-32601,"message":"m","data":{"v":1.10}}`, http.StatusNotFound},
		"headers":          {http.StatusBadRequest, `{"code":-32020,"message":"m"}`, http.StatusBadRequest},
		"capability":       {http.StatusBadRequest, `{"code":-32021,"message":"m","data":{"requiredCapabilities":{"sampling":{}}}}`, http.StatusBadRequest},
		"parameters":       {http.StatusBadRequest, `{"code":-32602,"message":"m"}`, http.StatusOK},
		"its own":          {http.StatusOK, `{"code":7,"message":"m","data":null}`, http.StatusOK},
		"in a plain reply": {http.StatusInternalServerError, `{"code":-32603,"message":"m"}`, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			r := newModernRig(t, known)
			r.up.handle("vendor/method", func(c *call) { c.refuse(x.status, x.err) })
			got := r.client().post(standalone(`"7"`, "vendor/method", ``, `{}`), routing("vendor/method", "")...)
			got.check(t, x.want, `{"jsonrpc":"2.0","id":"7","error":`+x.err+`}`)
		})
	}
}

// incompatible is a server that speaks nothing that the bridge does.
func incompatible(c *call) bool {
	if c.Method == mcp.Discover {
		c.discovered(`["2031-01-01"]`)
		return true
	}
	c.refuse(http.StatusBadRequest, `{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2031-01-01"],"requested":"`+v5+`"}}`)
	return true
}

// A server that refuses the version is not what the client asked for: it is
// told what the bridge serves, and what it sent itself (G-59).
func TestRelayOfRefusedVersion(t *testing.T) {
	r := newEraRig(t, incompatible, known)
	got := r.client().post(standalone(`3`, mcp.ToolsList, ``, `{}`), routing(mcp.ToolsList, "")...)
	got.check(t, http.StatusBadRequest, `{"jsonrpc":"2.0","id":3,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":[],"requested":"`+v5+`"}}}`)
}

// Without a common version nobody is served, and no code of the server's says
// so for the bridge (G-70).
func TestNoCommonVersion(t *testing.T) {
	for method, status := range map[string]int{mcp.ToolsList: http.StatusOK, mcp.Discover: http.StatusServiceUnavailable, mcp.Initialize: http.StatusOK} {
		t.Run(method, func(t *testing.T) {
			r := newEraRig(t, incompatible, nil)
			body, header := standalone(`3`, method, ``, `{}`), routing(method, "")
			if method == mcp.Initialize {
				body, header = initializeWith(`3`, v4, `{}`), nil
			}
			got := r.client().post(body, header...)
			if got.status != status || !strings.Contains(got.body, `"id":3,"error":{"code":-32603`) || strings.Contains(got.body, "2031-01-01") {
				t.Errorf("answered %d %s", got.status, got.body)
			}
			if n := r.up.count(mcp.Discover); n > 2 {
				t.Errorf("the server was probed %d times", n)
			}
		})
	}
}

// The versions of a discovery are those that the bridge serves.
func TestRelayedDiscovery(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle(mcp.Discover, func(c *call) { c.discovered(`["2031-01-01","2026-07-28","2025-11-25"]`) })
	got := r.client().post(standalone(`3`, mcp.Discover, ``, `{}`), routing(mcp.Discover, "")...)
	if got.status != http.StatusOK || !strings.Contains(got.body, `"supportedVersions":["2026-07-28"]`) {
		t.Errorf("answered %d %s", got.status, got.body)
	}
}

// A server must not ask for what the client did not declare; if it does, the
// client sees no question (G-61).
func TestRelayWithholdsUndeclaredInput(t *testing.T) {
	r := newModernRig(t, known)
	r.up.handle("tools/call ask", func(c *call) { c.round(`{"q":`+user+`}`, `"x"`) })
	ask := func(capabilities string) reply {
		return r.client().post(standalone(`3`, mcp.ToolsCall, `"name":"ask"`, capabilities), routing(mcp.ToolsCall, "ask")...)
	}
	for _, capabilities := range []string{`{}`, `{"sampling":{}}`, `{"elicitation":{"url":{}}}`} {
		got := ask(capabilities)
		if got.status != http.StatusBadRequest || !strings.Contains(got.body, `"id":3,"error":{"code":-32021`) || !strings.Contains(got.body, `"data":{"requiredCapabilities":{"elicitation":{}}}`) {
			t.Errorf("%s: answered %d %s", capabilities, got.status, got.body)
		}
	}
	for _, capabilities := range []string{`{"elicitation":{}}`, `{"elicitation":{"form":{}}}`} {
		if got := ask(capabilities); got.status != http.StatusOK || !strings.Contains(got.body, `"inputRequests":{"q":`+user+`}`) {
			t.Errorf("%s: answered %d %s", capabilities, got.status, got.body)
		}
	}
}

// A client that leaves cancels, at the server too (G-64).
func TestRelayedDisconnect(t *testing.T) {
	r := newModernRig(t, known)
	gone := make(chan struct{})
	r.up.handle("tools/call slow", func(c *call) {
		_ = c.progress(1)
		c.wait(nil)
		close(gone)
	})
	body := strings.Replace(standalone(`1`, mcp.ToolsCall, `"name":"slow"`, `{}`), `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
	s := r.client().stream(http.MethodPost, body, routing(mcp.ToolsCall, "slow")...)
	s.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`)
	s.leave()
	within(t, "the end of the call upstream", gone)
	for _, got := range r.up.all("") {
		if got.Kind != mcp.Request {
			t.Errorf("the server was sent %s", got.body)
		}
	}
}

// A listen is passed on with the client's id, and ends where either side ends
// it (D.7, report 153).
func TestRelayedListen(t *testing.T) {
	r := newModernRig(t, known)
	came := listens(r.up)
	mine := func(id string) string { return `"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}` }
	for _, id := range []string{`42`, `"42"`} {
		streams := make(chan *stream, 1)
		go func() {
			s, err := r.client().tryStream(http.MethodPost, standalone(id, mcp.Listen, `"notifications":{"toolsListChanged":true}`, `{}`), routing(mcp.Listen, "")...)
			if err != nil {
				t.Error(err)
			}
			streams <- s
		}()
		listen := <-came
		listen.agree(`{"toolsListChanged":true}`)
		s := <-streams
		s.want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + mine(id) + `,"notifications":{"toolsListChanged":true}}}`)
		listen.tell(mcp.ToolsChanged, ``)
		s.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{` + mine(id) + `}}`)
		s.leave()
		within(t, "the end of the listen", listen.r.Context().Done())
	}
}
