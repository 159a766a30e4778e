package rewrite

import (
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Action is one thing the session must do after a message went through.
type Action struct {
	Verb Verb
	To   mcp.Side     // of Deliver
	Msg  *mcp.Message // of Deliver, Park and Attach
	Call mcp.CallKey  // of Park and Attach: the call that is held
	On   bool         // of Push
	Tag  any          // of Push: handed back with its answer
	ask  int          // of Push: the stage that wants the answer
}

// Verb is what an Action does.
type Verb uint8

// The verbs.
const (
	// Deliver writes Msg to the peer at side To.
	Deliver Verb = iota + 1
	// Park answers Call's request with Msg while the call itself stays open
	// toward the server.
	Park
	// Attach makes the request Msg the one that Call will answer.
	Attach
	// Push opens or closes the standalone stream from the server.
	Push
)

// Report is what an observer should hear of a passage.
type Report struct {
	Rewritten []string
	Quirks    []string // those that altered a message
	Losses    []Lost
	FellBack  []FellBack
	Rounds    []int    // of calls that are over, for those that needed any
	Relearned []string // why the bridge listed the tools itself
	Limited   []string // keys of limits (mcp.LimitNames) that cut something
}

// Lost is a loss and what policy made of it.
type Lost struct {
	mcp.Loss
	Verdict mcp.Verdict
}

// FellBack is an answer given in place of a client that lacks a feature.
type FellBack struct{ Feature, Action string }

// Outcome is everything a passage through a pipeline produced.
type Outcome struct {
	Actions []Action
	Report
}

// Out takes what a stage decides. Now is the time of the decision.
type Out struct {
	Now  time.Time
	pass *passage
	at   int      // the stage's position
	to   mcp.Side // where the message in hand travels
}

// Forward lets a message continue in the direction it travels.
func (o *Out) Forward(m *mcp.Message) { o.pass.travel(m, o.at, o.to) }

// Answer sends a result or failure back to where the message in hand came
// from.
func (o *Out) Answer(reply *mcp.Message) { o.pass.travel(reply, o.at, o.to.Other()) }

// Tell sends a message of the stage's own to one side.
func (o *Out) Tell(side mcp.Side, m *mcp.Message) { o.pass.travel(m, o.at, side) }

// Ask sends a request of the stage's own to one side; its answer comes to the
// stage's Answered with the tag. It returns the key of the new call.
func (o *Out) Ask(side mcp.Side, m *mcp.Message, tag any) mcp.CallKey {
	m.Call = o.pass.pipeline.newKey()
	o.pass.pipeline.asks[m.Call] = ask{stage: o.at, tag: tag}
	o.pass.travel(m, o.at, side)
	return m.Call
}

// Forget gives up a request the stage asked; a later answer is dropped.
func (o *Out) Forget(call mcp.CallKey) { delete(o.pass.pipeline.asks, call) }

// Park answers the client's request of a call while the call stays open
// toward the server.
func (o *Out) Park(call mcp.CallKey, result *mcp.Message) {
	result.Call = call
	o.pass.parking = true
	o.pass.travel(result, o.at, mcp.Client)
	o.pass.parking = false
}

// Attach makes a client's request the one that a parked call answers.
func (o *Out) Attach(call mcp.CallKey, request *mcp.Message) {
	o.pass.act(Action{Verb: Attach, Call: call, Msg: request})
}

// Push opens or closes the server's standalone stream. Whether there is one
// comes back to the stage's Answered under the tag, as a result without a
// method whose body has a member "open".
func (o *Out) Push(on bool, tag any) {
	o.pass.act(Action{Verb: Push, On: on, Tag: tag, ask: o.at})
}

// FellBack reports that the stage answered in place of the client.
func (o *Out) FellBack(feature, action string) {
	o.pass.out.FellBack = append(o.pass.out.FellBack, FellBack{feature, action})
}

// Rounds reports how many rounds of questions a call took that is over; one
// that took none is not reported.
func (o *Out) Rounds(n int) {
	if n > 0 {
		o.pass.out.Rounds = append(o.pass.out.Rounds, n)
	}
}

// Relearned reports that the stage lists the tools itself, and why.
func (o *Out) Relearned(why string) {
	o.pass.out.Relearned = append(o.pass.out.Relearned, why)
}

// Limited reports that a limit cut something, by its key.
func (o *Out) Limited(limit string) {
	o.pass.out.Limited = append(o.pass.out.Limited, limit)
}

// Rewritten reports that the stage changed a message.
func (o *Out) Rewritten() {
	o.pass.rewritten(o.pass.pipeline.steps[o.at].name)
}

// Lose reports a loss that the stage could not avoid.
func (o *Out) Lose(what string) {
	name := o.pass.pipeline.steps[o.at].name
	o.pass.out.Losses = append(o.pass.out.Losses, Lost{mcp.Loss{Change: name, What: what}, mcp.Passed})
}
