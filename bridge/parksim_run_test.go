package bridge_test

import (
	"slices"
	"testing"
	"time"
)

// step lets something happen to one party.
func (w *world) step() {
	p := w.parties[w.rng.IntN(len(w.parties))]
	switch w.rng.IntN(10) {
	case 0, 1:
		if len(p.calls) < 40 {
			p.open()
		}
	case 2, 3, 4:
		p.someRun()
	case 5, 6, 7:
		p.someRound()
	case 8:
		w.pass(time.Duration(w.rng.IntN(60)) * time.Millisecond)
	case 9:
		switch w.rng.IntN(10) {
		case 0:
			w.pass(11 * time.Minute)
		case 1:
			for _, c := range p.calls {
				if c.turn != nil && !c.over {
					p.leave(c)
					break
				}
			}
		}
	}
}

func (p *party) someRun() {
	ids := make([]string, 0, len(p.server))
	for id, r := range p.server {
		if !r.over {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	if len(ids) > 0 {
		p.serve(p.server[ids[p.w.rng.IntN(len(ids))]])
	}
}

func (p *party) someRound() {
	var open []*simCall
	for _, c := range p.calls {
		if c.round != nil && c.turn == nil && !c.over {
			open = append(open, c)
		}
	}
	if len(open) > 0 {
		p.answer(open[p.w.rng.IntN(len(open))])
	}
}

// settle lets everything come to its end.
func (w *world) settle() {
	for range 3000 {
		for _, p := range w.parties {
			p.someRun()
			p.someRound()
		}
		w.pass(30 * time.Millisecond)
	}
	w.pass(time.Hour)
	for _, p := range w.parties {
		for range 200 {
			p.someRun()
		}
		if p.session.Busy() {
			w.fault("%s: calls are left", p.name)
		}
		if at := p.session.Due(); !at.IsZero() {
			w.fault("%s: something is due at %s", p.name, at)
		}
		for _, c := range p.calls {
			if !c.over {
				w.fault("%s was never answered", c.tag)
			}
		}
		for _, r := range p.server {
			if !r.over {
				w.fault("%s still runs", r.tag)
			}
		}
	}
}

func simulate(seed uint64, crossed bool) *world {
	w := newWorld(seed, 8)
	w.crossed = crossed
	for range 4000 {
		w.step()
		if len(w.faults) > 0 {
			return w
		}
	}
	w.settle()
	return w
}

// Whatever the order of things: each tool runs once, each client gets its own
// answer and no other, and in the end nothing is held.
func TestParkedCallsSimulated(t *testing.T) {
	for seed := range uint64(20) {
		w := simulate(seed, false)
		for _, f := range w.faults {
			t.Errorf("seed %d: %s", seed, f)
		}
		if n := len(w.parties[0].calls); n < 10 {
			t.Errorf("seed %d: only %d calls were made", seed, n)
		}
		if t.Failed() {
			return
		}
	}
}

// The simulation finds a question that went to another call's client.
func TestSimulationFindsCrossedQuestions(t *testing.T) {
	for seed := range uint64(20) {
		if w := simulate(seed, true); len(w.faults) > 0 {
			return
		}
	}
	t.Error("a bridge that confuses calls passes")
}
