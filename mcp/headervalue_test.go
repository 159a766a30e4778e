package mcp_test

import (
	"testing"
	"unicode/utf8"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// FuzzHeader: every text comes back from its header value, which holds nothing
// but what a header may hold.
func FuzzHeader(f *testing.F) {
	for _, s := range []string{"", "a", " a", "é", "a\r\nb: c", "=?base64?YQ==?=", "=?base64?", "=?base64?=", "?="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, _ = mcp.DecodeHeader(text) // whatever a peer sends
		value := mcp.EncodeHeader(text)
		for i := range len(value) {
			if value[i] < 0x20 || value[i] > 0x7e {
				t.Fatalf("%q is written as %q", text, value)
			}
		}
		if again, ok := mcp.DecodeHeader(value); utf8.ValidString(text) && (!ok || again != text) {
			t.Errorf("%q is written as %q and read as %q, %t", text, value, again, ok)
		}
	})
}
