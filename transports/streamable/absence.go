package streamable

import "time"

// leave ends a player: the client went away, or has it all. The tape stays
// for a while. A call's stream goes on, and is collected; a standalone one
// ends, since the host knows better what to do with news that nobody hears.
func (p *player) leave() {
	t := p.tape
	t.mu.Lock()
	if t.owner != p {
		t.wake() // a token that was meant for the new owner may have come here
		t.mu.Unlock()
		return
	}
	t.owner = nil
	t.shelf.use(t)
	var out []*tape
	switch {
	case t.gone:
		t.stream.Abandon()
	case t.standalone:
		out = t.empty()
		t.expireLater()
	default:
		if !t.over {
			t.owner = t.newPlayer(t.first + int64(len(t.events)) - 1)
			t.owner.collects = true
			t.stream.Attend(false)
			go t.owner.collect(t.stream.Ready())
		}
		t.expireLater()
	}
	t.mu.Unlock()
	dropAll(out)
}

// wake tells the owner to look again. It is called under the lock.
func (t *tape) wake() {
	if t.owner == nil {
		return
	}
	select {
	case t.owner.again <- struct{}{}:
	default:
	}
}

// collect keeps what comes while nobody follows. It ends with the stream, or
// when somebody takes over or the tape is dropped.
func (p *player) collect(ready <-chan struct{}) {
	defer p.pass()
	for {
		text, over := p.next()
		switch {
		case over:
			return
		case text != nil:
			continue
		}
		select {
		case <-ready:
		case <-p.over:
			return
		}
	}
}

// pass wakes whoever follows now, in place of the collector that ended.
func (p *player) pass() {
	t := p.tape
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.owner == p {
		t.owner = nil
		return
	}
	t.wake()
}

// expireLater starts the tape's remaining life anew, under the lock.
func (t *tape) expireLater() {
	if t.timer == nil {
		t.timer = time.AfterFunc(t.shelf.limits.life, t.expire)
		return
	}
	t.timer.Reset(t.shelf.limits.life)
}

func (t *tape) expire() {
	t.mu.Lock()
	followed := t.owner != nil && !t.owner.collects // since the timer fired
	t.mu.Unlock()
	if !followed {
		t.drop()
	}
}

// drop forgets what was kept. A client that follows now hears the rest of its
// stream all the same, but cannot come back to it.
func (t *tape) drop() {
	t.shelf.remove(t)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.first += int64(len(t.events))
	t.gone, t.events, t.bytes = true, nil, 0
	if t.timer != nil {
		t.timer.Stop()
	}
	if t.owner == nil || t.owner.collects {
		t.handOver(nil)
		t.stream.Abandon()
		t.over = true
	}
}
