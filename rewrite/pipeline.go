package rewrite

import (
	"slices"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Pipeline carries the messages of one session between a client and a server
// of fixed versions. It is not safe for concurrent use; the session's lock
// guards it.
type Pipeline struct {
	// steps stand in the order in which a message toward the client meets
	// them: the server's end first.
	steps  []step
	facing Facing
	asks   map[mcp.CallKey]ask
	newKey func() mcp.CallKey
}

// step is either a group of edits or one stage.
type step struct {
	name               string // of a stage: its change
	toClient, toServer []namedEdit
	quirks             bool // the edits are those of quirks
	stage              Stage
}

type namedEdit struct {
	name  string
	apply func(*Edit)
}

type ask struct {
	stage int
	tag   any
}

// Pipeline builds the pipeline for a client and a server whose versions are
// rungs of the ladder. newKey mints keys for the requests that stages ask.
func (l Ladder) Pipeline(f Facing, d Deps, newKey func() mcp.CallKey) *Pipeline {
	p := &Pipeline{asks: map[mcp.CallKey]ask{}, newKey: newKey}
	client, server := l.index(f.Client.Version), l.index(f.Server.Version)
	for _, r := range l[client+1:] {
		for _, c := range r.Changes {
			if c.Lacks != nil {
				f.lacks = append(f.lacks, c.Lacks)
			}
		}
	}
	p.facing = f
	repairs, stages := l.repairs(f, d)
	newer := l[max(client, server)+1:].downgrades(f.Options)
	p.add(f.quirks(mcp.Server))
	p.add(step{toServer: l[:server+1].checks()})
	p.add(step{toClient: repairs})
	p.add(step{toClient: newer})
	if client < server {
		for i := server; i > client; i-- {
			p.add(l[i].steps(f, d, true)...)
		}
	} else {
		for i := server + 1; i <= client; i++ {
			p.add(l[i].steps(f, d, false)...)
		}
	}
	p.add(stages...)
	p.add(step{toServer: newer})
	p.add(step{toServer: repairs})
	p.add(step{toClient: l[:client+1].checks()})
	p.add(f.quirks(mcp.Client))
	return p
}

// checks returns the checks for a receiver that knows these rungs.
func (l Ladder) checks() []namedEdit {
	var edits []namedEdit
	for _, r := range l {
		for _, c := range r.Changes {
			if c.Check != nil {
				edits = append(edits, namedEdit{c.Name, c.Check})
			}
		}
	}
	return edits
}

// downgrades returns what takes these rungs' news out of a message, newest
// first. It runs for peers who agreed on an older version too: they send what
// they know all the same.
func (l Ladder) downgrades(o mcp.Options) []namedEdit {
	var edits []namedEdit
	for _, r := range slices.Backward(l) {
		down, _ := r.edits(o)
		edits = append(edits, down...)
	}
	return edits
}

func (p *Pipeline) add(steps ...step) {
	for _, s := range steps {
		_, idle := s.stage.(Passive) // it has nothing to do for this pair
		if s.stage != nil && !idle || len(s.toClient)+len(s.toServer) > 0 {
			p.steps = append(p.steps, s)
		}
	}
}

// repairs returns what runs for every pair of versions.
func (l Ladder) repairs(f Facing, d Deps) (edits []namedEdit, stages []step) {
	for _, r := range l {
		for _, c := range r.Changes {
			if c.Class != Repair {
				continue
			}
			if c.Repair != nil {
				edits = append(edits, namedEdit{c.Name, c.Repair})
			}
			if c.Stage != nil {
				stages = append(stages, step{name: c.Name, stage: c.Stage(f, d)})
			}
		}
	}
	return edits, stages
}

// edits returns a rung's edits in either direction of time.
func (r Revision) edits(o mcp.Options) (down, up []namedEdit) {
	for _, c := range r.Changes {
		if c.Class == Additive && !o.Strict {
			continue
		}
		if c.Downgrade != nil {
			down = append(down, namedEdit{c.Name, c.Downgrade})
		}
		if c.Upgrade != nil {
			up = append(up, namedEdit{c.Name, c.Upgrade})
		}
	}
	return down, up
}

// steps returns what a rung does for a pair that straddles it. A stage stands
// on the newer side of its rung's edits: it speaks the newer revision there.
func (r Revision) steps(f Facing, d Deps, serverNewer bool) []step {
	down, up := r.edits(f.Options)
	var stages []step
	for _, c := range r.Changes {
		if c.Stage != nil && c.Class != Repair {
			stages = append(stages, step{name: c.Name, stage: c.Stage(f, d)})
		}
	}
	if serverNewer {
		return append(stages, step{toClient: down, toServer: up})
	}
	slices.Reverse(stages)
	return append([]step{{toClient: up, toServer: down}}, stages...)
}

// Send carries a message that arrived from one side toward the other.
func (p *Pipeline) Send(m *mcp.Message, to mcp.Side, now time.Time) Outcome {
	pass := &passage{pipeline: p, now: now}
	if to == mcp.Client {
		pass.travel(m, -1, to)
	} else {
		pass.travel(m, len(p.steps), to)
	}
	return pass.out
}

// Pushed answers a Push action.
func (p *Pipeline) Pushed(a Action, open bool, now time.Time) Outcome {
	pass := &passage{pipeline: p, now: now}
	body := mcp.NewObject()
	body.Set("open", mcp.Raw(map[bool]string{true: "true", false: "false"}[open]))
	m := &mcp.Message{Kind: mcp.Result, Body: body}
	p.steps[a.ask].stage.Answered(a.Tag, m, &Out{Now: now, pass: pass, at: a.ask, to: mcp.Client})
	return pass.out
}

// Due returns when Expire should be called; zero is never.
func (p *Pipeline) Due() time.Time {
	var due time.Time
	for i := range p.steps {
		if s := p.steps[i].stage; s != nil {
			if at := s.Due(); !at.IsZero() && (due.IsZero() || at.Before(due)) {
				due = at
			}
		}
	}
	return due
}

// Expire lets every stage act whose time has come.
func (p *Pipeline) Expire(now time.Time) Outcome {
	pass := &passage{pipeline: p, now: now}
	for i := range p.steps {
		s := p.steps[i].stage
		if s == nil {
			continue
		}
		if at := s.Due(); !at.IsZero() && !at.After(now) {
			s.Expire(&Out{Now: now, pass: pass, at: i, to: mcp.Client})
		}
	}
	return pass.out
}
