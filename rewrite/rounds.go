package rewrite

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// rounds runs calls that a stateless server answers with questions. The
// questions become requests to the client in the call's own stream, and the
// call is repeated with the answers until it is complete.
type rounds struct {
	Passive
	f     Facing
	calls map[mcp.CallKey]*roundCall
}

// roundCall is one call of the client.
type roundCall struct {
	key     mcp.CallKey
	request *mcp.Message // as the client sent it
	rounds  int
	state   mcp.Raw // nil when the server gave none
	hasResp bool    // the next leg answers something
	answers *mcp.Object
	asked   map[mcp.CallKey]string // questions under way, by key, with their name
	asking  bool                   // questions of the round are still being asked
	waiting bool                   // no leg is under way
	due     time.Time              // when the next leg goes out, or the questions expire
	expires bool                   // due is an expiry
	idle    int                    // legs in a row that waited without a question
	last    *float64               // the progress told last
	urls    map[string]string      // consented URLs, with the id the client knows
	polls   int
}

const (
	maxRounds   = 8
	inputWait   = 10 * time.Minute
	idleMin     = 250 * time.Millisecond
	idleMax     = 5 * time.Second
	urlPollMin  = 2 * time.Second
	urlPollMax  = 10 * time.Second
	urlPollsMax = 60 // about ten minutes
)

func newRounds(f Facing, _ Deps) Stage {
	if f.Client.Version >= f.Server.Version {
		return Passive{}
	}
	return &rounds{f: f, calls: map[mcp.CallKey]*roundCall{}}
}

// ToServer implements Stage.
func (s *rounds) ToServer(m *mcp.Message, out *Out) {
	c := s.calls[m.Call]
	switch {
	case m.Kind == mcp.Request && hasRounds(m.Method):
		s.calls[m.Call] = &roundCall{key: m.Call, request: copyOf(m), asked: map[mcp.CallKey]string{}, urls: map[string]string{}}
	case m.Method == mcp.Cancelled && c != nil:
		s.forget(c, out)
		if c.waiting { // nothing is under way at the server
			s.withdraw(c, "the call was cancelled", out)
			return
		}
	}
	out.Forward(m)
}

// ToClient implements Stage.
func (s *rounds) ToClient(m *mcp.Message, out *Out) {
	c := s.calls[m.Call]
	switch {
	case c == nil:
	case m.Kind == mcp.Notification && m.Method == mcp.Progress:
		if !c.advances(m) {
			return
		}
	case m.Kind == mcp.Result && m.Body.Text("resultType") == "input_required":
		s.round(c, m, out)
		return
	case m.IsAnswer():
		s.finish(c, out)
	}
	out.Forward(m)
}

// advances: to the client all legs are one request, whose progress increases
// (basic/utilities/progress).
func (c *roundCall) advances(m *mcp.Message) bool {
	v, _ := m.Body.Get("progress")
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil || c.last != nil && n <= *c.last {
		return false
	}
	c.last = &n
	return true
}

// finish forgets a call that is over, and tells the client that the URLs it
// was shown are done with.
func (s *rounds) finish(c *roundCall, out *Out) {
	s.forget(c, out)
	for _, url := range slices.Sorted(maps.Keys(c.urls)) {
		params := mcp.NewObject()
		params.Set("elicitationId", mcp.Quote(c.urls[url]))
		note := mcp.NewNotification(mcp.ElicitationComplete, params)
		note.Within = c.key
		out.Tell(mcp.Client, note)
	}
}

func (s *rounds) forget(c *roundCall, out *Out) {
	delete(s.calls, c.key)
	out.Rounds(c.rounds)
}

// fail ends a call without the server. What a model can act on, it is shown as
// the result of its tool; a server that breaks the protocol is an error.
func (s *rounds) fail(c *roundCall, err *mcp.Error, shown bool, out *Out) {
	s.withdraw(c, "the call failed", out)
	s.finish(c, out)
	reply := c.request.Refuse(err)
	if shown && c.request.Method == mcp.ToolsCall {
		reply = c.request.Answer(toolError(err.Message))
	}
	out.Tell(mcp.Client, reply)
}

const (
	shown  = true
	hidden = false
)

// withdraw takes back the questions that are under way.
func (s *rounds) withdraw(c *roundCall, why string, out *Out) {
	for _, key := range slices.Sorted(maps.Keys(c.asked)) {
		params := mcp.NewObject()
		params.Set("reason", mcp.Quote(why))
		note := mcp.NewNotification(mcp.Cancelled, params)
		note.Call, note.Within = key, c.key
		out.Forget(key)
		out.Tell(mcp.Client, note)
	}
	clear(c.asked)
}

// round asks what the server wants to know.
func (s *rounds) round(c *roundCall, m *mcp.Message, out *Out) {
	questions := m.Body.Object("inputRequests")
	state, hasState := m.Body.Get("requestState")
	switch {
	case questions == nil && !hasState:
		s.fail(c, mcp.Errorf(mcp.CodeInternal, "the server asks for input and does not say which"), hidden, out)
		return
	case c.rounds >= maxRounds && questions.Len() > 0:
		s.fail(c, mcp.Errorf(mcp.CodeInternal, "the server asked %d times for input and is not done", maxRounds), shown, out)
		return
	}
	if err, shown := s.check(questions); err != nil {
		s.fail(c, err, shown, out)
		return
	}
	c.rounds++
	c.waiting, c.state, c.answers, c.hasResp = true, nil, mcp.NewObject(), questions.Len() > 0
	if hasState {
		c.state = append(mcp.Raw(nil), state...)
	}
	if questions.Len() == 0 {
		s.idle(c, out)
		return
	}
	c.idle = 0
	s.askAll(c, questions, out)
}

// idle repeats a call that asks nothing, after a pause that grows.
func (s *rounds) idle(c *roundCall, out *Out) {
	c.rounds-- // a server that only needs time has no round
	pause := min(idleMin<<min(c.idle, 10), idleMax)
	c.idle++
	c.due, c.expires = out.Now.Add(pause), false
}

// check looks at every question before any is asked.
func (s *rounds) check(questions *mcp.Object) (err *mcp.Error, shown bool) {
	questions.Each(func(name string, v mcp.Raw) bool {
		q, ok := mcp.ParseObject(v)
		if !ok {
			err = mcp.Errorf(mcp.CodeInternal, "the server's question %q is none", clip(name, 64))
			return false
		}
		switch method := q.Text("method"); method {
		case mcp.Elicit:
		case mcp.CreateMessage, mcp.RootsList:
			capability := map[string]string{mcp.CreateMessage: "sampling", mcp.RootsList: "roots"}[method]
			if !s.f.Client.Declares(capability) {
				err, shown = mcp.Errorf(mcp.CodeInternal, "the server asked for %s, which the client did not declare", capability), true
			}
		default:
			err = mcp.Errorf(mcp.CodeInternal, "the server asks by %q, which is no question", clip(method, 64))
		}
		return err == nil
	})
	return err, shown
}

func (s *rounds) askAll(c *roundCall, questions *mcp.Object, out *Out) {
	c.due, c.expires, c.asking = time.Time{}, true, true
	consented := 0
	var names []string
	questions.Each(func(name string, v mcp.Raw) bool { names = append(names, name); return true })
	for _, name := range names {
		q := questions.Object(name)
		params := q.Object("params").Clone()
		if params != nil && params.Text("mode") == "url" {
			if c.urls[params.Text("url")] != "" { // the person went there already
				c.answers.Set(name, mcp.Raw(`{"action":"accept"}`))
				consented++
				continue
			}
			id := fmt.Sprintf("mcpbridge-%d-%d-%s", c.key, c.rounds, name)
			c.urls[params.Text("url")] = id
			params.Set("elicitationId", mcp.Quote(id))
		}
		if params.Len() == 0 {
			params = nil
		}
		if q.Text("method") != mcp.Elicit { // which has a timeout of its own
			c.due = out.Now.Add(inputWait)
		}
		question := mcp.NewRequest(q.Text("method"), params)
		question.Within = c.key
		s.ask(c, question, name, out)
	}
	c.asking = false
	if s.calls[c.key] != c || len(c.asked) > 0 {
		return
	}
	if consented == len(names) {
		s.poll(c, out)
		return
	}
	s.leg(c, out)
}

// ask asks one question. The answer may come at once, from a stage that
// answers in the client's place.
func (s *rounds) ask(c *roundCall, m *mcp.Message, name string, out *Out) {
	tag := &roundTag{call: c, name: name}
	key := out.Ask(mcp.Client, m, tag)
	if !tag.answered && s.calls[c.key] == c {
		c.asked[key] = name
	}
}

type roundTag struct {
	call     *roundCall
	name     string
	answered bool
}

// poll repeats a call whose person is still on the way, without asking again.
func (s *rounds) poll(c *roundCall, out *Out) {
	c.rounds--
	if c.polls++; c.polls > urlPollsMax {
		s.fail(c, mcp.Errorf(mcp.CodeInternal, "the server still waits for the page that was shown"), shown, out)
		return
	}
	c.due, c.expires = out.Now.Add(min(urlPollMin+time.Duration(c.polls-1)*time.Second, urlPollMax)), false
}

// Answered implements Stage.
func (s *rounds) Answered(tag any, m *mcp.Message, out *Out) {
	t := tag.(*roundTag)
	t.answered = true
	c := t.call
	if s.calls[c.key] != c {
		return
	}
	delete(c.asked, m.Call)
	if m.Kind == mcp.Failure {
		s.refused(c, m, out)
		return
	}
	if m.Method == mcp.CreateMessage {
		stripHop(m.Body)
	} else {
		m.Body.Delete("_meta") // these results have none
	}
	if m.Method == mcp.Elicit && m.Body.Text("action") != "accept" {
		maps.DeleteFunc(c.urls, func(_, id string) bool { return id == fmt.Sprintf("mcpbridge-%d-%d-%s", c.key, c.rounds, t.name) })
	}
	c.answers.Set(t.name, m.Body.Raw())
	if len(c.asked) == 0 && !c.asking {
		s.leg(c, out)
	}
}

// refused: there is no way to tell a stateless server that a client cannot
// answer, so the call fails.
func (s *rounds) refused(c *roundCall, m *mcp.Message, out *Out) {
	s.fail(c, mcp.Errorf(m.Code(), "%s was rejected by the client: %s", m.Method, clip(m.Body.Text("message"), 400)), shown, out)
}

// leg sends the call again. Answers replace those of the round before.
func (s *rounds) leg(c *roundCall, out *Out) {
	c.waiting, c.due = false, time.Time{}
	m := copyOf(c.request)
	if c.hasResp {
		m.Params().SetObject("inputResponses", c.answers)
	}
	if c.state != nil {
		m.Params().Set("requestState", c.state)
	}
	out.Tell(mcp.Server, m)
}

// Due implements Stage.
func (s *rounds) Due() time.Time {
	var due time.Time
	for _, c := range s.calls {
		if c.waiting && !c.due.IsZero() && (due.IsZero() || c.due.Before(due)) {
			due = c.due
		}
	}
	return due
}

// Expire implements Stage.
func (s *rounds) Expire(out *Out) {
	for _, key := range slices.Sorted(maps.Keys(s.calls)) {
		c := s.calls[key]
		if c == nil || !c.waiting || c.due.IsZero() || c.due.After(out.Now) {
			continue
		}
		if c.expires {
			s.fail(c, mcp.Errorf(mcp.CodeInternal, "the client did not answer in time"), shown, out)
			continue
		}
		s.leg(c, out)
	}
}
