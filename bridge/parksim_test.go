package bridge_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// A simulation of many principals whose calls ask, park, are answered in part,
// twice, wrongly, late or never, on servers that answer when they like. It is
// driven by a seed, so that what fails can be run again.
type world struct {
	rng     *rand.Rand
	now     time.Time
	parties []*party
	faults  []string
	crossed bool // questions come on the stream of whatever call is there
}

// party is a principal: its session, its server and its calls.
type party struct {
	w       *world
	name    string
	session *bridge.Session
	calls   []*simCall
	lastID  int
	server  map[string]*simRun // by the bridge's id
	byQ     map[string]*simRun // by the server's question id
	lastQ   int
}

// simCall is one tool call of a client, over all its rounds.
type simCall struct {
	tag    string
	turn   *bridge.Turn // of the request under way, nil while it has a round in hand
	round  *mcp.Object
	states []string // of all rounds seen
	over   bool     // answered, or given up
	left   bool     // the client went away or never came back
}

// simRun is a call as its server runs it.
type simRun struct {
	tag    string
	id     mcp.ID
	key    mcp.CallKey
	wait   map[string]bool // questions that are open
	heard  []string        // what was answered
	toAsk  int
	over   bool
	cancel bool
}

func (w *world) fault(format string, args ...any) {
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

func newWorld(seed uint64, parties int) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	for i := range parties {
		p := &party{w: w, name: "p" + strconv.Itoa(i), server: map[string]*simRun{}, byQ: map[string]*simRun{}}
		p.session = bridge.NewSession(bridge.NewLink(), newWitness(), true)
		p.session.Build(rewrite.Standard(), rewrite.Facing{
			Client:  mcp.Peer{Version: v5, Info: mcp.NewObject(), Capabilities: mcp.MustObject(`{"elicitation":{}}`)},
			Server:  mcp.Peer{Version: v4, Info: mcp.NewObject(), Capabilities: mcp.MustObject(`{"tools":{}}`)},
			Options: mcp.DefaultOptions(),
		}, sealed(p.name))
		w.parties = append(w.parties, p)
	}
	return w
}

// sealed binds states to their party, as the bridge does with keys.
func sealed(name string) rewrite.Deps {
	return rewrite.Deps{
		Seal: func(s string) string { return name + "|" + s },
		Open: func(s string) (string, bool) { return strings.CutPrefix(s, name+"|") },
	}
}

// perform plays the server for what the bridge sends it.
func (p *party) perform(effects []bridge.Effect) {
	for _, e := range effects {
		m := e.Msg
		switch {
		case e.Verb != bridge.Send:
		case m.Kind == mcp.Request:
			tag := m.Body.Object("arguments").Text("tag")
			for _, r := range p.server {
				if r.tag == tag {
					p.w.fault("%s ran twice", tag)
				}
			}
			p.server[m.ID.String()] = &simRun{tag: tag, id: m.ID, key: e.Call, wait: map[string]bool{}, toAsk: p.w.rng.IntN(5)}
		case m.IsAnswer():
			r := p.byQ[m.ID.String()]
			if r != nil && r.over {
				continue // it no longer wants to know
			}
			if r == nil || !r.wait[m.ID.String()] {
				p.w.fault("%s: an answer to nothing: %s", p.name, m.Bytes())
				continue
			}
			delete(r.wait, m.ID.String())
			if said := m.Body.Object("content").Text("tag"); said != "" && said != r.tag {
				p.w.fault("%s got an answer meant for %s", r.tag, said)
			} else if said != "" {
				r.heard = append(r.heard, said)
			}
		case m.Method == mcp.Cancelled:
			id, _ := m.Body.Get("requestId")
			r := p.server[string(id)]
			if r == nil || r.over {
				continue // it crossed the answer
			}
			r.over, r.cancel = true, true
		}
	}
	p.listen()
}

// listen takes what waits for the clients.
func (p *party) listen() {
	for _, c := range p.calls {
		if c.turn == nil {
			continue
		}
		for d, ok := c.turn.Stream.Next(); ok && d.Message != nil; d, ok = c.turn.Stream.Next() {
			p.hear(c, d.Message)
			if c.turn == nil || d.Last {
				break
			}
		}
	}
}

func (p *party) hear(c *simCall, m *mcp.Message) {
	if !m.IsAnswer() {
		return
	}
	c.turn = nil
	switch {
	case m.Kind == mcp.Result && m.Body.Text("resultType") == "input_required":
		if m.Body.Object("inputRequests").Len() == 0 { // G-44
			p.w.fault("%s: a round without a question", c.tag)
		}
		c.round = m.Body
		c.states = append(c.states, m.Body.Text("requestState"))
	case m.Kind == mcp.Result:
		if text := string(m.Body.Raw()); !strings.Contains(text, `"`+c.tag+`"`) {
			p.w.fault("%s got the result %s", c.tag, text)
		}
		c.over = true
	case m.Code() != mcp.CodeInvalidParams:
		p.w.fault("%s failed: %s", c.tag, m.Bytes())
	}
}

// send posts a request of a call.
func (p *party) send(c *simCall, extra string) *bridge.Turn {
	p.lastID++
	text := standalone(strconv.Itoa(p.lastID), mcp.ToolsCall, `"name":"t","arguments":{"tag":"`+c.tag+`"}`+extra, `{"elicitation":{}}`)
	m, err := mcp.DecodeMessage([]byte(text))
	if err != nil {
		panic(err)
	}
	turn := bridge.NewTurn(transports.NewStream(1<<20), true)
	_, effects := p.session.FromClient(m, turn, p.w.now)
	p.perform(effects)
	return turn
}

func (p *party) open() {
	c := &simCall{tag: p.name + "-" + strconv.Itoa(len(p.calls))}
	p.calls = append(p.calls, c)
	c.turn = p.send(c, "")
	p.listen()
}

// answer comes back to a parked call.
func (p *party) answer(c *simCall) {
	rng := p.w.rng
	state, content := c.round.Text("requestState"), `{"action":"accept","content":{"tag":"`+c.tag+`"}}`
	var given []string
	for _, name := range names(c.round.Object("inputRequests")) {
		switch rng.IntN(8) {
		case 0: // forgotten
		case 1:
			given = append(given, `"`+name+`":{"action":"decline"}`)
		default:
			given = append(given, `"`+name+`":`+content)
		}
	}
	extra := `,"inputResponses":{` + strings.Join(given, ",") + `},"requestState":`
	switch rng.IntN(12) {
	case 0: // another's state
		other := p.w.parties[rng.IntN(len(p.w.parties))]
		for _, victim := range other.calls {
			if victim != c && len(victim.states) > 0 {
				p.check(c, p.send(c, extra+string(mcp.Quote(victim.states[0]))))
				break
			}
		}
	case 1: // malformed
		p.check(c, p.send(c, `,"inputResponses":{"in-1":7},"requestState":`+string(mcp.Quote(state))))
	case 2: // an old state
		p.check(c, p.send(c, extra+string(mcp.Quote(c.states[0]))))
	case 3: // never
		c.over, c.left = true, true
	case 4: // twice
		c.round = nil
		c.turn = p.send(c, extra+string(mcp.Quote(state)))
		p.check(c, p.send(c, extra+string(mcp.Quote(state))))
		p.listen()
	default:
		c.round = nil
		c.turn = p.send(c, extra+string(mcp.Quote(state)))
		p.listen()
	}
	if c.round == nil && c.turn == nil && !c.over { // refused, or asked again
		c.over, c.left = true, true
	}
}

// check takes the answer of an attempt that may be refused or shown the round
// that is open; it may be the one that gets the call's result, too.
func (p *party) check(c *simCall, turn *bridge.Turn) {
	d, ok := turn.Stream.Next()
	if !ok || d.Message == nil { // it is attached
		if c.turn == nil {
			c.turn, c.round = turn, nil
		} else {
			p.w.fault("%s: two requests wait for one call", c.tag)
		}
		return
	}
	if kept := c.turn; kept == nil {
		p.hear(c, d.Message)
	} else {
		p.hear(c, d.Message)
		c.turn = kept
	}
}

func names(o *mcp.Object) (out []string) {
	o.Each(func(name string, _ mcp.Raw) bool { out = append(out, name); return true })
	return out
}

// serve lets the server do one thing for a call.
func (p *party) serve(r *simRun) {
	switch {
	case r.toAsk > 0 && p.w.rng.IntN(3) > 0:
		r.toAsk--
		p.lastQ++
		id := strconv.Itoa(p.lastQ)
		r.wait[id], p.byQ[id] = true, r
		m, _ := mcp.DecodeMessage([]byte(request(id, mcp.Elicit, elicit)))
		p.perform(p.session.FromServer(m, p.via(r), p.w.now))
	case len(r.wait) == 0 || p.w.rng.IntN(20) == 0: // it may give up its questions
		r.over = true
		clear(r.wait)
		m, _ := mcp.DecodeMessage([]byte(`{"jsonrpc":"2.0","id":` + r.id.String() + `,"result":{"content":[],"tag":"` + r.tag + `"}}`))
		p.perform(p.session.FromServer(m, r.key, p.w.now))
	}
}

// via is the stream on which a question of a call comes.
func (p *party) via(r *simRun) mcp.CallKey {
	if p.w.crossed {
		for _, other := range p.server {
			if other != r && !other.over {
				return other.key
			}
		}
	}
	return r.key
}

func (p *party) leave(c *simCall) {
	turn := c.turn
	c.turn, c.over, c.left = nil, true, true
	turn.Stream.Abandon()
	p.perform(p.session.Abandon(turn, p.w.now))
}

// pass lets time go by.
func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	for _, p := range w.parties {
		if due := p.session.Due(); !due.IsZero() && !due.After(w.now) {
			p.perform(p.session.Expire(w.now))
		}
	}
}
