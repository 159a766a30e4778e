package bridge_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
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
