package negotiate_test

import (
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// Matrix §6.2.1.
func TestForClient(t *testing.T) {
	for requested, want := range map[mcp.Version]mcp.Version{
		"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2024-10-07": "2024-11-05", "2023-01-01": "2024-11-05", "0000-00-00": "2024-11-05", "2024-11-04": "2024-11-05", // before
		"2026-07-28": "2025-11-25", "2025-11-26": "2025-11-25", "9999-99-99": "2025-11-25", // after
		"2024-11-06": "2025-11-25", "2025-04-01": "2025-11-25", "2025-11-24": "2025-11-25", // between
		"1.0": "2025-11-25", "latest": "2025-11-25", "DRAFT-2025-v2": "2025-11-25", "2024-10-7": "2025-11-25", "2025-06-18 ": "2025-11-25", // garbage
		"": "2024-11-05", // report 4
	} {
		if got := negotiate.ForClient(requested, legacy()); got != want {
			t.Errorf("%q: %s; want %s", requested, got, want)
		}
	}
}

func TestForClientOfFewVersions(t *testing.T) {
	for requested, want := range map[mcp.Version]mcp.Version{
		"2024-11-05": "2025-03-26", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-06-18", "": "2025-03-26", "x": "2025-06-18",
	} {
		if got := negotiate.ForClient(requested, legacy()[1:3]); got != want {
			t.Errorf("%q: %s; want %s", requested, got, want)
		}
	}
	if got := negotiate.ForClient("2024-11-05", []mcp.Version{"2025-11-25"}); got != "2025-11-25" {
		t.Errorf("the only version is not offered, but %s", got)
	}
}

// What clients of group A send, byte for byte, and the version they are
// answered with, whatever their server speaks.
func TestForClientInTheField(t *testing.T) {
	for name, tc := range map[string]struct {
		initialize string
		want       mcp.Version
	}{
		"reports 1, 5":           {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, "2025-11-25"},
		"reports 3, 4":           {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, "2024-11-05"},
		"report 4, none":         {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, "2024-11-05"},
		"report 4, no params":    {`{"jsonrpc":"2.0","id":1,"method":"initialize"}`, "2024-11-05"},
		"report 8":               {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}`, "2025-03-26"},
		"report 161":             {`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2026-07-28"}}`, "2025-11-25"},
		"a number for a version": {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":20250618}}`, "2024-11-05"},
	} {
		if got := negotiate.ForClient(requested(t, tc.initialize), legacy()); got != tc.want {
			t.Errorf("%s: %s; want %s", name, got, tc.want)
		}
	}
}

// Reports 9, 10 and 13: any version that is spoken will do, no other value.
func TestHeader(t *testing.T) {
	for value, want := range map[string]bool{
		"": true, "2024-11-05": true, "2025-03-26": true, "2025-06-18": true, "2025-11-25": true,
		"1900-01-01": false, "not-a-version": false, "2026-07-28": false, "2024-10-07": false, "2025-06-18,2025-06-18": false, "2025-06-1": false, " ": false, "null": false,
	} {
		if got := negotiate.Header(value, legacy()); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}

func TestUnsupported(t *testing.T) {
	e := negotiate.Unsupported("1.0\"", legacy()[2:])
	want := `{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2025-06-18","2025-11-25"],"requested":"1.0\""}}`
	if got := string(e.Object().Raw()); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}
