package bridge_test

import (
	"encoding/base64"
	"net/http"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
)

// token is a JSON Web Token with these claims; mark makes it differ.
func token(claims, mark string) string {
	e := base64.RawURLEncoding
	return "Bearer " + e.EncodeToString([]byte(`{"alg":"none"}`)) + "." + e.EncodeToString([]byte(claims)) + "." + mark
}

// A renewed token keeps its session if it speaks for the same subject and the
// upstream takes it there; any other change of credentials ends it for that
// client (decision 8).
func TestRenewedToken(t *testing.T) {
	const me = `{"iss":"https://as","sub":"me"}`
	for name, c := range map[string]struct {
		old, renewed string
		policy       mcp.Credentials
		keeps        bool
	}{
		"same subject":        {token(me, "1"), token(me, "2"), mcp.CredentialsForward, true},
		"claims spelled anew": {token(me, "1"), token(`{"sub":"me","exp":9,"iss":"https://as"}`, "2"), mcp.CredentialsForward, true},
		"other subject":       {token(me, "1"), token(`{"iss":"https://as","sub":"you"}`, "2"), mcp.CredentialsForward, false},
		"other issuer":        {token(me, "1"), token(`{"iss":"https://evil","sub":"me"}`, "2"), mcp.CredentialsForward, false},
		"no subject":          {token(`{"iss":"https://as"}`, "1"), token(`{"iss":"https://as"}`, "2"), mcp.CredentialsForward, false},
		"opaque":              {"Bearer a", "Bearer b", mcp.CredentialsForward, false},
		"refused upstream":    {token(me, "1"), token(me, "bad"), mcp.CredentialsForward, false},
		"nobody to ask":       {token(me, "1"), token(me, "2"), mcp.CredentialsNone, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(s *rigging) { s.Credentials = c.policy })
			r.up.set(func() { r.up.first = refuseToken(token(me, "bad")) })
			peer := r.client()
			peer.header.Set("Authorization", c.old)
			peer.open(v4, `{}`)
			if c.keeps {
				peer.header.Set("Authorization", c.renewed)
				peer.works()
				peer.works()
				if n := r.up.count(mcp.Ping); n != 1 {
					t.Errorf("the upstream was asked %d times", n)
				}
				return
			}
			peer.wantGone("Authorization", c.renewed)
			peer.works()
		})
	}
}

// After a renewal the old token opens nothing.
func TestRenewedTokenReplacesTheOld(t *testing.T) {
	const me = `{"iss":"https://as","sub":"me"}`
	r := newRig(t, nil)
	r.up.set(func() { r.up.first = refuseToken(token(me, "1")) })
	peer := r.client()
	peer.header.Set("Authorization", token(me, "0"))
	peer.open(v4, `{}`)
	peer.header.Set("Authorization", token(me, "2"))
	peer.works()
	peer.wantGone("Authorization", token(me, "1"))
	peer.works()
}

// refuseToken answers 401 to a token.
func refuseToken(bad string) func(*call) bool {
	return func(c *call) bool {
		if c.header.Get("Authorization") != bad {
			return false
		}
		c.w.Header().Set("WWW-Authenticate", "Bearer")
		c.w.WriteHeader(http.StatusUnauthorized)
		return true
	}
}

// A challenge to a call reaches its client as the server gave it, and costs
// no session.
func TestUnauthorizedCall(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		r := newRig(t, nil)
		const challenge = `Bearer error="insufficient_scope", scope="files:write"`
		r.up.handle("tools/call secret", func(c *call) {
			c.w.Header().Set("WWW-Authenticate", challenge)
			c.reply(status, "application/json", `{"jsonrpc":"2.0","id":`+c.ID.String()+`,"error":{"code":-32001,"message":"who?"}}`)
		})
		c := r.open(v4, `{}`)
		badInput{body: toolCall(`1`, "secret", `1`), status: status, code: -32603}.check(t, c)
		if got := c.post(toolCall(`1`, "secret", `1`), "Accept", "text/event-stream"); got.status != status || got.header.Get("WWW-Authenticate") != challenge {
			t.Errorf("%d %v", got.status, got.header)
		}
		c.works()
	}
}

// A server on a pipe sees no credentials, so it cannot vouch for new ones.
func TestRenewedTokenBeforeAPipe(t *testing.T) {
	p := newProcess(t)
	r := newRig(t, func(r *rigging) {
		r.Dial = func() transports.Upstream { return transports.NewPiped(p) }
	})
	peer := r.client()
	peer.header.Set("Authorization", token(`{"iss":"https://as","sub":"me"}`, "1"))
	peer.open(v4, `{}`)
	peer.wantGone("Authorization", token(`{"iss":"https://as","sub":"me"}`, "2"))
}

// On a pipe whose messages have headers of their own the same rule holds.
func TestRenewedTokenOnAPipe(t *testing.T) {
	const me = `{"iss":"https://as","sub":"me"}`
	r := newRig(t, nil)
	r.up.set(func() { r.up.first = refuseToken(token(me, "bad")) })
	s := transports.NewStream(1 << 20)
	opened := http.Header{"Authorization": {token(me, "1")}}
	p := &piper{t: t, stream: s, session: r.bridge.Attach(&transports.Pipe{Transport: "sse", Stream: s, Header: opened})}
	defer p.session.Close()
	may := func(credential string) bool {
		return r.bridge.Owns(t.Context(), p.session, opened, http.Header{"Authorization": {credential}})
	}
	if !may(token(me, "1")) || may(token(me, "2")) {
		t.Error("before initialize only the same credential may speak")
	}
	p.say(initializeWith(`0`, v3, `{}`))
	p.hear()
	p.say(initialized)
	if may(token(me, "bad")) || may(token(`{"iss":"https://as","sub":"you"}`, "2")) || !may(token(me, "2")) {
		t.Error("the wrong one may speak")
	}
	p.say(toolCall(`1`, "t", `1`))
	p.want(echoed(`1`, `1`))
	if got := r.up.await(t, mcp.ToolsCall, 1).header.Get("Authorization"); got != token(me, "2") {
		t.Errorf("the server gets %s", got)
	}
}

// A server that asks to be left in peace for a while is heard by the client.
func TestRetryAfter(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		r := newRig(t, nil)
		r.up.handle("tools/call busy", func(c *call) {
			c.w.Header().Set("Retry-After", "7")
			c.reply(status, "", "")
		})
		c := r.open(v4, `{}`)
		if got := c.post(toolCall(`1`, "busy", `1`)); got.status != status || got.header.Get("Retry-After") != "7" {
			t.Errorf("%d %v %s", got.status, got.header, got.body)
		}
		c.works()
	}
}
