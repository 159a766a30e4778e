package bridge_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/internal/schema"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports/streamable"
)

// succeeding puts a Succession before the server of a rig, and returns what
// makes its next bridge.
func succeeding(t *testing.T, r *rig) (*bridge.Succession, func(mcp.InjectText) *bridge.Bridge) {
	t.Helper()
	upstream, err := streamable.NewClient(r.up.URL, streamable.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(upstream.CloseIdleConnections)
	make := func(inject mcp.InjectText) *bridge.Bridge {
		options := mcp.DefaultOptions()
		options.InjectText = inject
		b := bridge.New(bridge.Settings{
			Ladder: rewrite.Standard(), Era: negotiate.Legacy, Dial: upstream.Conversation, Upstream: r.up.URL,
			Deps: rewrite.Deps{Validate: schema.Validate}, Options: options, Observer: r.heard, Log: zerolog.Nop(),
		})
		t.Cleanup(func() { _ = b.Close(t.Context()) })
		return b
	}
	s := bridge.NewSuccession(make(mcp.InjectMissing))
	web := endpoint(t, s, streamable.ServerConfig{})
	t.Cleanup(func() {
		r.idle()
		web.CloseClientConnections()
		web.Close()
	})
	r.url = web.URL
	return s, make
}

// A call that is parked when its bridge is replaced is taken up where it
// waits; the client's other calls go to the new bridge. When nobody uses the
// former one it can go.
func TestSuccessionKeepsParkedCalls(t *testing.T) {
	r := askingOnce(t)
	s, next := succeeding(t, r)
	c := r.client()
	c.header.Set("Authorization", "Bearer alice")
	state := round(t, c.post(ask(`1`, ``), routing(mcp.ToolsCall, "ask")...))
	s.Replace(next(mcp.InjectNever))
	if over := s.Settle(); len(over) != 0 {
		t.Error("a bridge with a parked call is given up")
	}
	if got := c.post(standalone(`2`, mcp.ToolsList, "", `{}`), routing(mcp.ToolsList, "")...); got.status != http.StatusOK {
		t.Errorf("another call: %d %s", got.status, got.body)
	}
	stranger := r.client()
	stranger.header.Set("Authorization", "Bearer eve")
	if got := stranger.post(ask(`3`, answers(state)), routing(mcp.ToolsCall, "ask")...); got.status != http.StatusBadRequest {
		t.Errorf("another principal: %d %s", got.status, got.body)
	}
	if got := c.post(ask(`4`, answers(state)), routing(mcp.ToolsCall, "ask")...); !strings.Contains(got.body, `\"action\":\"accept\"`) {
		t.Errorf("the parked call is answered %d %s", got.status, got.body)
	}
	gives(t, "the former bridge is still in use", func() bool { return len(s.Settle()) == 1 })
	if n := len(s.Bridges()); n != 1 {
		t.Errorf("%d bridges", n)
	}
}

// Sessions go on where they began; where no more may begin that is all.
func TestSuccessionKeepsSessions(t *testing.T) {
	r := newRig(t, nil)
	s, next := succeeding(t, r)
	old := r.open(v3, `{}`)
	s.Replace(next(mcp.InjectNever))
	fresh := r.open(v3, `{}`)
	s.Finish()
	for _, c := range []*client{old, fresh} {
		if got := c.post(toolCall(`7`, "t", `1`)); got.status != http.StatusOK || !strings.Contains(got.body, `"result"`) {
			t.Errorf("a running session: %d %s", got.status, got.body)
		}
	}
	late := r.client()
	if got := late.post(initializeWith(`1`, v3, `{}`)); got.status != http.StatusNotFound || !strings.Contains(got.body, "no longer served here") {
		t.Errorf("a new session: %d %s", got.status, got.body)
	}
	if over := s.Settle(); len(over) != 0 || !s.InUse() {
		t.Error("bridges with sessions are given up")
	}
	for _, c := range []*client{old, fresh} {
		if got := c.do(http.MethodDelete, ""); got.status != http.StatusNoContent {
			t.Errorf("the end of a session: %d", got.status)
		}
	}
	gives(t, "bridges without sessions are kept", func() bool { s.Settle(); return !s.InUse() })
}
