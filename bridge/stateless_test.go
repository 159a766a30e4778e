package bridge_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

const (
	v5        = "2026-07-28"
	signature = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"scripted","version":"1"}}`
)

// stamped is the _meta of a stateless request.
func stamped(capabilities string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + v5 + `","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
}

// standalone is a stateless request; params go before its _meta.
func standalone(id, method, params, capabilities string) string {
	if params != "" {
		params += ","
	}
	return request(id, method, `{`+params+stamped(capabilities)+`}`)
}

// routing are the headers of a stateless request.
func routing(method, name string, more ...string) []string {
	return append([]string{mcp.HeaderVersion, v5, mcp.HeaderMethod, method, mcp.HeaderName, name}, more...)
}

func (r reply) check(t *testing.T, status int, body string) {
	t.Helper()
	if r.status != status || r.body != body {
		t.Errorf("answered %d %s\nwant %d %s", r.status, r.body, status, body)
	}
}

// Discovery is answered from a handshake in which nothing of the stateless
// revision appears (G-31).
func TestStatelessDiscovery(t *testing.T) {
	r := newRig(t, nil)
	r.up.capabilities = `{"tools":{},"tasks":{"list":{}},"logging":{}}`
	got := r.client().post(standalone(`"d"`, mcp.Discover, "", `{"elicitation":{}}`), routing(mcp.Discover, "")...)
	got.check(t, http.StatusOK, `{"jsonrpc":"2.0","id":"d","result":{"resultType":"complete","supportedVersions":["2026-07-28"],`+
		`"capabilities":{"tools":{},"logging":{}},"ttlMs":0,"cacheScope":"private",`+signature+`}}`)
	if got.header.Get(mcp.HeaderSession) != "" {
		t.Error("a stateless client is given a session")
	}
	opening := r.up.await(t, mcp.Initialize, 1)
	if want := `"params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`; !strings.HasSuffix(opening.body, want) {
		t.Errorf("the handshake was %s", opening.body)
	}
	for _, name := range []string{mcp.HeaderVersion, mcp.HeaderMethod, mcp.HeaderName} {
		if v := opening.header.Get(name); v != "" {
			t.Errorf("initialize has %s: %s", name, v)
		}
	}
	if h := r.up.await(t, mcp.Initialized, 1).header; h.Get(mcp.HeaderSession) == "" || h.Get(mcp.HeaderVersion) != v4 {
		t.Errorf("initialized has the headers %v", h)
	}
}

// Requests that do not stand for themselves are refused before anybody is
// asked (G-33).
func TestStatelessValidation(t *testing.T) {
	call := func(meta string) string {
		return request(`7`, mcp.ToolsCall, `{"name":"greet","arguments":{}`+meta+`}`)
	}
	good := call(`,` + stamped(`{}`))
	stamp := strings.NewReplacer
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
		want   string
	}{
		"no version header":        {good, routing(mcp.ToolsCall, "greet", mcp.HeaderVersion, ""), 400, `-32020`},
		"header of a handshake":    {good, routing(mcp.ToolsCall, "greet", mcp.HeaderVersion, v4), 400, `-32020`},
		"unknown version":          {stamp(v5, "v999.0.0").Replace(good), routing(mcp.ToolsCall, "greet", mcp.HeaderVersion, "v999.0.0"), 400, `-32022`},
		"handshake version":        {stamp(v5, v4).Replace(good), routing(mcp.ToolsCall, "greet", mcp.HeaderVersion, v4), 400, `"requested":"2025-11-25"`},
		"no stamp":                 {call(``), routing(mcp.ToolsCall, "greet"), 400, `-32602`},
		"no capabilities":          {stamp(`,"io.modelcontextprotocol/clientCapabilities":{}`, ``).Replace(good), routing(mcp.ToolsCall, "greet"), 400, `-32602`},
		"no client name":           {stamp(`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},`, ``).Replace(good), routing(mcp.ToolsCall, "greet"), 200, `"result"`},
		"unknown level":            {stamp(`"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"loud",`).Replace(good), routing(mcp.ToolsCall, "greet"), 400, `-32602`},
		"no method header":         {good, routing("", "greet"), 400, `-32020`},
		"other case":               {good, routing("Tools/Call", "greet"), 400, `-32020`},
		"other method":             {good, routing(mcp.ToolsList, "greet"), 400, `-32020`},
		"no name header":           {good, routing(mcp.ToolsCall, ""), 400, `-32020`},
		"other name":               {good, routing(mcp.ToolsCall, "greed"), 400, `-32020`},
		"badly encoded name":       {good, routing(mcp.ToolsCall, "=?base64?Z3JlZXQ?="), 400, `-32020`},
		"encoded name":             {good, routing(mcp.ToolsCall, "=?base64?Z3JlZXQ=?="), 200, `"result"`},
		"space around the name":    {good, routing(mcp.ToolsCall, "  greet  "), 200, `"result"`},
		"headers of a session":     {good, routing(mcp.ToolsCall, "greet", mcp.HeaderSession, "zzz", mcp.HeaderLastID, "4"), 200, `"result"`},
		"ping":                     {standalone(`7`, mcp.Ping, "", `{}`), routing(mcp.Ping, ""), 404, `-32601`},
		"initialize":               {standalone(`7`, mcp.Initialize, "", `{}`), routing(mcp.Initialize, ""), 404, `-32601`},
		"level":                    {standalone(`7`, mcp.SetLevel, `"level":"info"`, `{}`), routing(mcp.SetLevel, ""), 404, `-32601`},
		"subscription":             {standalone(`7`, mcp.ResourcesSubscribe, `"uri":"a:b"`, `{}`), routing(mcp.ResourcesSubscribe, "a:b"), 404, `-32601`},
		"undeclared at the server": {standalone(`7`, mcp.PromptsGet, `"name":"greet"`, `{}`), routing(mcp.PromptsGet, "greet"), 404, `-32601`},
		"batch":                    {`[` + good + `]`, routing(mcp.ToolsCall, "greet"), 400, `-32600`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.up.capabilities = `{"tools":{}}`
			got := r.client().post(c.body, c.header...)
			if got.status != c.status || !strings.Contains(got.body, c.want) {
				t.Errorf("answered %d %s\nwant %d with %s", got.status, got.body, c.status, c.want)
			}
			if c.want != `-32600` && !strings.Contains(got.body, `"id":7`) {
				t.Errorf("the answer is to nothing: %s", got.body)
			}
			if got.header.Get(mcp.HeaderSession) != "" {
				t.Error("a session is given")
			}
			if c.status != http.StatusOK && r.up.count(mcp.ToolsCall) != 0 {
				t.Error("the server was asked")
			}
		})
	}
}

// askingOnce is a rig whose tool "ask" asks once.
func askingOnce(t *testing.T) *rig {
	r := newRig(t, nil)
	r.up.handle("tools/call ask", asking(mcp.Elicit, elicit))
	return r
}

// round takes a round out of an answer.
func round(t *testing.T, r reply) (state string) {
	t.Helper()
	m, err := mcp.DecodeMessage([]byte(r.body))
	if err != nil || r.status != http.StatusOK || m.Body.Text("resultType") != "input_required" {
		t.Fatalf("no round: %d %s", r.status, r.body)
	}
	question := m.Body.Object("inputRequests").Object("in-1")
	if params, _ := question.Get("params"); question.Text("method") != mcp.Elicit || string(params) != elicit {
		t.Errorf("the question is %s", question.Raw())
	}
	return m.Body.Text("requestState")
}

func ask(id, more string) string {
	return standalone(id, mcp.ToolsCall, `"name":"ask","arguments":{"v":1}`+more, `{"elicitation":{}}`)
}

func answers(state string) string {
	return `,"inputResponses":{"in-1":{"action":"accept","content":{"ok":true}}},"requestState":"` + state + `"`
}

// A question within a call becomes a round; the retry gets the call's answer,
// and the server runs the call once (G-34). Nobody else can come back to it
// (G-37, G-48).
func TestParkedCall(t *testing.T) {
	for _, credential := range []string{"", "Bearer alice"} {
		t.Run("as "+credential, func(t *testing.T) {
			r := askingOnce(t)
			c, other := r.client(), r.client()
			c.header.Set("Authorization", credential)
			if credential == "" {
				c.header.Del("Authorization")
			}
			other.header.Set("Authorization", "Bearer bob")
			state := round(t, c.post(ask(`1`, ``), routing(mcp.ToolsCall, "ask")...))
			if !strings.HasPrefix(state, "v1.") || strings.Contains(state, "tools") {
				t.Errorf("the state is %s", state)
			}
			if got := other.post(ask(`2`, answers(state)), routing(mcp.ToolsCall, "ask")...); got.status != http.StatusBadRequest || !strings.Contains(got.body, `"reason":"invalid_request_state"`) {
				t.Errorf("another principal is answered %d %s", got.status, got.body)
			}
			for _, forged := range []string{state[:len(state)-2], state + "A", "v1.", "", strings.ToUpper(state)} {
				if got := c.post(ask(`2`, answers(forged)), routing(mcp.ToolsCall, "ask")...); got.status != http.StatusBadRequest {
					t.Errorf("the state %q is answered %d %s", forged, got.status, got.body)
				}
			}
			c.post(ask(`3`, answers(state)), routing(mcp.ToolsCall, "ask")...).check(t, http.StatusOK,
				`{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{\"action\":\"accept\",\"content\":{\"ok\":true}}"}],"resultType":"complete",`+signature+`}}`)
			if n := r.up.count(mcp.ToolsCall); n != 1 {
				t.Errorf("the server ran the call %d times", n)
			}
			if got := c.post(ask(`4`, answers(state)), routing(mcp.ToolsCall, "ask")...); got.status != http.StatusBadRequest {
				t.Errorf("a call that is over is answered %d %s", got.status, got.body)
			}
		})
	}
}

// Who sends and what it declares decides whose requests share a conversation
// (G-48, G-49).
func TestStatelessConversations(t *testing.T) {
	r := newRig(t, nil)
	for i, who := range []struct{ token, capabilities string }{
		{"Bearer alice", `{"elicitation":{}}`}, {"Bearer alice", `{"elicitation":{"form":{}}}`},
		{"Bearer bob", `{"elicitation":{}}`}, {"Bearer alice", `{"sampling":{}}`},
	} {
		c := r.client()
		c.header.Set("Authorization", who.token)
		if got := c.post(standalone(`1`, mcp.ToolsList, "", who.capabilities), routing(mcp.ToolsList, "")...); got.status != http.StatusOK {
			t.Errorf("%d: %d %s", i, got.status, got.body)
		}
		if got, want := r.up.count(mcp.Initialize), []int{1, 1, 2, 3}[i]; got != want {
			t.Errorf("after %d requests the server has %d sessions, not %d", i+1, got, want)
		}
	}
}

// A session that the server lost is opened anew, unseen by the client (G-50).
func TestStatelessSurvivesLostSession(t *testing.T) {
	r := newRig(t, nil)
	c := r.client()
	c.header.Set("Authorization", "Bearer alice")
	for range 2 {
		c.post(standalone(`1`, mcp.ToolsCall, `"name":"t","arguments":{"v":1}`, `{}`), routing(mcp.ToolsCall, "t")...).check(t, http.StatusOK,
			`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"v\":1}"}],"resultType":"complete",`+signature+`}}`)
		r.up.forget()
	}
}

// A server that cannot be reached is not there: a JSON-RPC error would be
// taken for an older server (G-56).
func TestDiscoveryWithoutServer(t *testing.T) {
	up := newServer(t)
	up.Close()
	r := newRigBefore(t, up, up.URL, nil)
	r.t = t
	if got := r.client().post(standalone(`1`, mcp.Discover, "", `{}`), routing(mcp.Discover, "")...); got.status < 500 {
		t.Errorf("answered %d %s", got.status, got.body)
	}
}

// A client that leaves a running call cancels it (G-43).
func TestStatelessDisconnectCancels(t *testing.T) {
	r := newRig(t, nil)
	release := make(chan struct{})
	defer close(release)
	handler, arrived := hold(release)
	r.up.handle("tools/call slow", func(c *call) {
		_ = c.progress(1)
		handler(c)
	})
	body := strings.Replace(standalone(`1`, mcp.ToolsCall, `"name":"slow"`, `{}`), `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
	s := r.client().stream(http.MethodPost, body, routing(mcp.ToolsCall, "slow")...)
	s.want(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`)
	<-arrived
	s.leave()
	got := r.up.await(t, mcp.Cancelled, 1)
	if id, _ := got.Body.Get("requestId"); string(id) != r.up.await(t, mcp.ToolsCall, 1).ID.String() {
		t.Errorf("cancelled %s", got.body)
	}
}

// A listen is served by the stream and the subscriptions of a session (G-52, report 153).
func TestListenOverSession(t *testing.T) {
	r := newRig(t, nil)
	r.up.capabilities = `{"tools":{"listChanged":true},"resources":{"subscribe":true}}`
	changed := make(chan string)
	r.up.handle("GET", func(c *call) {
		c.stream()
		for {
			select {
			case m := <-changed:
				_ = c.event(m)
			case <-c.r.Context().Done():
				return
			}
		}
	})
	r.up.handle("resources/subscribe", func(c *call) {
		if c.Body.Text("uri") == "a:no" {
			c.fail(mcp.CodeResourceNotFound, "Resource not found")
			return
		}
		c.result(`{}`)
	})
	c := r.client()
	c.header.Set("Authorization", "Bearer alice")
	s := c.stream(http.MethodPost, standalone(`42`, mcp.Listen, `"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:b","a:no"]}`, `{}`), routing(mcp.Listen, "")...)
	s.want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]},"_meta":{"io.modelcontextprotocol/subscriptionId":42}}}`)
	var order []string
	for _, got := range r.up.all("") {
		switch {
		case got.is("GET"), got.is(mcp.ResourcesSubscribe):
			order = append(order, got.verb)
		}
	}
	if strings.Join(order, " ") != "GET POST POST" {
		t.Errorf("the server was asked in the order %v", order)
	}
	changed <- `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}`
	s.want(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","_meta":{"io.modelcontextprotocol/subscriptionId":42}}}`)
	changed <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	s.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":42}}}`)
	s.leave()
	r.up.await(t, mcp.ResourcesUnsubscribe, 1)
}

// A server that has become another in its new session costs a stateless client
// nothing, since there is no session of its own that could be gone: what the
// server did not run is served in a conversation with what it is now.
func TestStatelessAfterAnotherServer(t *testing.T) {
	r := newRig(t, nil)
	c := r.client()
	c.header.Set("Authorization", "Bearer alice")
	call := func() reply {
		return c.post(standalone(`1`, mcp.ToolsCall, `"name":"t","arguments":{"v":1}`, `{}`), routing(mcp.ToolsCall, "t")...)
	}
	if got := call(); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	r.up.set(func() { r.up.capabilities = `{"tools":{"listChanged":true}}` })
	r.up.forget()
	for range 2 {
		if got := call(); got.status != http.StatusOK || !strings.Contains(got.body, `"result"`) {
			t.Errorf("the call is answered %d %s", got.status, got.body)
		}
	}
	if n := r.up.count(mcp.ToolsCall); n != 4 { // one of them in the lost session
		t.Errorf("the server was sent %s", r.up.names())
	}
}

// A server may ask whether the bridge is there before it answers initialize.
func TestPingWithinInitialize(t *testing.T) {
	r := newRig(t, nil)
	r.up.first = func(c *call) bool {
		switch {
		case c.Message == nil:
			return false
		case c.Method == mcp.Initialize:
			c.w.Header().Set(mcp.HeaderSession, "up-1")
			r.up.set(func() { r.up.live["up-1"] = &upstreamSession{ids: map[string]bool{}} })
			c.ask(mcp.Ping, `{}`)
			c.result(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)
			return true
		case c.IsAnswer():
			r.up.deliver(c.Message)
			c.w.WriteHeader(http.StatusAccepted)
			return true
		}
		return false
	}
	r.open(v4, `{}`)
}

// Calls that wait for people hold up nobody else's.
func TestParkedCallsDelayNobody(t *testing.T) {
	const many = 50
	r := askingOnce(t)
	states := make([]string, many)
	every := func(do func(i int)) {
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() { do(i) })
		}
		all.Wait()
	}
	every(func(i int) {
		got, err := r.client().try(http.MethodPost, ask(`1`, ``), routing(mcp.ToolsCall, "ask")...)
		m, bad := mcp.DecodeMessage([]byte(got.body))
		if err != nil || bad != nil {
			t.Errorf("%v %v", err, bad)
			return
		}
		states[i] = m.Body.Text("requestState")
	})
	every(func(int) {
		got, err := r.client().try(http.MethodPost, standalone(`1`, mcp.ToolsCall, `"name":"t","arguments":{"v":1}`, `{}`), routing(mcp.ToolsCall, "t")...)
		if err != nil || !strings.Contains(got.body, `"result"`) {
			t.Errorf("%v %d %s", err, got.status, got.body)
		}
	})
	if n := r.up.count(mcp.ToolsCall); n != 2*many {
		t.Errorf("the server has %d calls", n)
	}
	every(func(i int) {
		got, err := r.client().try(http.MethodPost, ask(`2`, answers(states[i])), routing(mcp.ToolsCall, "ask")...)
		if err != nil || !strings.Contains(got.body, `\"action\":\"accept\"`) {
			t.Errorf("%v %d %s", err, got.status, got.body)
		}
	})
}
