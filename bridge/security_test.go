package bridge_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// The server is addressed by its own name, and hears nothing of the page that a
// client runs in; if it refuses all the same, the client hears why.
func TestReport167HostOfTheServer(t *testing.T) {
	transporttest.Goroutines(t)
	up := newServer(t)
	var picky *httptest.Server
	picky = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Origin", "Referer", "Cookie", "Sec-Fetch-Mode", "X-Forwarded-Host"} {
			if r.Header.Get(name) != "" {
				t.Errorf("the server was sent %s: %s", name, r.Header.Get(name))
			}
		}
		if r.Host != strings.TrimPrefix(picky.URL, "http://") || r.Header.Get("X-Refuse") != "" {
			http.Error(w, "Invalid Host header", http.StatusMisdirectedRequest)
			return
		}
		up.ServeHTTP(w, r)
	}))
	defer picky.Close()
	r := newRigBefore(t, up, picky.URL, nil)
	foreign := []string{
		"Origin", originOf(r.url), "Referer", "https://app.example.com/", "Cookie", "a=b", "Sec-Fetch-Mode", "cors", "X-Forwarded-Host", "mcp.example.com",
	}
	c := r.client()
	if got := c.post(initializeWith(`1`, v4, `{}`), foreign...); got.status != http.StatusOK || !strings.Contains(got.body, `"result"`) {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	got := r.client().post(initializeWith(`2`, v4, `{}`), append(foreign, "X-Refuse", "1")...)
	if got.status != http.StatusOK || !strings.Contains(got.body, `"id":2,"error":{"code":-32603`) || !strings.Contains(got.body, "421 Misdirected Request") {
		t.Errorf("after a refusal: %d %s", got.status, got.body)
	}
}

// originOf is that of a page of the listener itself.
func originOf(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// What a message says becomes one header with one value, or nothing: line ends
// and other tricks in it add none.
func TestMessagesInjectNoHeader(t *testing.T) {
	r := newModernRig(t, known)
	answer := func(c *call) { c.result(`{"resultType":"complete","content":[],"contents":[],"messages":[]}`) }
	r.up.set(func() {
		before := r.up.first
		r.up.first = func(c *call) bool {
			for name := range c.header {
				if strings.Contains(strings.ToLower(name), "evil") || strings.Contains(strings.Join(c.header[name], ""), "evil: 1") {
					t.Errorf("%s: %q reached the server", name, c.header[name])
				}
			}
			return before != nil && before(c)
		}
	})
	for _, method := range []string{mcp.ToolsCall, mcp.PromptsGet, mcp.ResourcesRead} {
		r.up.handle(method, answer)
	}
	c := r.open(v4, `{}`)
	for _, trick := range []string{`\r\nX-Evil: 1`, `\nX-Evil: 1`, `\rX-Evil: 1`, `\u0000X-Evil: 1`, `\u0085X-Evil: 1`, `\u2028X-Evil: 1`, `=?base64?DQpYLUV2aWw6IDE=?=`, ` \r\n `, `\ud800`} {
		for _, body := range []string{
			request(`7`, mcp.ToolsCall, `{"name":"t`+trick+`"}`), request(`7`, mcp.PromptsGet, `{"name":"t`+trick+`"}`),
			request(`7`, mcp.ResourcesRead, `{"uri":"file:///`+trick+`"}`), request(`7`, "tools/x"+trick, `{}`), request(`"`+trick+`"`, mcp.ToolsCall, `{"name":"t"}`),
		} {
			if got := c.post(body); got.status >= 500 || got.header.Get("X-Evil") != "" {
				t.Errorf("%s is answered %d %v %s", body, got.status, got.header, got.body)
			}
		}
	}
	c.post(toolCall(`8`, "t", `1`)).check(t, http.StatusOK, `{"jsonrpc":"2.0","id":8,"result":{"content":[],"contents":[],"messages":[]}}`)
}

// Secrets of the operator seal states and change nothing else: clients with
// and without sessions are served within the same limits.
func TestSecretsChangeNoLimit(t *testing.T) {
	r := newRig(t, func(s *rigging) {
		s.Secrets = []string{"a key that is long enough to seal with"}
		s.MaxSessionsPerPrincipal = 1
	})
	c := r.client()
	c.header.Set("Authorization", "Bearer a")
	c.open(v4, `{}`)
	c.works()
	second := r.client()
	second.header.Set("Authorization", "Bearer a")
	if got := second.post(initializeWith(`1`, v4, `{}`)); got.status != http.StatusTooManyRequests {
		t.Errorf("a second session: %d %s", got.status, got.body)
	}
	stateless := r.client()
	stateless.header.Set("Authorization", "Bearer b")
	if got := stateless.post(standalone(`9`, mcp.ToolsList, ``, `{}`), routing(mcp.ToolsList, "")...); got.status != http.StatusOK {
		t.Errorf("a stateless client: %d %s", got.status, got.body)
	}
}

// The header rules of a route hold for what the bridge sends of its own accord
// too.
func TestHeaderRulesHoldEverywhere(t *testing.T) {
	r := newRig(t, func(s *rigging) {
		s.Headers = mcp.HeaderRules{Forward: []mcp.Glob{"authorization", "x-*"}, Drop: []mcp.Glob{"X-Secret"}}
	})
	c := r.client()
	for name, value := range map[string]string{"Authorization": "Bearer a", "X-Kept": "1", "X-Secret": "1", "Traceparent": "1"} {
		c.header.Set(name, value)
	}
	c.open(v4, `{}`)
	c.works()
	c.do(http.MethodDelete, "")
	for _, got := range r.up.all("") {
		if h := got.header; h.Get("X-Secret")+h.Get("Traceparent") != "" || h.Get("X-Kept") != "1" || h.Get("Authorization") != "Bearer a" {
			t.Errorf("%s %s has the headers %v", got.verb, got.body, h)
		}
	}
}
