package rewrite

import (
	"slices"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// passage is one call into a pipeline: a message and all that it sets off.
type passage struct {
	pipeline *Pipeline
	now      time.Time
	out      Outcome
	parking  bool
}

func (p *passage) act(a Action) { p.out.Actions = append(p.out.Actions, a) }

func (p *passage) rewritten(name string) {
	if !slices.Contains(p.out.Rewritten, name) {
		p.out.Rewritten = append(p.out.Rewritten, name)
	}
}

// travel moves a message from position at toward a side: through the edits
// and stages between, until one keeps it or it leaves the pipeline.
func (p *passage) travel(m *mcp.Message, at int, to mcp.Side) {
	steps := p.pipeline.steps
	delta := -1
	if to == mcp.Client {
		delta = 1
	}
	for at += delta; at >= 0 && at < len(steps); at += delta {
		s := &steps[at]
		if s.stage != nil {
			p.visit(s.stage, m, at, to)
			return
		}
		next, back := p.edit(s, m, to)
		if back {
			p.travel(next, at, to.Other())
			return
		}
		if next == nil {
			return
		}
		m = next
	}
	p.leave(m, to)
}

// visit hands the message to a stage; the stage decides how it goes on.
func (p *passage) visit(s Stage, m *mcp.Message, at int, to mcp.Side) {
	out := &Out{Now: p.now, pass: p, at: at, to: to}
	if a, asked := p.pipeline.asks[m.Call]; asked && m.IsAnswer() && a.stage == at {
		delete(p.pipeline.asks, m.Call)
		s.Answered(a.tag, m, out)
		return
	}
	if to == mcp.Client {
		s.ToClient(m, out)
	} else {
		s.ToServer(m, out)
	}
}

func (p *passage) leave(m *mcp.Message, to mcp.Side) {
	if p.parking && m.IsAnswer() {
		p.act(Action{Verb: Park, Call: m.Call, Msg: m})
		return
	}
	p.act(Action{Verb: Deliver, To: to, Msg: m})
}

// edit applies a group of edits. It returns the message to go on with; back
// says that it is an answer that must return to where the message came from.
func (p *passage) edit(s *step, m *mcp.Message, to mcp.Side) (next *mcp.Message, back bool) {
	edits := s.toServer
	e := Edit{Msg: m, Options: p.pipeline.facing.Options, To: to}
	e.Sender, e.Receiver = p.pipeline.facing.Client.Version, p.pipeline.facing.Server.Version
	if to == mcp.Client {
		edits = s.toClient
		e.Sender, e.Receiver = e.Receiver, e.Sender
	}
	for i := range edits {
		edits[i].apply(&e)
		p.settle(&e, edits[i].name, s.quirks)
		if e.dropped {
			return nil, false
		}
		if e.refusal == nil {
			continue
		}
		return refused(e.Msg, e.refusal)
	}
	return e.Msg, false
}

// settle reports what one change did and applies the loss policy.
func (p *passage) settle(e *Edit, name string, quirk bool) {
	switch {
	case e.changed && quirk:
		p.out.Quirks = append(p.out.Quirks, name)
	case e.changed:
		p.rewritten(name)
	}
	verdict := mcp.Passed
	if len(e.losses) > 0 && e.Options.Loss == mcp.LossRefuse {
		verdict = mcp.Refused
		if e.refusal == nil {
			e.refusal = mcp.Errorf(mcp.CodeInternal, "the other side's protocol version cannot carry this (%s), and the route refuses losses", e.losses[0])
		}
	}
	for _, what := range e.losses {
		p.out.Losses = append(p.out.Losses, Lost{mcp.Loss{Change: name, What: what}, verdict})
	}
	e.changed, e.losses = false, nil
}

// refused turns a refusal into what must travel instead of the message.
func refused(m *mcp.Message, err *mcp.Error) (next *mcp.Message, back bool) {
	switch m.Kind {
	case mcp.Request:
		return m.Refuse(err), true
	case mcp.Result, mcp.Failure:
		return m.Refuse(err), false
	}
	return nil, false
}
