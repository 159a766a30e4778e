package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/mcpbridge/mcpbridge/configs"
)

const aliceToken, bobToken = "alice-0123456789abcdef", "bob-0123456789abcdefgh"

func guarded(up, more string) string {
	return "routes:\n- {name: a, upstream: \"" + up + "\", headers: {X-Key: own}, auth: {tokens: {alice: " + aliceToken + ", bob: " + bobToken + "}}" + more + "}\n"
}

// ask posts with a credential and returns the whole answer.
func (c *client) ask(body, credential string) *http.Response {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.endpoint, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if credential != "" {
		req.Header.Set("Authorization", credential)
	}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	return resp
}

// A route lets in who authenticates, on every transport, and its server sees
// nothing of that.
func TestAuthenticatedRoute(t *testing.T) {
	seen := make(chan string, 100)
	up := observed(t, func(r *http.Request) { seen <- r.Header.Get("Authorization") + r.Header.Get("X-Key") })
	c := serveFileOf(t, guarded(up, ""))
	one := c.at("/a")
	for _, credential := range []string{"", "Bearer wrong-0123456789abcdef", "Basic YTpi"} {
		resp := one.ask(initialize, credential)
		if challenge := resp.Header.Get("WWW-Authenticate"); resp.StatusCode != 401 || !strings.HasPrefix(challenge, "Bearer") {
			t.Errorf("%q: %d %q", credential, resp.StatusCode, challenge)
		}
	}
	for _, path := range []string{"/a/sse", "/a/messages?sessionId=x"} {
		if status, _ := fetch(t, c.site+path); status != 401 {
			t.Errorf("%s: %d", path, status)
		}
	}
	if _, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(c.site, "http")+"/a/ws", nil); err == nil || resp.StatusCode != 401 {
		t.Errorf("a socket: %v", err)
	}
	ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(c.site, "http")+"/a/ws", http.Header{"Authorization": {"Bearer " + bobToken}})
	if err != nil {
		t.Errorf("a socket with a token: %v", err)
	} else {
		ws.Close()
	}
	if resp := one.ask(initialize, "Bearer "+aliceToken); resp.StatusCode != 200 || one.session == "" {
		t.Fatalf("alice: %d", resp.StatusCode)
	}
	if resp := one.ask(callTool, "Bearer "+bobToken); resp.StatusCode != 404 {
		t.Errorf("bob in the session of alice: %d", resp.StatusCode)
	}
	if resp := one.ask(callTool, "Bearer "+aliceToken); resp.StatusCode != 200 {
		t.Errorf("alice: %d", resp.StatusCode)
	}
	close(seen)
	for got := range seen {
		if got != "own" {
			t.Errorf("the server was shown %q", got)
		}
	}
	c.write(guarded(up, ", loss: refuse"))
	c.err.await(t, "the configuration was reloaded")
	if resp := c.at("/a").ask(initialize, "Bearer "+bobToken); resp.StatusCode != 200 {
		t.Errorf("after a reload: %d", resp.StatusCode)
	}
	c.end()
	for _, secret := range []string{aliceToken, bobToken} {
		if strings.Contains(c.err.String(), secret) {
			t.Errorf("a token is logged:\n%s", c.err)
		}
	}
}

// observed is an upstream that tells of each request.
func observed(t *testing.T, tell func(*http.Request)) string {
	t.Helper()
	s := upstream(t)
	inner := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { _ = recover() }() // the test is over
		tell(r)
		inner.ServeHTTP(w, r)
	})
	return s.URL + "/mcp"
}

// Nobody gets to use the bridge's own credentials by mistake of its operator.
func TestExposure(t *testing.T) {
	own := "routes:\n- {name: a, upstream: http://a/, headers: {Authorization: x}%s}\n"
	plain := strings.Replace(own, "%s", "", 1)
	for name, tc := range map[string]struct {
		file string
		args []string
		want string // "" starts
	}{
		"own credentials":     {plain, []string{"--listen", "0.0.0.0:0"}, "could use the bridge's own credentials for the upstream of the route \"a\""},
		"on this machine":     {plain, []string{"--listen", "127.0.0.1:0"}, ""},
		"allowed":             {plain, []string{"--listen", "0.0.0.0:0", "--allow-anonymous"}, ""},
		"with authentication": {strings.Replace(own, "%s", ", auth: {tokens: {alice: "+aliceToken+"}}", 1), []string{"--listen", "0.0.0.0:0"}, ""},
		"a secret variable":   {"routes:\n- {name: a, command: x, env: {API_TOKEN: x}}\n", []string{"--listen", "0.0.0.0:0"}, "the route \"a\""},
		"another variable":    {"routes:\n- {name: a, command: x, env: {LEVEL: warn}}\n", []string{"--listen", "0.0.0.0:0"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSurroundings(nil)
			c := &configured{surroundings: s, t: t, file: t.TempDir() + "/a.yaml", code: make(chan int, 1)}
			c.write(tc.file)
			go func() {
				c.code <- run(append([]string{"serve", "--config", c.file, "--admin", "off"}, tc.args...), s.process())
			}()
			if tc.want == "" {
				s.err.await(t, `"serving"`)
				c.end()
			} else if got := <-c.code; got != 1 || !strings.Contains(s.err.String(), tc.want) {
				t.Errorf("exit code %d: %s", got, s.err)
			}
		})
	}
}

func TestSecretVariables(t *testing.T) {
	for variable, want := range map[string]bool{"API_KEY=x": true, "github_token=x": true, "PGPASSWORD": true, "all": true, "LOG_LEVEL=debug": false, "HOME": false, "PATH=/secret": false} {
		if got := hasOwnCredentials(configs.Route{Command: configs.Command{Args: []string{"x"}, Env: []string{variable}}}); got != want {
			t.Errorf("%s: %v", variable, got)
		}
	}
}
