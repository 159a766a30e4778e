package mcp_test

import (
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func raw(t testing.TB, text string) mcp.Raw {
	t.Helper()
	r, err := mcp.ParseRaw([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

func object(t testing.TB, text string) *mcp.Object {
	t.Helper()
	o, ok := mcp.ParseObject(raw(t, text))
	if !ok {
		t.Fatalf("%s is no object", text)
	}
	return o
}

func array(t testing.TB, text string) *mcp.Array {
	t.Helper()
	a, ok := mcp.ParseArray(raw(t, text))
	if !ok {
		t.Fatalf("%s is no array", text)
	}
	return a
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

func parseID(t testing.TB, text string) mcp.ID {
	t.Helper()
	id, ok := mcp.ParseID(mcp.Raw(text))
	if !ok {
		t.Fatalf("%.80s is no id", text)
	}
	return id
}
