package rewrite

import (
	"slices"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// stateless stands before a server without sessions: it keeps for the client
// what a session would have kept, and tells the server with every request.
type stateless struct {
	Passive
	f       Facing
	info    mcp.Raw // nil when the client gave none that could be passed on
	caps    mcp.Raw
	level   mcp.Raw                // nil before the client sets one
	reading map[mcp.CallKey]string // resources being read, by call
}

func newStateless(f Facing, _ Deps) Stage {
	if f.Client.Version >= f.Server.Version {
		return Passive{}
	}
	s := &stateless{f: f, caps: StampedCapabilities(f).Raw(), reading: map[mcp.CallKey]string{}}
	if name, version := f.Client.Name(); name != "" && version != "" {
		s.info = f.Client.Info.Clone().Raw()
	}
	return s
}

// StampedCapabilities translates what a client declared in its handshake into
// what a stateless server is told with every request.
func StampedCapabilities(f Facing) *mcp.Object {
	out := mcp.NewObject()
	c := f.Client.Capabilities
	if c.Object("roots") != nil {
		out.Set("roots", mcp.Raw("{}"))
	}
	if v := c.Object("sampling"); v != nil {
		out.Set("sampling", onlyMembers(v, f.Client.Version >= v20251125, "context", "tools"))
	}
	if v := c.Object("elicitation"); v != nil && f.Client.Version >= v20250618 {
		out.Set("elicitation", onlyMembers(v, f.Client.Version >= v20251125, "form", "url"))
	} else if f.Options.Declares() {
		out.Set("elicitation", mcp.Raw("{}"))
	}
	for _, name := range []string{"extensions", "experimental"} {
		if v := c.Object(name); v != nil {
			out.Set(name, objectsOf(v))
		}
	}
	return out
}

// onlyMembers returns those members that are objects, or an empty object for
// a client whose version has none.
func onlyMembers(o *mcp.Object, has bool, members ...string) mcp.Raw {
	out := mcp.NewObject()
	for _, name := range members {
		if v, ok := o.Get(name); ok && has && v.IsObject() {
			out.Set(name, v)
		}
	}
	return out.Raw()
}

// objectsOf keeps the members that are objects, but for tasks, which the
// bridge does not pass on.
func objectsOf(o *mcp.Object) mcp.Raw {
	out := mcp.NewObject()
	o.Each(func(name string, v mcp.Raw) bool {
		if v.IsObject() && name != tasksExtension {
			out.Set(name, v)
		}
		return true
	})
	return out.Raw()
}

const tasksExtension = mcp.MetaPrefix + "tasks"

// ToServer implements Stage.
func (s *stateless) ToServer(m *mcp.Message, out *Out) {
	switch {
	case m.Kind == mcp.Notification && m.Method == mcp.Cancelled:
		delete(s.reading, m.Call)
		out.Forward(m)
	case m.Kind != mcp.Request: // there is nobody to tell, and nothing was asked
	case m.Method == mcp.Ping:
		out.Answer(m.Answer(mcp.NewObject()))
	case m.Method == mcp.SetLevel:
		out.Answer(s.setLevel(m))
	case strings.HasPrefix(m.Method, "tasks/"):
		out.Answer(m.Refuse(mcp.Errorf(mcp.CodeMethodNotFound, "the server has no tasks of this revision")))
	default:
		if m.Method == mcp.ResourcesRead {
			s.reading[m.Call] = m.Params().Text("uri")
		}
		s.stamp(m)
		out.Forward(m)
	}
}

// logLevels lists the levels, the most verbose first (RFC 5424).
func logLevels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

func (s *stateless) setLevel(m *mcp.Message) *mcp.Message {
	level := m.Params().Text("level")
	switch {
	case !s.f.Server.Declares("logging"):
		return m.Refuse(mcp.Errorf(mcp.CodeMethodNotFound, "the server does not log"))
	case !slices.Contains(logLevels(), level):
		return m.Refuse(mcp.Errorf(mcp.CodeInvalidParams, "unknown log level %q", level))
	}
	s.level = mcp.Quote(level)
	return m.Answer(mcp.NewObject())
}

// stamp tells the server who asks. A client cannot forge it.
func (s *stateless) stamp(m *mcp.Message) {
	stripHop(m.Params())
	meta := m.Body.Object("_meta")
	if meta == nil {
		meta = mcp.NewObject()
		m.Body.SetObject("_meta", meta)
	}
	meta.Set(mcp.MetaVersion, mcp.Quote(string(s.f.Server.Version)))
	if s.info != nil {
		meta.Set(mcp.MetaClientInfo, s.info)
	}
	meta.Set(mcp.MetaCapabilities, s.caps)
	if s.level != nil {
		meta.Set(mcp.MetaLogLevel, s.level)
	}
}

// ToClient implements Stage.
func (s *stateless) ToClient(m *mcp.Message, out *Out) {
	switch {
	case m.Kind == mcp.Request:
		return // a stateless server must not ask, and must not be answered
	case m.Kind == mcp.Notification && m.Method == mcp.LogMessage && !s.wants(m.Body.Text("level")):
		return
	case m.IsAnswer():
		uri, reading := s.reading[m.Call]
		delete(s.reading, m.Call)
		if reading && m.Kind == mcp.Failure {
			s.notFound(m, uri, out)
		}
	}
	out.Forward(m)
}

func (s *stateless) wants(level string) bool {
	if s.level == nil {
		return true
	}
	wanted, _ := s.level.Text()
	return slices.Index(logLevels(), level) >= slices.Index(logLevels(), wanted)
}

// notFound gives the missing resource the code that handshake revisions have
// for it. A server says which one it means; without that it is another error,
// unless the operator knows the server better.
func (s *stateless) notFound(m *mcp.Message, uri string, out *Out) {
	if m.Code() != mcp.CodeInvalidParams || s.f.Options.NotFoundCode == mcp.NotFoundParams {
		return
	}
	v, named := m.Body.Object("data").Get("uri")
	if named && v.Is(uri) || s.f.Options.NotFoundCode == mcp.NotFoundResource {
		m.Body.Set("code", mcp.IntID(mcp.CodeResourceNotFound).Raw())
		out.Rewritten()
	}
}
