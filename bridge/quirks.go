package bridge

import (
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// quirk reports whether a quirk that the runner sees to acts in this
// conversation, and counts its use.
func (c *conversation) quirk(name string) bool {
	client, server := c.Session.Peers()
	if !c.facing(client, server).Quirk(name) {
		return false
	}
	c.bridge.Observer.Quirked(name)
	return true
}

// respell gives an answer the id of its request as the bridge wrote it, where
// the server wrote the number as a text.
func (c *conversation) respell(m *mcp.Message) {
	if !m.IsAnswer() || !m.ID.Raw().IsString() {
		return
	}
	if id := m.ID.Unquoted(); c.link.owes(id) && c.quirk(rewrite.AcceptRespelledIDs) {
		m.ID = id
	}
}
