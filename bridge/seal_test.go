package bridge

import "testing"

// A state opens for its principal only, with any key that is still known.
func TestSealerKeys(t *testing.T) {
	alice, eve := principal{1}, principal{2}
	before, after := newSealer([]string{"old secret"}), newSealer([]string{"new secret", "old secret"})
	state := before.seal(alice, "c", "p")
	for name, tc := range map[string]struct {
		s     sealer
		who   principal
		opens bool
	}{
		"the one that sealed": {before, alice, true}, "a replica": {newSealer([]string{"old secret"}), alice, true},
		"after a change": {after, alice, true}, "when the key is gone": {newSealer([]string{"new secret"}), alice, false},
		"another principal": {after, eve, false}, "no keys": {newSealer(nil), alice, false},
	} {
		conversation, payload, ok := tc.s.open(tc.who, state)
		if ok != tc.opens || ok && (conversation != "c" || payload != "p") {
			t.Errorf("%s: %q %q %v", name, conversation, payload, ok)
		}
	}
	if _, _, ok := before.open(alice, after.seal(alice, "c", "p")); ok {
		t.Error("what a new key sealed opens without it")
	}
}

// Bridges that share secrets know the same principals; others do not.
func TestSharedPrincipals(t *testing.T) {
	one, two := New(Settings{Secrets: []string{"a", "b"}}), New(Settings{Secrets: []string{"b"}})
	if one.hash("x") != two.hash("x") {
		t.Error("replicas do not agree")
	}
	if three, four := New(Settings{}), New(Settings{}); three.hash("x") == four.hash("x") {
		t.Error("principals of bridges without secrets are known elsewhere")
	}
}
