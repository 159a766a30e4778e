package bridge_test

import (
	"strings"
	"testing"
	"time"
)

// count returns how many requests of that kind came.
func (s *server) count(what string) int {
	return len(s.all(what))
}

// all returns the requests of that kind in the order in which they came; of
// every kind for "".
func (s *server) all(what string) []*received {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*received
	for _, r := range s.seen {
		if what == "" || r.is(what) {
			out = append(out, r)
		}
	}
	return out
}

// await returns the nth request of that kind, counted from 1.
func (s *server) await(t *testing.T, what string, n int) *received {
	t.Helper()
	timeout := time.After(patience)
	for {
		s.mu.Lock()
		grew := s.grew
		s.mu.Unlock()
		if all := s.all(what); len(all) >= n {
			return all[n-1]
		}
		select {
		case <-grew:
		case <-timeout:
			t.Fatalf("the upstream received %d of %d times %s; it got %s", s.count(what), n, what, s.names())
		}
	}
}

// names lists what came, for messages of tests.
func (s *server) names() string {
	var out []string
	for _, r := range s.all("") {
		name := r.verb
		if r.Message != nil {
			name = r.Method
			if name == "" {
				name = "answer"
			}
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}
