package rewrite

import (
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// pages are what a server with sessions wants its user to open before it runs
// a call (error -32042). The server has forgotten the call; only the client's
// request is held.
type pages struct {
	waiting  map[string]bool // by elicitationId: not known to be done
	deadline time.Time       // of the wait, once the client has opened them
}

// pageWait is how long a call waits for the server to say that they are done.
const pageWait = 20 * time.Second

// open asks the client for the pages that the server named.
func (s *parking) open(c *parkedCall, m *mcp.Message, out *Out) {
	if s.occupied() >= s.most {
		s.forget(c, out)
		out.Limited(mcp.LimitParked)
		out.FellBack("parking", "refuse")
		out.Forward(m.Refuse(mcp.Errorf(mcp.CodeInternal, "%d calls wait for the client's answers, the limit %s; answer those first", s.most, mcp.LimitParked)))
		return
	}
	c.pages = &pages{waiting: map[string]bool{}}
	clear(c.questions)
	list := m.Body.Object("data").Array("elicitations")
	for i := range min(list.Len(), maxQuestions) {
		page, ok := mcp.ParseObject(list.At(i))
		if !ok || page.Text("url") == "" {
			continue
		}
		if id := page.Text("elicitationId"); id != "" {
			c.pages.waiting[id] = true
		}
		page.Set("mode", mcp.Raw(`"url"`))
		c.enqueue(mcp.NewRequest(mcp.Elicit, page.Clone()), out.Now)
	}
	if len(c.questions) == 0 {
		s.forget(c, out)
		out.Forward(m.Refuse(mcp.Errorf(mcp.CodeInternal, "the server wants something opened first but does not say what: %s", clip(m.Body.Text("message"), 256))))
		return
	}
	s.show(c, out)
}

// opened takes what became of the pages.
func (s *parking) opened(c *parkedCall, m *mcp.Message, answers *mcp.Object, out *Out) {
	for name := range sortedQuestions(c) {
		v, given := answers.Get(name)
		if !given {
			c.round++
			c.shown, c.expires = s.round(c), out.Now.Add(s.lifetime)
			out.Answer(m.Answer(c.shown.Clone()))
			return
		}
		if answer, _ := mcp.ParseObject(v); answer.Text("action") != "accept" {
			s.forget(c, out)
			out.Attach(c.key, m)
			s.decline(c, out)
			return
		}
	}
	c.held = false
	clear(c.questions)
	out.Attach(c.key, m)
	c.pages.deadline = out.Now.Add(pageWait)
	if len(c.pages.waiting) == 0 {
		s.again(c, out)
	}
}

// decline ends a call whose page the user did not want to open.
func (s *parking) decline(c *parkedCall, out *Out) {
	const why = "The user did not open the page that the server asked for."
	answer := &mcp.Message{Kind: mcp.Failure, Method: c.request.Method, Call: c.key, Body: mcp.Errorf(mcp.CodeInternal, why).Object()}
	if c.request.Method == mcp.ToolsCall {
		answer.Kind, answer.Body = mcp.Result, toolError(why)
		answer.Body.Set("resultType", mcp.Raw(`"complete"`))
		answer.Body.Set("_meta", s.signature())
	}
	out.Tell(mcp.Client, answer)
}

// completed: the server has seen one page through.
func (s *parking) completed(id string, out *Out) {
	for _, c := range s.inOrder() {
		if c.pages == nil || !c.pages.waiting[id] {
			continue
		}
		delete(c.pages.waiting, id)
		if len(c.pages.waiting) == 0 && !c.held {
			s.again(c, out)
		}
	}
}

// again asks the server anew: it never ran the call.
func (s *parking) again(c *parkedCall, out *Out) {
	c.pages = nil
	m := copyOf(c.request)
	m.Call = c.key
	out.Rewritten()
	out.Tell(mcp.Server, m)
}
