package configs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/configs"
	"github.com/mcpbridge/mcpbridge/mcp"
)

// limited is a configuration that says one key.
func limited(key, value string) string {
	if key == mcp.LimitHeader {
		return fmt.Sprintf("%s: %s\nroutes: [{name: a, upstream: \"http://a/mcp\"}]\n", key, value)
	}
	return fmt.Sprintf("routes: [{name: a, upstream: \"http://a/mcp\", %s: %s}]\n", key, value)
}

// Every limit that errors and metrics name has a key of that name and a
// default, and takes no value that means nothing.
func TestLimitKeys(t *testing.T) {
	sample := configs.Sample(published)
	for _, key := range mcp.LimitNames() {
		if !strings.Contains(sample, "\n"+key+": ") && !strings.Contains(sample, "\n  "+key+": ") {
			t.Errorf("%s is no key, or has no default", key)
		}
		good, bad := "7", []string{"0", "-1", "many"}
		switch {
		case strings.HasSuffix(key, "timeout"), key == mcp.LimitPoolIdle:
			good, bad = "7s", []string{"0s", "-1s", "7", "soon"}
		case key == mcp.LimitDepth:
			good, bad = "16", []string{"15", "1025", "deep"}
		case key == mcp.LimitBatch:
			bad = append(bad, "10001")
		}
		if _, err := load(t, "limits.yaml", limited(key, good)); err != nil {
			t.Errorf("%s: %s: %v", key, good, err)
		}
		for _, value := range bad {
			if _, err := load(t, "limits.yaml", limited(key, value)); err == nil || !strings.Contains(err.Error(), key+": ") {
				t.Errorf("%s: %s: %v", key, value, err)
			}
		}
	}
}

// One may not have more than all.
func TestLimitRelations(t *testing.T) {
	for text, problem := range map[string]string{
		"max_sessions: 10, max_sessions_per_principal: 10": "",
		"max_sessions: 10, max_sessions_per_principal: 11": "max_sessions_per_principal: 11 is more than all may have together, max_sessions: 10; lower it or raise that",
		"max_sessions: 10":                           "", // the default of the other means nothing then
		"max_pooled: 7, max_pooled_per_principal: 9": "max_pooled_per_principal: 9 is more than all may have together, max_pooled: 7",
		"max_pooled: 7, max_pooled_per_principal: 7": "",
	} {
		_, err := load(t, "limits.yaml", "routes: [{name: a, upstream: \"http://a/mcp\", "+text+"}]\n")
		if problem == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The defaults of all routes hold for limits too, and a route says otherwise.
func TestLimitDefaults(t *testing.T) {
	got, err := load(t, "limits.yaml", `
defaults: {max_calls_per_session: 5, park_timeout: 1m}
routes:
- {name: a, upstream: "http://a/mcp"}
- {name: b, upstream: "http://b/mcp", max_calls_per_session: 6, max_parked_calls: 2, clients: [{match: {name: x}, strict: true}]}
`)
	if err != nil {
		t.Fatal(err)
	}
	a, b := got.Routes[0], got.Routes[1]
	if a.MaxCalls != 5 || a.Options.ParkTimeout != time.Minute || a.MaxStreams != 1000 {
		t.Errorf("a: %+v", a.Limits)
	}
	if b.MaxCalls != 6 || b.Options.MaxParked != 2 || b.Options.ParkTimeout != time.Minute {
		t.Errorf("b: %+v", b.Limits)
	}
	if o := b.Clients[0].Options; o.MaxParked != 2 || o.ParkTimeout != time.Minute {
		t.Errorf("a client of b: %+v", o)
	}
}
