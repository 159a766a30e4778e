package bridge_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
)

// verifying puts something before the endpoint of a rig that believes a header
// about who speaks, and for how long.
func verifying(t *testing.T, r *rig, until func() time.Time) {
	t.Helper()
	web := httptest.NewUnstartedServer(nil)
	guard, err := transports.NewGuard(web.Listener.Addr().String(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	inner := streamable.NewServer(r.bridge, guard, streamable.ServerConfig{})
	web.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s := &transports.Speaker{Principal: req.Header.Get("X-Who"), Until: until()}
		inner.ServeHTTP(w, req.WithContext(transports.WithSpeaker(req.Context(), s)))
	})
	web.Start()
	t.Cleanup(func() {
		r.idle()
		web.CloseClientConnections()
		web.Close()
	})
	r.url = web.URL
}

func forEver() time.Time { return time.Time{} }

// Where an identity was verified, a session belongs to that, whatever the
// credential says that is passed on.
func TestVerifiedOwner(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.Credentials = mcp.CredentialsNone })
	verifying(t, r, forEver)
	alice := r.client()
	alice.header.Set("X-Who", "alice")
	alice.header.Set("Authorization", "Bearer one")
	alice.open(v3, `{}`)
	alice.header.Set("Authorization", "Bearer two") // her next token
	alice.works()
	eve := r.client()
	eve.header.Set("X-Who", "eve")
	eve.header.Set("Authorization", "Bearer two")
	eve.session = alice.session
	eve.wantGone()
	alice.works()
}

// A state is worth nothing to another verified principal.
func TestVerifiedStates(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.Credentials = mcp.CredentialsNone })
	r.up.handle("tools/call ask", asking(mcp.Elicit, elicit))
	verifying(t, r, forEver)
	alice, eve := r.client(), r.client()
	alice.header.Set("X-Who", "alice")
	eve.header.Set("X-Who", "eve")
	state := round(t, alice.post(ask(`1`, ``), routing(mcp.ToolsCall, "ask")...))
	if got := eve.post(ask(`2`, answers(state)), routing(mcp.ToolsCall, "ask")...); got.status != http.StatusBadRequest {
		t.Errorf("another principal: %d %s", got.status, got.body)
	}
	if got := alice.post(ask(`3`, answers(state)), routing(mcp.ToolsCall, "ask")...); !strings.Contains(got.body, `\"action\":\"accept\"`) {
		t.Errorf("her own: %d %s", got.status, got.body)
	}
}

// A listen of the stateless revision ends when the proof of who listens does.
func TestVerifiedListenExpires(t *testing.T) {
	r := newRig(t, func(s *rigging) { s.Credentials = mcp.CredentialsNone })
	r.up.capabilities = `{"tools":{"listChanged":true}}`
	r.up.handle("GET", func(c *call) {
		c.stream()
		<-c.r.Context().Done()
	})
	verifying(t, r, func() time.Time { return time.Now().Add(2 * time.Second) })
	began := time.Now()
	c := r.client()
	c.header.Set("X-Who", "alice")
	s := c.stream(http.MethodPost, standalone(`1`, mcp.Listen, `"notifications":{"toolsListChanged":true}`, `{}`), routing(mcp.Listen, "")...)
	if got := s.next(); !strings.Contains(got, "acknowledged") {
		t.Errorf("it begins with %s", got)
	}
	s.wantEnd()
	if took := time.Since(began); took < time.Second {
		t.Errorf("it ended after %s, before it had to", took)
	}
}

// By an operator's choice a session goes on with any credential that the
// server takes on it; one that it refuses does not.
func TestRebind(t *testing.T) {
	for rebind, want := range map[bool]int{false: http.StatusNotFound, true: http.StatusOK} {
		t.Run(fmt.Sprint(rebind), func(t *testing.T) {
			r := newRig(t, func(s *rigging) { s.Rebind = rebind })
			r.up.handle(mcp.Ping, func(c *call) {
				if c.r.Header.Get("Authorization") == "Bearer refused" {
					c.w.WriteHeader(http.StatusUnauthorized)
					return
				}
				c.result(`{}`)
			})
			c := r.client()
			c.header.Set("Authorization", "Bearer one")
			c.open(v3, `{}`)
			c.header.Set("Authorization", "Bearer refused")
			c.wantGone()
			c.header.Set("Authorization", "Bearer two")
			if got := c.post(toolCall(`7`, "t", `1`)); got.status != want {
				t.Errorf("another token: %d %s", got.status, got.body)
			}
		})
	}
}
