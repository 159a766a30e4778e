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
	checkCountsOf(t, h, direct, bridged, "direct", "bridged")
}

// checkCountsOf does so for any two ways in which the visits were made.
func checkCountsOf(t *testing.T, h *harness, direct, bridged results, first, second string) {
	t.Helper()
	compared := 0
	for _, s := range h.servers {
		seen := readLog(t, h.peerLog(s.name))
		for _, k := range visits(direct, s.name) {
			if !sameVerdicts(k, direct, bridged) {
				continue
			}
			before, after := seen[label(k, first)], seen[label(k, second)]
			if after == nil {
				t.Errorf("server %s saw no session that client %s (%s) opened: %s", k.server, k.client, k.caps, second)
				continue
			}
			compared++
			for _, method := range counted {
				if before[method] != after[method] && sameFailures(k, direct, bridged) {
					t.Errorf("server %s received %s %d times from client %s (%s), %s; %d times %s",
						k.server, method, after[method], k.client, k.caps, second, before[method], first)
				}
			}
		}
	}
	t.Logf("the servers' logs agree on what was received, %s and %s, in %d visits compared", first, second, compared)
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

// sameFailures tells whether the steps that failed both ways failed alike: else one
// may have ended earlier than the other.
func sameFailures(k key, direct, bridged results) bool {
	for _, step := range steps {
		k.step = step
		if direct[k].Error != bridged[k].Error {
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
