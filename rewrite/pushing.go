package rewrite

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// pushing serves subscriptions/listen over what a server with sessions pushes.
// It acknowledges only what it can keep: the stream is opened before the
// subscriptions are made, and those before they are acknowledged.
type pushing struct {
	Passive
	server  mcp.Peer
	listens map[mcp.CallKey]*pushed
	uris    map[string]int // listens by resource
}

// pushed is one listen of the client.
type pushed struct {
	request  *mcp.Message
	honoured map[string]bool // kinds of list
	uris     []string
	waiting  map[string]bool // subscriptions under way
	deadline time.Time
	acked    bool
}

type pushTag struct {
	listen *pushed
	uri    string // "" for the stream
}

func newPushing(f Facing, _ Deps) Stage {
	if f.Client.Version <= f.Server.Version {
		return Passive{}
	}
	return &pushing{server: f.Server, listens: map[mcp.CallKey]*pushed{}, uris: map[string]int{}}
}

func listKinds() []struct{ capability, member, method string } {
	return []struct{ capability, member, method string }{
		{"tools", "toolsListChanged", mcp.ToolsChanged},
		{"prompts", "promptsListChanged", mcp.PromptsChanged},
		{"resources", "resourcesListChanged", mcp.ResourcesChanged},
	}
}

// ToServer implements Stage.
func (s *pushing) ToServer(m *mcp.Message, out *Out) {
	l := s.listens[m.Call]
	switch {
	case m.Kind == mcp.Request && m.Method == mcp.Listen:
		l = &pushed{request: m, honoured: map[string]bool{}, waiting: map[string]bool{}, deadline: out.Now.Add(ackWait)}
		s.listens[m.Call] = l
		out.Push(true, pushTag{listen: l})
	case m.Method == mcp.Cancelled && l != nil:
		s.end(l, out)
	default:
		out.Forward(m)
	}
}

// end gives up what only this listen wanted.
func (s *pushing) end(l *pushed, out *Out) {
	delete(s.listens, l.request.Call)
	for _, uri := range l.uris {
		if s.uris[uri]--; s.uris[uri] <= 0 {
			delete(s.uris, uri)
			s.ask(mcp.ResourcesUnsubscribe, pushTag{uri: uri}, out)
		}
	}
}

func (s *pushing) ask(method string, t pushTag, out *Out) {
	params := mcp.NewObject()
	params.Set("uri", mcp.Quote(t.uri))
	out.Ask(mcp.Server, mcp.NewRequest(method, params), t)
}

// Answered implements Stage.
func (s *pushing) Answered(tag any, m *mcp.Message, out *Out) {
	t := tag.(pushTag)
	l := t.listen
	if l == nil {
		return
	}
	if s.listens[l.request.Call] != l || l.acked { // too late
		if t.uri != "" && m.Kind == mcp.Result && s.uris[t.uri] == 0 {
			s.ask(mcp.ResourcesUnsubscribe, pushTag{uri: t.uri}, out)
		}
		return
	}
	if t.uri == "" {
		if v, _ := m.Body.Get("open"); string(v) == "true" {
			s.prepare(l, out)
		}
	} else {
		delete(l.waiting, t.uri)
		if m.Kind == mcp.Result {
			s.grant(l, t.uri)
		}
	}
	if len(l.waiting) == 0 {
		s.acknowledge(l, out)
	}
}

// prepare makes the subscriptions that a listen asks for.
func (s *pushing) prepare(l *pushed, out *Out) {
	wanted := l.request.Body.Object("notifications")
	for _, k := range listKinds() {
		asked, _ := wanted.Get(k.member)
		offered, _ := s.server.Capabilities.Object(k.capability).Get("listChanged")
		l.honoured[k.member] = string(asked) == "true" && string(offered) == "true"
	}
	if v, _ := s.server.Capabilities.Object("resources").Get("subscribe"); string(v) != "true" {
		return
	}
	list := wanted.Array("resourceSubscriptions")
	for i := range min(list.Len(), maxTools) {
		uri, isText := list.At(i).Text()
		switch {
		case !isText || slices.Contains(l.uris, uri):
		case s.uris[uri] > 0:
			s.grant(l, uri)
		default:
			if !l.waiting[uri] {
				l.waiting[uri] = true
				s.ask(mcp.ResourcesSubscribe, pushTag{l, uri}, out)
			}
		}
	}
}

func (s *pushing) grant(l *pushed, uri string) {
	s.uris[uri]++
	l.uris = append(l.uris, uri)
}

// acknowledge tells what is honoured. A listen that can bring nothing is over
// at once, which says so.
func (s *pushing) acknowledge(l *pushed, out *Out) {
	l.acked, l.deadline = true, time.Time{}
	honoured := mcp.NewObject()
	for _, k := range listKinds() {
		if l.honoured[k.member] {
			honoured.Set(k.member, mcp.Raw("true"))
		}
	}
	if len(l.uris) > 0 {
		honoured.Set("resourceSubscriptions", mcp.Strings(l.uris))
	}
	out.Rewritten()
	ack := mcp.NewObject()
	ack.Set("notifications", honoured.Raw())
	s.tell(l, mcp.NewNotification(mcp.ListenAcknowledged, ack), out)
	if honoured.Len() == 0 {
		delete(s.listens, l.request.Call)
		out.Forward(l.request.Answer(mcp.MustObject(`{"_meta":{"` + mcp.MetaSubscriptionID + `":0}}`)))
	}
}

// tell marks a notice with the listen that it belongs to; the session writes
// the id that the client knows.
func (s *pushing) tell(l *pushed, m *mcp.Message, out *Out) {
	m.Call, m.Within = l.request.Call, l.request.Call
	m.Params().Set("_meta", mcp.Raw(`{"`+mcp.MetaSubscriptionID+`":0}`))
	out.Tell(mcp.Client, m)
}

// ToClient implements Stage: each listen gets its own copy of what it wants.
func (s *pushing) ToClient(m *mcp.Message, out *Out) {
	if m.Kind != mcp.Notification {
		out.Forward(m)
		return
	}
	for _, k := range listKinds() {
		if m.Method == k.method {
			s.each(func(l *pushed) bool { return l.honoured[k.member] }, m, out)
			return
		}
	}
	if m.Method == mcp.ResourceUpdated {
		uri := m.Body.Text("uri")
		s.each(func(l *pushed) bool {
			return slices.ContainsFunc(l.uris, func(held string) bool { return within(uri, held) })
		}, m, out)
		return
	}
	if m.Call == 0 && m.Within == 0 && m.Method != mcp.LogMessage && m.Method != mcp.ElicitationComplete {
		return // there is no stream on which it could go
	}
	out.Forward(m)
}

// within reports whether a resource is another, or a part of it.
func within(uri, held string) bool {
	rest, ok := strings.CutPrefix(uri, held)
	return ok && (rest == "" || strings.HasSuffix(held, "/") || rest[0] == '/' || rest[0] == '#' || rest[0] == '?')
}

func (s *pushing) each(wants func(*pushed) bool, m *mcp.Message, out *Out) {
	for _, key := range slices.Sorted(maps.Keys(s.listens)) {
		if l := s.listens[key]; l.acked && wants(l) {
			s.tell(l, mcp.NewNotification(m.Method, m.Body.Clone()), out)
		}
	}
}

// Due implements Stage.
func (s *pushing) Due() time.Time {
	var due time.Time
	for _, l := range s.listens {
		if !l.deadline.IsZero() && (due.IsZero() || l.deadline.Before(due)) {
			due = l.deadline
		}
	}
	return due
}

// Expire implements Stage: what was not granted in time is not honoured.
func (s *pushing) Expire(out *Out) {
	for _, key := range slices.Sorted(maps.Keys(s.listens)) {
		l := s.listens[key]
		if l.deadline.IsZero() || l.deadline.After(out.Now) {
			continue
		}
		clear(l.waiting)
		s.acknowledge(l, out)
	}
}
