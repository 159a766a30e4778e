package rewrite

import (
	"maps"
	"slices"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// listening keeps one subscriptions/listen open at a stateless server for what
// a client of an older revision subscribed to and for changes of lists. What
// it asks for cannot be changed, so a change opens a second one before it
// closes the first: nothing falls between.
type listening struct {
	Passive
	f        Facing
	ready    bool            // the client is initialized
	wanted   map[string]bool // resources
	current  *listen         // acknowledged
	next     *listen         // under way
	refused  bool            // the server has no listen
	dirty    time.Time       // when to ask for less
	retry    time.Time       // when to open again
	failures int
	gap      bool // something may have been missed
	last     map[string]lastNews
}

// listen is one request to listen.
type listen struct {
	key      mcp.CallKey
	filter   mcp.Raw
	waiting  []*mcp.Message // subscribe requests that it must grant
	deadline time.Time      // of the acknowledgement
	opened   time.Time
	honoured *mcp.Object
}

type lastNews struct {
	from mcp.CallKey
	at   time.Time
}

const (
	ackWait      = 10 * time.Second
	listenMin    = time.Second
	listenMax    = time.Minute
	listenSettle = time.Minute // after which a listen counts as stable
	askForLess   = time.Second
	overlap      = 250 * time.Millisecond
)

func newListening(f Facing, _ Deps) Stage {
	if f.Client.Version >= f.Server.Version {
		return Passive{}
	}
	return &listening{f: f, wanted: map[string]bool{}, last: map[string]lastNews{}}
}

// filter returns what to listen for now; nil for nothing.
func (s *listening) filter() mcp.Raw {
	o := mcp.NewObject()
	for _, l := range []struct{ capability, member string }{
		{"tools", "toolsListChanged"}, {"prompts", "promptsListChanged"}, {"resources", "resourcesListChanged"},
	} {
		if v, _ := s.f.Server.Capabilities.Object(l.capability).Get("listChanged"); string(v) == "true" {
			o.Set(l.member, mcp.Raw("true"))
		}
	}
	if len(s.wanted) > 0 {
		o.Set("resourceSubscriptions", mcp.Strings(slices.Sorted(maps.Keys(s.wanted))))
	}
	if o.Len() == 0 {
		return nil
	}
	return o.Raw()
}

// ToServer implements Stage.
func (s *listening) ToServer(m *mcp.Message, out *Out) {
	switch {
	case m.Kind == mcp.Notification && m.Method == mcp.Initialized:
		s.ready = true
		s.refresh(nil, out)
	case m.Kind == mcp.Request && m.Method == mcp.ResourcesSubscribe:
		s.subscribe(m, out)
	case m.Kind == mcp.Request && m.Method == mcp.ResourcesUnsubscribe:
		delete(s.wanted, m.Params().Text("uri"))
		s.dirty = out.Now.Add(askForLess)
		out.Answer(m.Answer(mcp.NewObject()))
	default:
		out.Forward(m)
	}
}

func (s *listening) subscribe(m *mcp.Message, out *Out) {
	v, _ := s.f.Server.Capabilities.Object("resources").Get("subscribe")
	uri := m.Params().Text("uri")
	switch {
	case string(v) != "true" || s.refused:
		out.Answer(m.Refuse(mcp.Errorf(mcp.CodeMethodNotFound, "the server has no subscriptions to resources")))
	case s.wanted[uri] && s.current.honours(uri):
		out.Answer(m.Answer(mcp.NewObject()))
	default:
		s.wanted[uri] = true
		s.refresh(m, out)
	}
}

// honours reports whether a listen covers a resource.
func (l *listen) honours(uri string) bool {
	if l == nil || l.honoured == nil {
		return false
	}
	list := l.honoured.Array("resourceSubscriptions")
	for i := range list.Len() {
		if list.At(i).Is(uri) {
			return true
		}
	}
	return false
}

// refresh opens a listen for what is wanted now. While one is under way the
// request waits; the next takes it along.
func (s *listening) refresh(request *mcp.Message, out *Out) {
	s.dirty = time.Time{}
	if s.next != nil {
		if request != nil {
			s.next.waiting = append(s.next.waiting, request)
		}
		return
	}
	filter := s.filter()
	if s.refused || filter == nil {
		s.close(s.current, out)
		s.current = nil
		return
	}
	s.next = &listen{filter: filter, deadline: out.Now.Add(ackWait)}
	if request != nil {
		s.next.waiting = append(s.next.waiting, request)
	}
	params := mcp.NewObject()
	params.Set("notifications", filter)
	l := s.next
	l.key = out.Ask(mcp.Server, mcp.NewRequest(mcp.Listen, params), l)
}

// close ends a listen: the server hears it as a cancellation.
func (s *listening) close(l *listen, out *Out) {
	if l == nil {
		return
	}
	out.Forget(l.key)
	note := mcp.NewNotification(mcp.Cancelled, mcp.NewObject())
	note.Call = l.key
	out.Tell(mcp.Server, note)
}

// ToClient implements Stage.
func (s *listening) ToClient(m *mcp.Message, out *Out) {
	if m.Kind != mcp.Notification {
		out.Forward(m)
		return
	}
	switch m.Method {
	case mcp.ListenAcknowledged:
		if s.next != nil && m.Call == s.next.key {
			s.acknowledged(m, out)
		}
	case mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged, mcp.ResourceUpdated:
		s.news(m, out)
	default:
		if !s.ours(m.Call) && !s.ours(m.Within) { // nothing else belongs on a listen
			out.Forward(m)
		}
	}
}

// ours reports whether a call is one of the listens.
func (s *listening) ours(key mcp.CallKey) bool {
	return s.current != nil && key == s.current.key || s.next != nil && key == s.next.key
}

// news passes on what one of the listens brings, once.
func (s *listening) news(m *mcp.Message, out *Out) {
	if !s.ours(m.Call) {
		return
	}
	what := m.Method + " " + m.Body.Text("uri")
	if l, seen := s.last[what]; seen && l.from != m.Call && out.Now.Sub(l.at) < overlap {
		return
	}
	if len(s.last) > maxTools {
		clear(s.last)
	}
	s.last[what] = lastNews{m.Call, out.Now}
	stripHop(m.Body)
	if m.Body.Len() == 0 {
		m.Body = nil
	}
	m.Call, m.Within = 0, 0
	out.Forward(m)
}

// acknowledged takes over from the listen before, and answers who waited.
func (s *listening) acknowledged(m *mcp.Message, out *Out) {
	l := s.next
	l.honoured = m.Body.Object("notifications").Clone()
	if l.honoured == nil {
		l.honoured = mcp.NewObject()
	}
	l.opened = out.Now
	old := s.current
	s.current, s.next = l, nil
	s.close(old, out)
	var again []*mcp.Message
	for _, request := range l.waiting {
		uri := request.Params().Text("uri")
		switch {
		case l.honours(uri):
			out.Tell(mcp.Client, request.Answer(mcp.NewObject()))
		case !covers(l.filter, uri): // it came while the listen was under way
			again = append(again, request)
		default:
			delete(s.wanted, uri)
			e := mcp.Errorf(mcp.CodeInvalidParams, "the server does not take a subscription to this resource")
			e.Data = mcp.Raw(`{"uri":` + string(mcp.Quote(uri)) + `}`)
			out.Tell(mcp.Client, request.Refuse(e))
		}
	}
	if s.gap {
		s.gap = false
		s.catchUp(l, out)
	}
	for _, request := range again {
		s.refresh(request, out)
	}
}

func covers(filter mcp.Raw, uri string) bool {
	o, _ := mcp.ParseObject(filter)
	list := o.Array("resourceSubscriptions")
	for i := range list.Len() {
		if list.At(i).Is(uri) {
			return true
		}
	}
	return false
}

// catchUp tells of every change that may have been missed: one that did not
// happen does no harm.
func (s *listening) catchUp(l *listen, out *Out) {
	for _, k := range []struct{ member, method string }{
		{"toolsListChanged", mcp.ToolsChanged}, {"promptsListChanged", mcp.PromptsChanged}, {"resourcesListChanged", mcp.ResourcesChanged},
	} {
		if v, _ := l.honoured.Get(k.member); string(v) == "true" {
			out.Tell(mcp.Client, mcp.NewNotification(k.method, nil))
		}
	}
	for _, uri := range slices.Sorted(maps.Keys(s.wanted)) {
		params := mcp.NewObject()
		params.Set("uri", mcp.Quote(uri))
		out.Tell(mcp.Client, mcp.NewNotification(mcp.ResourceUpdated, params))
	}
}

// Answered implements Stage: a listen is over.
func (s *listening) Answered(tag any, m *mcp.Message, out *Out) {
	l := tag.(*listen)
	switch {
	case l == s.next:
		s.next = nil
		s.unopened(l, m, out)
	case l == s.current:
		s.current = nil
	default:
		return
	}
	switch {
	case s.refused || l.honoured != nil && l.honoured.Len() == 0:
		// There is nothing to deliver, until something else is wanted.
	case out.Now.Sub(l.opened) >= listenSettle && l.honoured != nil:
		s.failures, s.gap, s.retry = 0, true, out.Now.Add(listenMin)
	default:
		s.gap = s.gap || l.honoured != nil
		s.retry = out.Now.Add(min(listenMin<<min(s.failures, 10), listenMax))
		s.failures++
	}
}

// unopened answers who waited for a listen that was never acknowledged.
func (s *listening) unopened(l *listen, m *mcp.Message, out *Out) {
	if code := m.Code(); m.Kind == mcp.Failure && (code == mcp.CodeMethodNotFound || code == mcp.CodeInvalidParams) {
		s.refused = true
	}
	for _, request := range l.waiting {
		delete(s.wanted, request.Params().Text("uri"))
		code := mcp.CodeInternal
		if s.refused {
			code = mcp.CodeMethodNotFound
		}
		out.Tell(mcp.Client, request.Refuse(mcp.Errorf(code, "the server did not open a subscription")))
	}
}

// Due implements Stage.
func (s *listening) Due() time.Time {
	due := s.dirty
	for _, at := range []time.Time{s.retry, s.deadline()} {
		if !at.IsZero() && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	return due
}

func (s *listening) deadline() time.Time {
	if s.next == nil {
		return time.Time{}
	}
	return s.next.deadline
}

// Expire implements Stage.
func (s *listening) Expire(out *Out) {
	if at := s.deadline(); !at.IsZero() && !at.After(out.Now) {
		l := s.next
		s.close(l, out)
		s.Answered(l, &mcp.Message{Kind: mcp.Failure, Body: mcp.Errorf(mcp.CodeInternal, "no acknowledgement").Object()}, out)
	}
	if !s.retry.IsZero() && !s.retry.After(out.Now) {
		s.retry = time.Time{}
		s.refresh(nil, out)
	}
	if !s.dirty.IsZero() && !s.dirty.After(out.Now) {
		s.refresh(nil, out)
	}
}
