package bridge

// withdraw takes a conversation out of the pool; false when it is not in it.
func (b *Bridge) withdraw(c *conversation) bool {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	for key, m := range b.pool.members {
		if m.c == c {
			delete(b.pool.members, key)
			b.Observer.SessionClosed(c.pair)
			return true
		}
	}
	return false
}

// disband ends the conversations of a principal that is gone.
func (b *Bridge) disband(who principal) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	for key, m := range b.pool.members {
		if key.principal == who && m.c != nil {
			delete(b.pool.members, key)
			b.Observer.SessionClosed(m.c.pair)
			go m.c.end("the client left")
		}
	}
}

// closePool ends all conversations of stateless clients.
func (b *Bridge) closePool() {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	for key, m := range b.pool.members {
		delete(b.pool.members, key)
		if m.c != nil {
			b.Observer.SessionClosed(m.c.pair)
			m.c.end("the bridge is shutting down")
		}
	}
}
