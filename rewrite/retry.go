package rewrite

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// retry takes the request by which a client comes back to a parked call.
func (s *parking) retry(m *mcp.Message, state mcp.Raw, out *Out) {
	c, round, ok := s.resume(m, state, out.Now)
	answers := m.Body.Object("inputResponses")
	lacking := mcp.Raw(nil)
	if ok {
		lacking = s.narrowed(c, m)
	}
	switch {
	case !ok:
		out.Answer(m.Refuse(invalidState()))
	case round < c.round && c.held: // the client may have lost the round: here it is again
		out.Answer(m.Answer(c.shown.Clone()))
	case round < c.round || !c.held:
		out.Answer(m.Refuse(stateError("consumed", "the answers of this round were given before")))
	case lacking != nil:
		out.Answer(m.Refuse(needsCapability(lacking)))
	case c.done != nil:
		s.forget(c, out)
		out.Attach(c.key, m)
		out.Tell(mcp.Client, c.done)
	case m.Body.Has("inputResponses") && answers == nil || !s.valid(c, answers):
		out.Answer(m.Refuse(mcp.Errorf(mcp.CodeInvalidParams, "inputResponses must hold the bare results of the questions, by their names")))
	case c.pages != nil:
		s.opened(c, m, answers, out)
	default:
		s.give(c, m, answers, out)
	}
}

// resume finds the call that a state names, if the request is the one that
// was parked.
func (s *parking) resume(m *mcp.Message, state mcp.Raw, now time.Time) (c *parkedCall, round int, ok bool) {
	text, isText := state.Text()
	payload, opened := s.deps.Open(text)
	fields := strings.Fields(payload)
	if !isText || !opened || len(fields) != 4 {
		return nil, 0, false
	}
	key, _ := strconv.ParseUint(fields[0], 10, 64)
	round, _ = strconv.Atoi(fields[1])
	c = s.calls[mcp.CallKey(key)]
	if c == nil || fields[2] != c.digest || digestOf(m) != c.digest || c.expires.Before(now) { // by the clock that never jumps
		return nil, 0, false
	}
	return c, round, true
}

// InvalidState is the reason, in an error's data, that a request state is
// worth nothing.
const InvalidState = "invalid_request_state"

func invalidState() *mcp.Error {
	return stateError(InvalidState, "the request state is not valid, or the call that it belongs to is gone; the server may have acted before it asked")
}

// narrowed returns a capability that an open question needs and that this
// request, other than the first, does not declare.
func (s *parking) narrowed(c *parkedCall, m *mcp.Message) mcp.Raw {
	gate := *s.gate
	gate.f.Client.Capabilities = m.Meta().Object(mcp.MetaCapabilities)
	for _, q := range sortedQuestions(c) {
		if missing := gate.missing(q); missing != "" {
			return requiredCapability(missing)
		}
	}
	return nil
}

func needsCapability(capability mcp.Raw) *mcp.Error {
	e := mcp.Errorf(mcp.CodeNeedsCapability, "the server needs a capability that the client did not declare")
	e.Data = mcp.Raw(`{"requiredCapabilities":` + string(capability) + `}`)
	return e
}

func stateError(reason, text string) *mcp.Error {
	e := mcp.Errorf(mcp.CodeInvalidParams, "%s", text)
	e.Data = mcp.Raw(`{"reason":"` + reason + `"}`)
	return e
}

// valid checks the answers to what was asked; others are ignored.
func (s *parking) valid(c *parkedCall, answers *mcp.Object) bool {
	for name, q := range c.questions {
		v, given := answers.Get(name)
		if !given {
			continue
		}
		answer, isObject := mcp.ParseObject(v)
		if !isObject || !validAnswer(q.Method, answer) {
			return false
		}
	}
	return true
}

func validAnswer(method string, answer *mcp.Object) bool {
	switch method {
	case mcp.Elicit:
		action := answer.Text("action")
		content, has := answer.Get("content")
		return (action == "accept" || action == "decline" || action == "cancel") && (!has || content.IsObject())
	case mcp.CreateMessage:
		content, _ := answer.Get("content")
		return answer.Text("role") != "" && answer.Text("model") != "" && (content.IsObject() || content.IsArray())
	}
	return answer.Array("roots") != nil
}

// give hands the answers to the server, and asks again for what is missing.
// With the last one the client's request waits for the call.
func (s *parking) give(c *parkedCall, m *mcp.Message, answers *mcp.Object, out *Out) {
	shown := c.shown.Object("inputRequests")
	missing := false
	var given []*mcp.Message
	for name, q := range sortedQuestions(c) {
		v, has := answers.Get(name)
		switch {
		case has:
			answer, _ := mcp.ParseObject(v)
			given = append(given, q.Answer(answer.Clone()))
			delete(c.questions, name)
		case shown.Has(name):
			missing = true
		}
	}
	c.expires = out.Now.Add(s.lifetime)
	if missing {
		c.round++
		c.shown = s.round(c)
		out.Answer(m.Answer(c.shown.Clone()))
	} else {
		c.held = false
		out.Attach(c.key, m)
		if len(c.questions) > 0 { // asked meanwhile
			c.opened, c.close = out.Now, out.Now.Add(gatherWindow)
		}
	}
	for _, answer := range given {
		out.Tell(mcp.Server, answer)
	}
	if c.unsent && !missing {
		c.unsent = false
		s.again(c, out)
	}
}

// sortedQuestions iterates in the order in which the questions came.
func sortedQuestions(c *parkedCall) func(func(string, *mcp.Message) bool) {
	return func(yield func(string, *mcp.Message) bool) {
		for n := 1; n <= c.count; n++ {
			name := "in-" + strconv.Itoa(n)
			if q := c.questions[name]; q != nil && !yield(name, q) {
				return
			}
		}
	}
}
