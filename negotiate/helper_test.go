package negotiate_test

import (
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// legacy returns the handshake revisions, oldest first.
func legacy() []mcp.Version {
	return []mcp.Version{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}
}

// decode reads one message that must be there.
func decode(t testing.TB, text string) *mcp.Message {
	t.Helper()
	m, err := mcp.DecodeMessage([]byte(text))
	if err != nil {
		t.Fatalf("%.80s: %v", text, err)
	}
	return m
}

// requested returns the version that a client's initialize asks for.
func requested(t testing.TB, initialize string) mcp.Version {
	t.Helper()
	return mcp.Version(decode(t, initialize).Body.Text("protocolVersion"))
}
