package rewrite_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/internal/golden"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
)

// The stages here prove that the core carries conversations across the eras:
// a call of several rounds, a parked call, a subscription over legacy push.
// They do no more than their transcripts need.

const modern mcp.Version = "2026-07-28"

func proofLadder() rewrite.Ladder {
	return append(rewrite.Standard(), rewrite.Revision{Version: modern, Changes: []rewrite.Change{
		{Name: "prove-rounds", Class: rewrite.Breaking, Stage: func(f rewrite.Facing, _ rewrite.Deps) rewrite.Stage {
			if f.Client.Version < f.Server.Version {
				return &rounds{calls: map[mcp.CallKey]*roundCall{}}
			}
			return &parking{calls: map[mcp.CallKey]*parked{}}
		}},
		{Name: "prove-listen", Class: rewrite.Breaking, Stage: func(f rewrite.Facing, _ rewrite.Deps) rewrite.Stage {
			if f.Client.Version < f.Server.Version {
				return rewrite.Passive{}
			}
			return &listening{server: f.Server, listens: map[mcp.CallKey]*listen{}, uris: map[string]int{}}
		}},
	}})
}

func TestProof(t *testing.T) {
	golden.Run(t, "testdata/proof", map[string]rewrite.Ladder{"proof": proofLadder()}, rewrite.Deps{})
}

// rounds turns input_required rounds of a modern server into requests to a
// legacy client (G-11).
type rounds struct {
	rewrite.Passive
	calls map[mcp.CallKey]*roundCall
}

type roundCall struct {
	request  *mcp.Message
	state    mcp.Raw
	answers  *mcp.Object
	missing  int
	progress float64
	seen     bool
}

type roundTag struct {
	call mcp.CallKey
	name string
}

func stamp(m *mcp.Message) {
	meta := m.Params().Object("_meta")
	if meta == nil {
		meta = mcp.NewObject()
		m.Body.SetObject("_meta", meta)
	}
	meta.Set(mcp.MetaVersion, mcp.Quote(string(modern)))
	meta.Set(mcp.MetaCapabilities, mcp.Raw(`{"elicitation":{}}`))
}

func (s *rounds) ToServer(m *mcp.Message, out *rewrite.Out) {
	if m.Kind == mcp.Request && m.Method == mcp.ToolsCall {
		s.calls[m.Call] = &roundCall{request: &mcp.Message{Kind: m.Kind, Method: m.Method, Call: m.Call, Body: m.Body.Clone()}}
		stamp(m)
	}
	out.Forward(m)
}

func (s *rounds) ToClient(m *mcp.Message, out *rewrite.Out) {
	c := s.calls[m.Call]
	switch {
	case c != nil && m.Method == mcp.Progress:
		v, _ := m.Body.Get("progress")
		var n float64
		_, _ = fmt.Sscan(string(v), &n)
		if c.seen && n <= c.progress {
			return
		}
		c.seen, c.progress = true, n
	case c != nil && m.Kind == mcp.Result && m.Body.Text("resultType") == "input_required":
		s.ask(c, m, out)
		return
	case c != nil && m.Kind == mcp.Result:
		m.Body.Delete("resultType")
		m.Body.Delete("_meta")
		delete(s.calls, m.Call)
	}
	out.Forward(m)
}

func (s *rounds) ask(c *roundCall, m *mcp.Message, out *rewrite.Out) {
	c.state, _ = m.Body.Get("requestState")
	c.answers = mcp.NewObject()
	m.Body.Object("inputRequests").Each(func(name string, v mcp.Raw) bool {
		o, _ := mcp.ParseObject(v)
		question := mcp.NewRequest(o.Text("method"), o.Object("params").Clone())
		question.Within = m.Call
		c.missing++
		out.Ask(mcp.Client, question, roundTag{m.Call, name})
		return true
	})
}

func (s *rounds) Answered(tag any, m *mcp.Message, out *rewrite.Out) {
	t := tag.(roundTag)
	c := s.calls[t.call]
	m.Body.Delete("_meta")
	c.answers.Set(t.name, m.Body.Raw())
	if c.missing--; c.missing > 0 {
		return
	}
	leg := &mcp.Message{Kind: mcp.Request, Method: c.request.Method, Call: t.call, Body: c.request.Body.Clone()}
	leg.Body.SetObject("inputResponses", c.answers)
	if c.state != nil {
		leg.Body.Set("requestState", c.state)
	}
	stamp(leg)
	out.Tell(mcp.Server, leg)
}

// parking holds a legacy call while a modern client gathers input (G-34).
type parking struct {
	rewrite.Passive
	calls map[mcp.CallKey]*parked
	due   time.Time
}

type parked struct {
	questions map[string]*mcp.Message
	order     []string
	count     int
	shown     bool
}

const gather = 25 * time.Millisecond

func (s *parking) ToServer(m *mcp.Message, out *rewrite.Out) {
	if m.Kind != mcp.Request || m.Method != mcp.ToolsCall {
		out.Forward(m)
		return
	}
	state, retry := m.Body.Get("requestState")
	if !retry {
		m.Body.Delete("_meta")
		s.calls[m.Call] = &parked{questions: map[string]*mcp.Message{}}
		out.Forward(m)
		return
	}
	var key mcp.CallKey
	text, _ := state.Text()
	_, _ = fmt.Sscanf(text, "park-%d", &key)
	c := s.calls[key]
	out.Attach(key, m)
	c.shown = false
	m.Body.Object("inputResponses").Each(func(name string, v mcp.Raw) bool {
		answer, _ := mcp.ParseObject(v)
		question := c.questions[name]
		delete(c.questions, name)
		out.Tell(mcp.Server, question.Answer(answer))
		return true
	})
}

func (s *parking) ToClient(m *mcp.Message, out *rewrite.Out) {
	switch c := s.calls[m.Within]; {
	case c != nil && m.Kind == mcp.Request && m.Method == mcp.Elicit:
		c.count++
		name := fmt.Sprintf("in-%d", c.count)
		m.Body.Delete("_meta")
		c.questions[name], c.order = m, append(c.order, name)
		if s.due.IsZero() {
			s.due = out.Now.Add(gather)
		}
		return
	case m.Kind == mcp.Result && s.calls[m.Call] != nil:
		delete(s.calls, m.Call)
		m.Body.Set("resultType", mcp.Raw(`"complete"`))
	}
	out.Forward(m)
}

func (s *parking) Due() time.Time { return s.due }

func (s *parking) Expire(out *rewrite.Out) {
	s.due = time.Time{}
	for key, c := range s.calls {
		if c.shown || len(c.questions) == 0 {
			continue
		}
		c.shown = true
		requests := mcp.NewObject()
		for _, name := range c.order {
			if q := c.questions[name]; q != nil {
				entry := mcp.NewObject()
				entry.Set("method", mcp.Quote(q.Method))
				entry.Set("params", q.Body.Raw())
				requests.SetObject(name, entry)
			}
		}
		body := mcp.MustObject(`{"resultType":"input_required"}`)
		body.SetObject("inputRequests", requests)
		body.Set("requestState", mcp.Quote(fmt.Sprintf("park-%d", key)))
		out.Park(key, &mcp.Message{Kind: mcp.Result, Method: mcp.ToolsCall, Body: body})
	}
}

// listening serves subscriptions/listen over a legacy server's push (G-52).
type listening struct {
	rewrite.Passive
	server  mcp.Peer
	listens map[mcp.CallKey]*listen
	uris    map[string]int
}

type listen struct {
	request *mcp.Message
	granted []string
	missing int
}

type listenTag struct {
	call mcp.CallKey
	uri  string
}

func (s *listening) ToServer(m *mcp.Message, out *rewrite.Out) {
	switch l := s.listens[m.Call]; {
	case m.Method == mcp.Listen && m.Kind == mcp.Request:
		s.listens[m.Call] = &listen{request: m}
		out.Push(true, listenTag{call: m.Call})
	case m.Method == mcp.Cancelled && l != nil:
		delete(s.listens, m.Call)
		for _, uri := range l.granted {
			if s.uris[uri]--; s.uris[uri] == 0 {
				s.ask(mcp.ResourcesUnsubscribe, listenTag{uri: uri}, out)
			}
		}
	default:
		out.Forward(m)
	}
}

func (s *listening) ask(method string, t listenTag, out *rewrite.Out) {
	params := mcp.NewObject()
	params.Set("uri", mcp.Quote(t.uri))
	out.Ask(mcp.Server, mcp.NewRequest(method, params), t)
}

func (s *listening) Answered(tag any, m *mcp.Message, out *rewrite.Out) {
	t := tag.(listenTag)
	l := s.listens[t.call]
	switch {
	case l == nil:
		return
	case t.uri == "": // the stream is open
		uris := l.request.Body.Object("notifications").Array("resourceSubscriptions")
		for i := range uris.Len() {
			uri, _ := uris.At(i).Text()
			if s.uris[uri] > 0 {
				s.grant(l, uri)
				continue
			}
			l.missing++
			s.ask(mcp.ResourcesSubscribe, listenTag{t.call, uri}, out)
		}
	default:
		l.missing--
		if m.Kind == mcp.Result {
			s.grant(l, t.uri)
		}
	}
	if l.missing == 0 {
		s.acknowledge(l, out)
	}
}

func (s *listening) grant(l *listen, uri string) {
	s.uris[uri]++
	l.granted = append(l.granted, uri)
}

func (s *listening) acknowledge(l *listen, out *rewrite.Out) {
	honoured := mcp.NewObject()
	if v, _ := l.request.Body.Object("notifications").Get("toolsListChanged"); string(v) == "true" && s.server.Declares("tools") {
		honoured.Set("toolsListChanged", v)
	}
	if len(l.granted) > 0 {
		honoured.Set("resourceSubscriptions", mcp.Strings(l.granted))
	}
	ack := mcp.NewObject()
	ack.Set("notifications", honoured.Raw())
	s.notify(l, mcp.NewNotification(mcp.ListenAcknowledged, ack), out)
}

// notify names the listen in the notice; the session puts the client's id in.
func (s *listening) notify(l *listen, m *mcp.Message, out *rewrite.Out) {
	m.Call, m.Within = l.request.Call, l.request.Call
	m.Params().Set("_meta", mcp.Raw(`{"`+mcp.MetaSubscriptionID+`":0}`))
	out.Tell(mcp.Client, m)
}

func (s *listening) ToClient(m *mcp.Message, out *rewrite.Out) {
	if m.Kind != mcp.Notification || m.Method != mcp.ResourceUpdated {
		out.Forward(m)
		return
	}
	for key := mcp.CallKey(1); key < 100; key++ {
		if l := s.listens[key]; l != nil && len(l.granted) > 0 {
			s.notify(l, mcp.NewNotification(m.Method, m.Body.Clone()), out)
		}
	}
}
