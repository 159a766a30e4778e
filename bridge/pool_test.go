package bridge_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// A principal that declares ever other things has few conversations, the
// oldest of which makes room; a parked call is never the price.
func TestPoolMakesRoom(t *testing.T) {
	r := askingOnce(t)
	c := r.client()
	c.header.Set("Authorization", "Bearer alice")
	state := round(t, c.post(ask(`1`, ``), routing(mcp.ToolsCall, "ask")...))
	const many = 20
	for i := range many {
		if got := c.post(standalone(`1`, mcp.ToolsList, "", `{"experimental":{"n`+strconv.Itoa(i)+`":{}}}`), routing(mcp.ToolsList, "")...); got.status != http.StatusOK {
			t.Fatalf("%d: %d %s", i, got.status, got.body)
		}
	}
	r.up.await(t, http.MethodDelete, many+1-8) // 8 are kept, the parked one among them
	if got := c.post(ask(`2`, answers(state)), routing(mcp.ToolsCall, "ask")...); !strings.Contains(got.body, `\"action\":\"accept\"`) {
		t.Errorf("the parked call is answered %d %s", got.status, got.body)
	}
}

// A session says when it has taken enough, and takes more when there is room.
func TestSessionIsFull(t *testing.T) {
	s := bridge.NewSession(bridge.NewLink(), newWitness(), true)
	peer := mcp.Peer{Version: v4, Info: mcp.NewObject(), Capabilities: mcp.MustObject(`{"tools":{}}`)}
	s.Build(rewrite.Standard(), rewrite.Facing{Client: peer, Server: peer, Options: mcp.DefaultOptions()}, rewrite.Deps{})
	turn := bridge.NewSharedTurn(transports.NewStream(1 << 30))
	now := time.Now()
	for i := 0; !s.Full(); i++ {
		m, err := mcp.DecodeMessage([]byte(toolCall(strconv.Itoa(i), "t", `1`)))
		if err != nil || i > 5000 {
			t.Fatal("there is no bound", err)
		}
		s.FromClient(m, turn, now)
	}
	m, err := mcp.DecodeMessage([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	s.FromServer(m, 0, now)
	if s.Full() {
		t.Error("an answer makes no room")
	}
}
