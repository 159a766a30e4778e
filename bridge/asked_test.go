package bridge_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// A server that asks for ever is told when enough is open; an answer makes
// room.
func TestQuestionsAreBounded(t *testing.T) {
	s := bridge.NewSession(bridge.NewLink(), newWitness(), true)
	peer := mcp.Peer{Version: v4, Info: mcp.NewObject(), Capabilities: mcp.MustObject(`{"roots":{}}`)}
	s.Build(rewrite.Standard(), rewrite.Facing{Client: peer, Server: peer, Options: mcp.DefaultOptions()}, rewrite.Deps{})
	stream := transports.NewStream(1 << 30)
	now := time.Now()
	s.Listen(bridge.NewTurn(stream, true), now)
	ask := func(id int) (refused bool) {
		m, err := mcp.DecodeMessage([]byte(request(strconv.Itoa(id), mcp.RootsList, `{}`)))
		if err != nil {
			t.Fatal(err)
		}
		effects := s.FromServer(m, 0, now)
		return len(effects) == 1 && strings.HasPrefix(string(effects[0].Msg.Bytes()), `{"jsonrpc":"2.0","id":`+strconv.Itoa(id)+`,"error"`)
	}
	open := 0
	for !ask(open) {
		if open++; open > 5000 {
			t.Fatal("there is no bound")
		}
	}
	first, _ := stream.Next()
	answer, err := mcp.DecodeMessage([]byte(`{"jsonrpc":"2.0","id":` + first.Message.ID.String() + `,"result":{"roots":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	s.FromClient(answer, nil, now)
	if ask(open + 1) {
		t.Error("an answer makes no room")
	}
}
