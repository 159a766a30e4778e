package bridge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

const (
	me  = `{"iss":"https://as","sub":"me"}`
	you = `{"iss":"https://as","sub":"you"}`
)

// Who takes longer to answer than a token lives comes back with a newer one:
// the call is still that person's, if the upstream takes the token on the call's
// session. Nobody else's token will do, nor one of which nobody can say whose it
// is (decision 8, C.2).
func TestRetryWithRenewedToken(t *testing.T) {
	for name, x := range map[string]struct {
		old, renewed string
		policy       mcp.Credentials
		attaches     bool
	}{
		"same subject":     {token(me, "1"), token(me, "2"), mcp.CredentialsForward, true},
		"the same token":   {token(me, "1"), token(me, "1"), mcp.CredentialsForward, true},
		"other subject":    {token(me, "1"), token(you, "2"), mcp.CredentialsForward, false},
		"refused upstream": {token(me, "1"), token(me, "bad"), mcp.CredentialsForward, false},
		"opaque":           {"Bearer a", "Bearer b", mcp.CredentialsForward, false},
		"nobody to ask":    {token(me, "1"), token(me, "2"), mcp.CredentialsNone, false},
		"no credentials":   {token(me, "1"), "", mcp.CredentialsForward, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(s *rigging) { s.Credentials = x.policy })
			r.up.handle("tools/call ask", asking(mcp.Elicit, elicit))
			c := r.client()
			c.header.Set("Authorization", x.old)
			state := round(t, c.post(ask(`1`, ""), routing(mcp.ToolsCall, "ask")...))
			r.up.set(func() { r.up.first = refuseToken(token(me, "bad")) })
			other := r.client()
			if x.renewed != "" {
				other.header.Set("Authorization", x.renewed)
			}
			got := other.post(ask(`2`, answers(state)), routing(mcp.ToolsCall, "ask")...)
			if x.attaches {
				if got.status != http.StatusOK || !strings.Contains(got.body, `"resultType":"complete"`) {
					t.Fatalf("the retry is answered %d %s", got.status, got.body)
				}
				if n := r.up.count(mcp.ToolsCall); n != 1 {
					t.Errorf("the server ran the call %d times", n)
				}
				return
			}
			if strings.Contains(got.body, `"result"`) {
				t.Errorf("the retry is answered %d %s", got.status, got.body)
			}
			if got := c.post(ask(`3`, answers(state)), routing(mcp.ToolsCall, "ask")...); got.status != http.StatusOK || !strings.Contains(got.body, `"resultType":"complete"`) {
				t.Errorf("after that its own client is answered %d %s", got.status, got.body)
			}
		})
	}
}

// The conversation goes to the newer token, and what is parked in it goes on
// through more rounds; where the newer token had a conversation of that kind
// already, neither is lost.
func TestRenewedTokenKeepsTheConversation(t *testing.T) {
	r := newRig(t, nil)
	r.up.handle("tools/call ask", func(c *call) {
		for range 2 {
			c.ask(mcp.Elicit, elicit)
		}
		c.text("done")
	})
	old, renewed := r.client(), r.client()
	old.header.Set("Authorization", token(me, "1"))
	renewed.header.Set("Authorization", token(me, "2"))
	state := round(t, old.post(ask(`1`, ""), routing(mcp.ToolsCall, "ask")...))
	if got := renewed.post(standalone(`2`, mcp.ToolsCall, `"name":"t","arguments":{"v":1}`, `{"elicitation":{}}`), routing(mcp.ToolsCall, "t")...); !got.served() {
		t.Fatalf("answered %d %s", got.status, got.body)
	}
	got := renewed.post(ask(`3`, answers(state)), routing(mcp.ToolsCall, "ask")...)
	m, err := mcp.DecodeMessage([]byte(got.body))
	if err != nil || m.Body.Text("resultType") != "input_required" {
		t.Fatalf("the first retry is answered %d %s", got.status, got.body)
	}
	state = m.Body.Text("requestState")
	last := `,"inputResponses":{"in-2":{"action":"decline"}},"requestState":"` + state + `"`
	// Whether the older token is still good is the upstream's to say.
	if got := old.post(ask(`4`, last), routing(mcp.ToolsCall, "ask")...); !strings.Contains(got.body, `"text":"done"`) {
		t.Errorf("the last retry is answered %d %s", got.status, got.body)
	}
	if n := r.up.count(mcp.ToolsCall); n != 2 {
		t.Errorf("the server was sent %s", r.up.names())
	}
	if n := r.up.count(mcp.Initialize); n != 2 {
		t.Errorf("the server opened %d sessions", n)
	}
}

// A server that sees one credential for all clients cannot tell them apart by
// its own states: the bridge does. What is each client's own credential is left
// as the server wrote it (G-62, D.5).
func TestStatesBehindOneCredential(t *testing.T) {
	for policy, wraps := range map[mcp.Credentials]bool{mcp.CredentialsForward: false, mcp.CredentialsStatic: true, mcp.CredentialsNone: true} {
		t.Run(string(policy), func(t *testing.T) {
			r := newModernRig(t, func(s *rigging) {
				known(s)
				s.Credentials = policy
			})
			r.up.handle("tools/call ask", func(c *call) {
				if c.param("inputResponses") == "" {
					c.round(`{"in-1":{"method":"elicitation/create","params":`+elicit+`}}`, `"S\u00e9"`)
					return
				}
				c.result(`{"resultType":"complete","content":[],` + upstreamTag + `}`)
			})
			alice, bob := r.client(), r.client()
			alice.header.Set("Authorization", "Bearer alice")
			bob.header.Set("Authorization", "Bearer bob")
			state := round(t, alice.post(ask(`1`, ""), routing(mcp.ToolsCall, "ask")...))
			if wrapped := state != "Sé"; wrapped != wraps {
				t.Errorf("the client gets the state %s", state)
			}
			got := bob.post(ask(`2`, answers(state)), routing(mcp.ToolsCall, "ask")...)
			if refused := got.status == http.StatusBadRequest && strings.Contains(got.body, `"code":-32602`); refused != wraps {
				t.Errorf("another client is answered %d %s", got.status, got.body)
			}
			if n := r.up.count(mcp.ToolsCall); wraps && n != 1 {
				t.Errorf("the server was asked %d times", n)
			}
			got = alice.post(ask(`3`, answers(state)), routing(mcp.ToolsCall, "ask")...)
			if got.status != http.StatusOK || !strings.Contains(got.body, `"resultType":"complete"`) {
				t.Errorf("the client is answered %d %s", got.status, got.body)
			}
			calls := r.up.all(mcp.ToolsCall)
			want := `"S\u00e9"`
			if !wraps {
				want = `"Sé"` // as this client spells it
			}
			if last := calls[len(calls)-1]; last.param("requestState") != want {
				t.Errorf("the server gets the state %s", last.param("requestState"))
			}
		})
	}
}

// A stateless server is asked about a newer token by what it knows: it has no
// ping.
func TestRenewedTokenBeforeStatelessServer(t *testing.T) {
	r := newModernRig(t, known)
	c := r.client()
	c.header.Set("Authorization", token(me, "1"))
	c.open(v4, `{}`)
	r.up.set(func() {
		refuses := refuseToken(token(me, "bad"))
		r.up.first = func(c *call) bool { return refuses(c) || stateless(c) }
	})
	c.wantGone("Authorization", token(me, "bad"))
	c.header.Set("Authorization", token(me, "2"))
	c.echoes(1)
	if n := r.up.count(mcp.Ping); n != 0 {
		t.Errorf("the server was sent %s", r.up.names())
	}
}
