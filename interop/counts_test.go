package interop

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// counted are the methods that must reach the server as often through the bridge
// as directly: a call that is lost or sent twice shows here even when the client
// is content.
var counted = []string{"tools/call", "prompts/get", "resources/read", "completion/complete"}

// checkCounts compares the servers' own logs of what they received.
func checkCounts(t *testing.T, h *harness, direct, bridged results) {
	t.Helper()
	compared := 0
	for _, s := range h.servers {
		seen := readLog(t, h.peerLog(s.name))
		for _, k := range visits(direct, s.name) {
			if !sameVerdicts(k, direct, bridged) {
				continue
			}
			before, after := seen[label(k, "direct")], seen[label(k, "bridged")]
			if after == nil {
				t.Errorf("server %s saw no session that client %s (%s) opened through the bridge", k.server, k.client, k.caps)
				continue
			}
			compared++
			for _, method := range counted {
				if before[method] != after[method] {
					t.Errorf("server %s received %s %d times from client %s (%s) through the bridge, %d times directly",
						k.server, method, after[method], k.client, k.caps, before[method])
				}
			}
		}
	}
	t.Logf("the servers' logs agree on what was received, in %d visits compared", compared)
}

// visits lists the visits to a server, as keys without a step.
func visits(r results, server string) []key {
	var list []key
	for _, k := range ordered(r) {
		if k.server == server && k.step == "connect" {
			k.step = ""
			list = append(list, k)
		}
	}
	return list
}

// sameVerdicts tells whether a visit went the same both ways; only then must the
// server have received the same.
func sameVerdicts(k key, direct, bridged results) bool {
	for _, step := range steps {
		k.step = step
		if direct[k].OK != bridged[k].OK {
			return false
		}
	}
	return true
}

// readLog counts the methods that each client's visit brought to the server.
func readLog(t *testing.T, path string) map[string]map[string]int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[string]int{}
	for line := range bytes.Lines(data) {
		var entry struct{ Method, Client string }
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatalf("%s: %v in %q", path, err, line)
		}
		if seen[entry.Client] == nil {
			seen[entry.Client] = map[string]int{}
		}
		seen[entry.Client][entry.Method]++
	}
	return seen
}
