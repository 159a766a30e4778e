package bridge

// The states of a conversation in the pool.
const (
	PoolOpening = "opening" // the upstream is being asked what it is
	PoolBusy    = "busy"    // requests are under way in it
	PoolParked  = "parked"  // all that is under way waits for its client to come back
	PoolIdle    = "idle"
)

// Pool returns how many conversations of stateless clients are in which state.
func (b *Bridge) Pool() map[string]int {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	counts := map[string]int{}
	for _, m := range b.pool.members {
		counts[m.state()]++
	}
	return counts
}

func (m *pooled) state() string {
	if m.c == nil {
		return PoolOpening
	}
	parked, attached := m.c.Session.calling()
	switch {
	case attached > 0 || m.users > 0:
		return PoolBusy
	case parked > 0:
		return PoolParked
	}
	return PoolIdle
}

// calling counts the calls that wait for their client, and the others.
func (s *Session) calling() (parked, attached int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.turn == nil && !c.parked.IsZero() {
			parked++
		} else {
			attached++
		}
	}
	return parked, attached
}
