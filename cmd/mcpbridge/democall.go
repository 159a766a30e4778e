package main

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports/eventstream"
)

// demoSession is one client of the demo's server.
type demoSession struct {
	over context.Context // ends with the session
	end  context.CancelFunc

	mu     sync.Mutex
	lastID int64
	asked  map[string]chan *mcp.Message // questions without an answer yet
}

// take hands an answer of the client to who asked; all else is of no interest.
func (s *demoSession) take(m *mcp.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reply := s.asked[m.ID.Key()]; reply != nil && m.IsAnswer() {
		delete(s.asked, m.ID.Key())
		reply <- m
	}
}

// expect returns an id for a question, and where its answer will come.
func (s *demoSession) expect() (mcp.ID, <-chan *mcp.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	id, reply := mcp.IntID(s.lastID), make(chan *mcp.Message, 1)
	s.asked[id.Key()] = reply
	return id, reply
}

func (s *demoSession) forget(id mcp.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asked, id.Key())
}

// demoCall is a tool's call under way. What the tool says before its result
// travels on the call's own event stream.
type demoCall struct {
	session *demoSession
	ctx     context.Context // ends when the client leaves
	request *mcp.Message
	w       http.ResponseWriter
}

func (s *demoServer) call(w http.ResponseWriter, r *http.Request, session *demoSession, m *mcp.Message) {
	for _, tool := range s.tools {
		if m.Body == nil || m.Body.Text("name") != tool.name {
			continue
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-cache")
		c := &demoCall{session: session, ctx: r.Context(), request: m, w: w}
		if result, err := tool.run(c); err == nil {
			c.send(m.Answer(result))
		}
		return
	}
	writeDemo(w, http.StatusOK, m.Refuse(mcp.Errorf(mcp.CodeInvalidParams, "unknown tool")))
}

func (c *demoCall) send(m *mcp.Message) {
	c.w.Write(eventstream.Append(nil, "", m)) //nolint:errcheck // the client left
	http.NewResponseController(c.w).Flush()   //nolint:errcheck // the client left
}

// progress reports to a client that gave a token for it.
func (c *demoCall) progress(done, total int, what string) {
	token, wanted := c.request.ProgressToken()
	if !wanted {
		return
	}
	p := mcp.NewObject()
	p.Set("progressToken", token.Raw())
	p.Set("progress", mcp.Raw(strconv.Itoa(done)))
	p.Set("total", mcp.Raw(strconv.Itoa(total)))
	p.Set("message", mcp.Quote(what))
	c.send(mcp.NewNotification(mcp.Progress, p))
}

var errDemoLeft = errors.New("demo: asking the client: it left")

// ask asks the client's user, whatever the client declared: that is what many
// servers do.
func (c *demoCall) ask(params *mcp.Object) (*mcp.Message, error) {
	id, reply := c.session.expect()
	defer c.session.forget(id)
	m := mcp.NewRequest(mcp.Elicit, params)
	m.ID = id
	c.send(m)
	select {
	case answer := <-reply:
		return answer, nil
	case <-c.ctx.Done():
	case <-c.session.over.Done():
	}
	return nil, errDemoLeft
}
