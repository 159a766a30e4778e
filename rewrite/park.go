package rewrite

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// parking turns questions that a server with sessions asks within a call into
// rounds of the stateless revision: the client's request is answered with the
// questions while the call itself is held, and its retry brings the answers.
// A call is never run again.
type parking struct {
	Passive
	f     Facing
	deps  Deps
	gate  *undeclared // what to answer when the client lacks a capability
	calls map[mcp.CallKey]*parkedCall
	early early

	most     int           // calls held
	lifetime time.Duration // of each, since its client was last heard
}

// parkedCall is a call that may ask.
type parkedCall struct {
	key       mcp.CallKey
	request   *mcp.Message
	digest    string
	questions map[string]*mcp.Message // unanswered, by the name the client sees
	count     int
	round     int
	opened    time.Time // of the round that is being gathered
	close     time.Time // when that round goes out
	held      bool      // no request of the client is attached
	expires   time.Time
	shown     *mcp.Object  // the round as the client got it
	done      *mcp.Message // the final answer, while nobody is attached
	lacked    mcp.Raw      // the capability for want of which a question was refused
	pages     *pages       // what must be opened before the server runs the call
	unsent    bool         // the server gets the call after the answers
}

const (
	gatherWindow = 25 * time.Millisecond
	gatherMax    = 100 * time.Millisecond
	maxQuestions = 64 // of one call at a time
)

func newParking(f Facing, d Deps) Stage {
	if f.Client.Version <= f.Server.Version {
		return Passive{}
	}
	gate := newUndeclaredStage(f)
	gate.f.Options = f.Options.WithFallback(func(b *mcp.Fallback) {
		if b.Action == mcp.FallbackExplain { // a stateless client is told by an error
			b.Action = mcp.FallbackCancel
		}
	})
	s := &parking{f: f, deps: d, gate: gate, calls: map[mcp.CallKey]*parkedCall{}}
	s.most, s.lifetime = f.Options.Parking()
	return s
}

// ToServer implements Stage.
func (s *parking) ToServer(m *mcp.Message, out *Out) {
	c := s.calls[m.Call]
	switch {
	case m.Method == mcp.Cancelled && c != nil:
		s.forget(c, out)
		s.release(c, out)
		out.Forward(m)
	case m.Kind == mcp.Request && hasRounds(m.Method):
		if state, retry := m.Body.Get("requestState"); retry && s.deps.Open != nil {
			s.retry(m, state, out)
			return
		}
		c := &parkedCall{key: m.Call, request: copyOf(m), digest: digestOf(m), questions: map[string]*mcp.Message{}}
		s.calls[m.Call] = c
		if !s.begin(c, out) {
			out.Forward(m)
		}
	default:
		s.refuseEarly(m, out)
		out.Forward(m)
	}
}

// digestOf is the same for requests that ask for the same.
func digestOf(m *mcp.Message) string {
	params := m.Body.Clone()
	for _, name := range []string{"_meta", "inputResponses", "requestState"} {
		params.Delete(name)
	}
	sum := sha256.Sum256(append([]byte(m.Method+"\n"), mcp.Canonical(params.Raw())...))
	return hex.EncodeToString(sum[:])
}

// ToClient implements Stage.
func (s *parking) ToClient(m *mcp.Message, out *Out) {
	switch {
	case m.Kind == mcp.Request:
		s.asked(m, out)
	case m.Method == mcp.Cancelled:
		s.withdrawn(m.Call)
	case m.Method == mcp.ElicitationComplete:
		s.completed(m.Body.Text("elicitationId"), out)
	case m.IsAnswer() && s.calls[m.Call] != nil:
		s.answered(s.calls[m.Call], m, out)
	case m.Method == mcp.Progress && s.calls[m.Call] != nil && s.calls[m.Call].held:
		// Nobody is attached who could hear it.
	default:
		out.Forward(m)
	}
}

// asked puts a question of the server into the next round of the call that it
// belongs to. Where that is not known nobody is asked: a guess could show one
// conversation's form to another.
func (s *parking) asked(m *mcp.Message, out *Out) {
	c := s.calls[m.Within]
	if m.Within == 0 && len(s.calls) == 1 { // on a stream of its own, but there is no choice
		for _, c = range s.calls {
			m.Within = c.key
		}
	}
	missing := s.gate.missing(m)
	switch {
	case m.Method != mcp.Elicit && m.Method != mcp.CreateMessage && m.Method != mcp.RootsList:
		out.Answer(m.Refuse(mcp.Errorf(mcp.CodeMethodNotFound, "Method not found")))
	case missing != "":
		tool := ""
		if c != nil {
			c.lacked, tool = requiredCapability(missing), toolOf(c.request)
		}
		s.gate.answer(m, missing, tool, out)
	case c == nil && s.keep(m, out.Now):
	case c == nil:
		out.Answer(m.Refuse(mcp.Errorf(mcp.CodeInvalidParams, "no client request is in progress that this could belong to")))
	case len(c.questions) >= maxQuestions:
		out.FellBack("parking", "refuse")
		out.Answer(unasked(m))
	case !c.occupies() && s.occupied() >= s.most:
		out.Limited(mcp.LimitParked)
		out.FellBack("parking", "refuse")
		out.Answer(unasked(m))
	default:
		c.enqueue(m, out.Now)
	}
}

// requiredCapability is the member of ClientCapabilities that was missing.
func requiredCapability(feature string) mcp.Raw {
	capability, member, _ := strings.Cut(feature, ".")
	if member == "" || member == "multiselect" {
		return mcp.Raw(`{"` + capability + `":{}}`)
	}
	return mcp.Raw(`{"` + capability + `":{"` + member + `":{}}}`)
}

// occupies reports whether a call is parked, or will be.
func (c *parkedCall) occupies() bool { return c.held || !c.close.IsZero() }

func (s *parking) occupied() int {
	n := 0
	for _, c := range s.calls {
		if c.occupies() {
			n++
		}
	}
	return n
}

// unasked answers a question that nobody was asked.
func unasked(m *mcp.Message) *mcp.Message {
	if m.Method == mcp.Elicit {
		return m.Answer(cancelled())
	}
	return m.Refuse(mcp.Errorf(-1, "User rejected the request"))
}

func (c *parkedCall) enqueue(m *mcp.Message, now time.Time) {
	c.count++
	c.questions["in-"+strconv.Itoa(c.count)] = m
	if c.held {
		return // for the next round
	}
	if c.close.IsZero() {
		c.opened = now
	}
	c.close = now.Add(gatherWindow)
	if latest := c.opened.Add(gatherMax); c.close.After(latest) {
		c.close = latest
	}
}

func (s *parking) forget(c *parkedCall, out *Out) {
	delete(s.calls, c.key)
	out.Rounds(c.round)
}

// withdrawn: the server no longer wants an answer.
func (s *parking) withdrawn(question mcp.CallKey) {
	for _, c := range s.calls {
		for name, q := range c.questions {
			if q.Call == question {
				delete(c.questions, name)
			}
		}
	}
}

// answered: the call is over. While nobody is attached its answer waits for
// the retry.
func (s *parking) answered(c *parkedCall, m *mcp.Message, out *Out) {
	c.close = time.Time{}
	s.release(c, out) // what it asked is moot
	if c.held {
		c.done = m
		return
	}
	if m.Kind == mcp.Failure && m.Code() == mcp.CodeNeedsURL {
		if s.gate.f.Client.Declares("elicitation", "url") {
			s.open(c, m, out)
			return
		}
		c.lacked = requiredCapability("elicitation.url")
	}
	s.forget(c, out)
	if c.lacked != nil && failed(m) {
		out.Rewritten()
		out.Forward(m.Refuse(needsCapability(c.lacked)))
		return
	}
	out.Forward(m)
}

func failed(m *mcp.Message) bool {
	v, _ := m.Body.Get("isError")
	return m.Kind == mcp.Failure || string(v) == "true"
}

// show answers the client's request with the questions that are open.
func (s *parking) show(c *parkedCall, out *Out) {
	c.round++
	c.held, c.close, c.expires = true, time.Time{}, out.Now.Add(s.lifetime)
	c.shown = s.round(c)
	out.Rewritten()
	out.Park(c.key, &mcp.Message{Kind: mcp.Result, Method: c.request.Method, Body: c.shown.Clone()})
}

// round is the result that asks the open questions.
func (s *parking) round(c *parkedCall) *mcp.Object {
	requests := mcp.NewObject()
	for name, q := range sortedQuestions(c) {
		params := q.Body.Clone()
		if params == nil {
			params = mcp.NewObject()
		}
		for _, member := range []string{"_meta", "task", "elicitationId"} {
			params.Delete(member)
		}
		entry := mcp.NewObject()
		entry.Set("method", mcp.Quote(q.Method))
		entry.SetObject("params", params) // also when empty: an official client fails without
		requests.SetObject(name, entry)
	}
	body := mcp.MustObject(`{"resultType":"input_required"}`)
	body.SetObject("inputRequests", requests)
	body.Set("requestState", mcp.Quote(s.deps.Seal(strings.Join([]string{
		strconv.FormatUint(uint64(c.key), 10), strconv.Itoa(c.round), c.digest, strconv.FormatInt(c.expires.UnixMilli(), 10),
	}, " "))))
	body.Set("_meta", s.signature())
	return body
}

func (s *parking) signature() mcp.Raw { return signature(serverInfo(s.f.Server)) }

// release answers the questions of a call that nobody will answer any more.
func (s *parking) release(c *parkedCall, out *Out) {
	for _, q := range sortedQuestions(c) {
		if c.pages == nil {
			out.Tell(mcp.Server, unasked(q))
		}
	}
	clear(c.questions)
}

func (s *parking) inOrder() []*parkedCall {
	var out []*parkedCall
	for _, key := range slices.Sorted(maps.Keys(s.calls)) {
		out = append(out, s.calls[key])
	}
	return out
}

// Due implements Stage.
func (s *parking) Due() time.Time {
	due := s.early.until
	for _, c := range s.calls {
		at := c.close
		switch {
		case c.held:
			at = c.expires
		case c.pages != nil:
			at = c.pages.deadline
		}
		if !at.IsZero() && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	return due
}

// Expire implements Stage.
func (s *parking) Expire(out *Out) {
	if !s.early.until.IsZero() && !s.early.until.After(out.Now) {
		s.refuseAll(out)
	}
	for _, c := range s.inOrder() {
		switch {
		case c.held && !c.expires.After(out.Now):
			s.abandon(c, out)
		case c.pages != nil:
			if !c.held && !c.pages.deadline.After(out.Now) {
				s.again(c, out)
			}
		case !c.held && !c.close.IsZero() && !c.close.After(out.Now):
			if c.close = (time.Time{}); len(c.questions) > 0 {
				s.show(c, out)
			}
		}
	}
}

// abandon ends a call whose client did not come back.
func (s *parking) abandon(c *parkedCall, out *Out) {
	s.forget(c, out)
	out.Limited(mcp.LimitPark)
	out.FellBack("parking", "abandon")
	s.release(c, out)
	note := mcp.NewNotification(mcp.Cancelled, mcp.MustObject(`{"reason":"the client did not return"}`))
	note.Call = c.key
	out.Tell(mcp.Server, note)
}
