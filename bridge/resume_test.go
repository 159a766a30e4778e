package bridge_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// position reads a stream up to the next message and returns that and the id
// of its event, and whether an event without data came first.
func position(t *testing.T, s *stream) (id, data string, primed bool) {
	t.Helper()
	for data == "" {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		line = strings.TrimSuffix(line, "\n")
		primed = primed || line == "data:"
		if v, ok := strings.CutPrefix(line, "id: "); ok {
			id = v
		}
		data, _ = strings.CutPrefix(line, "data: ")
		if !strings.HasPrefix(line, "data: ") {
			data = ""
		}
	}
	return id, data, primed
}

// A client that loses the stream of a call gets the rest of it when it comes
// back, the answer included; nobody else does. Only clients of revisions that
// know events without data get one.
func TestComingBackToACall(t *testing.T) {
	for _, version := range []string{v2, v3, v4} {
		r := newRig(t, nil)
		release, answered := make(chan struct{}), make(chan struct{})
		r.up.handle("tools/call slow", func(c *call) {
			_ = c.progress(1)
			c.wait(release)
			_ = c.progress(2)
			c.text("done")
			close(answered)
		})
		c := r.open(version, `{}`)
		s := c.stream(http.MethodPost, request(`7`, mcp.ToolsCall, `{"name":"slow","_meta":{"progressToken":1}}`))
		id, data, primed := position(t, s)
		if id == "" || data != progressNote(`1`, "1") || primed != (version == v4) {
			t.Errorf("%s: the first event is %q %s, primed %v", version, id, data, primed)
		}
		s.leave()
		close(release)
		<-answered
		for _, foreign := range []string{"Bearer other", "Basic b3RoZXI="} {
			if got := c.do(http.MethodGet, "", mcp.HeaderLastID, id, "Authorization", foreign); got.status != http.StatusNotFound || strings.Contains(got.body, "done") {
				t.Errorf("%s: somebody else is answered %d %s", version, got.status, got.body)
			}
		}
		again := c.stream(http.MethodGet, "", mcp.HeaderLastID, id)
		again.want(progressNote(`1`, "2"))
		if got := again.next(); !strings.Contains(got, `"id":7`) || !strings.Contains(got, "done") {
			t.Errorf("%s: the answer is %s", version, got)
		}
		again.wantEnd()
		c.works()
	}
}

// What has nothing to do with a call waits for a stream that somebody reads,
// while the client of the call is away; what belongs to the call goes there.
func TestNewsWhileACallIsLeft(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	peer := mcp.Peer{Version: v4, Info: mcp.NewObject(), Capabilities: mcp.NewObject()}
	s := bridge.NewSession(bridge.NewLink(), newWitness(), true)
	s.Build(rewrite.Standard(), rewrite.Facing{Client: peer, Server: peer, Options: mcp.DefaultOptions()}, rewrite.Deps{})
	call, get := transports.NewStream(1<<20), transports.NewStream(1<<20)
	m := mcp.NewRequest(mcp.ToolsCall, mcp.MustObject(`{"name":"t"}`))
	m.ID = mcp.IntID(1)
	key, _ := s.FromClient(m, bridge.NewTurn(call, true), now)
	call.Attend(false)
	s.Hear(mcp.NewNotification(mcp.ToolsChanged, nil), 0, now)
	s.Hear(mcp.NewNotification(mcp.LogMessage, mcp.MustObject(`{"level":"info","data":1}`)), key, now)
	s.Listen(bridge.NewTurn(get, true), now)
	for stream, want := range map[*transports.Stream]string{call: mcp.LogMessage, get: mcp.ToolsChanged} {
		d, _ := stream.Next()
		if _, more := stream.Next(); d.Message == nil || d.Message.Method != want || more {
			t.Errorf("a stream brought %v, want %s alone", d.Message, want)
		}
	}
}
