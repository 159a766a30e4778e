package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
)

func crowd(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":0`, i)
	}
	return b.String()
}

// A body of tiny members must not cost many times its bytes.
func TestCrowds(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		ok   bool
	}{
		"envelope":       {`{"jsonrpc":"2.0","id":1,"method":"ping"` + crowd(50000) + `}`, true},
		"params":         {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1` + crowd(10000) + `}}`, false},
		"params, fewer":  {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1` + crowd(9999) + `}}`, true},
		"_meta":          {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":1` + crowd(10000) + `}}}`, false},
		"arguments pass": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"a":1` + crowd(20000) + `}}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			f, fault := mcp.Decode([]byte(c.body))
			if fault != nil {
				t.Fatal(fault)
			}
			if item := f.Items[0]; (item.Message != nil) != c.ok || !c.ok && item.Fault.ID.String() != "1" {
				t.Errorf("got %v %v", item.Message, item.Fault)
			}
		})
	}
}
