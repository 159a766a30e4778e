package bridge_test

import (
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// Before the era of an upstream is known, and when it is the stateless one, the
// question whether it is there is one that a stateless server may be sent.
func TestReadyStateless(t *testing.T) {
	for _, era := range []negotiate.Era{negotiate.Unknown, negotiate.Stateless} {
		r := newModernRig(t, func(s *rigging) { s.Era = era })
		if err := r.bridge.Ready(t.Context()); err != nil {
			t.Errorf("%q: %v", era, err)
		}
		if r.up.count(mcp.Ping) != 1 {
			t.Errorf("%q: the upstream got %s", era, r.up.names())
		}
	}
}
