package rewrite

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// paramHeaders names arguments in headers, as the schemas of tools say. It
// learns the schemas from tools/list, and lists the tools itself when a tool
// is called that it does not know, or when the server finds the headers wrong.
type paramHeaders struct {
	Passive
	tools    map[string][]namedParam // nil entry: a tool without named parameters
	hidden   map[string]bool         // tools whose schemas are wrong
	complete bool                    // all pages have been seen
	calls    map[mcp.CallKey]*namedCall
	walk     *walk // a listing of the bridge's own
	stamped  bool  // requests say themselves who asks
}

// namedCall is one call of a tool.
type namedCall struct {
	request *mcp.Message
	sent    http.Header
	again   bool
}

// walk lists all pages of the tools, for the calls that wait for it.
type walk struct {
	pages int
	calls []mcp.CallKey
	fresh map[string][]namedParam
	bad   map[string]bool
}

const (
	maxPages = 50
	maxNames = 64 // parameters of one tool
)

func newParamHeaders(f Facing, _ Deps) Stage {
	if f.Client.Version >= f.Server.Version || !f.Routed {
		return Passive{}
	}
	return makeParamHeaders()
}

// newPipeHeaders serves clients of the server's own revision that have no
// headers to name anything in.
func newPipeHeaders(f Facing, _ Deps) Stage {
	if f.Client.Version < v20260728 || f.Server.Version < v20260728 || !f.Routed || !f.Headless {
		return Passive{}
	}
	s := makeParamHeaders()
	s.stamped = true
	return s
}

func makeParamHeaders() *paramHeaders {
	return &paramHeaders{tools: map[string][]namedParam{}, hidden: map[string]bool{}, calls: map[mcp.CallKey]*namedCall{}}
}

// ToServer implements Stage.
func (s *paramHeaders) ToServer(m *mcp.Message, out *Out) {
	switch {
	case m.Method == mcp.Cancelled:
		if _, waits := s.calls[m.Call]; waits && s.waiting(m.Call) {
			delete(s.calls, m.Call)
			return // it has not been sent
		}
		delete(s.calls, m.Call)
	case m.Kind == mcp.Request && m.Method == mcp.ToolsCall:
		s.call(m, out)
		return
	}
	out.Forward(m)
}

func (s *paramHeaders) waiting(key mcp.CallKey) bool {
	return s.walk != nil && slices.Contains(s.walk.calls, key)
}

func (s *paramHeaders) call(m *mcp.Message, out *Out) {
	name := m.Params().Text("name")
	if s.hidden[name] {
		out.Answer(m.Refuse(mcp.Errorf(mcp.CodeInvalidParams, "Unknown tool: %s", clip(name, 128))))
		return
	}
	c := &namedCall{request: copyOf(m)}
	s.calls[m.Call] = c
	if _, known := s.tools[name]; known || s.complete {
		s.send(c, out)
		return
	}
	s.list(m.Call, "unknown_tool", out)
}

// send names the arguments and lets the call go on.
func (s *paramHeaders) send(c *namedCall, out *Out) {
	m := copyOf(c.request)
	c.sent = headersOf(s.tools[m.Body.Text("name")], m.Body.Object("arguments"))
	m.Header = m.Header.Clone()
	if m.Header == nil {
		m.Header = http.Header{}
	}
	maps.Copy(m.Header, c.sent)
	out.Tell(mcp.Server, m)
}

// list asks for the tools, or joins the listing under way.
func (s *paramHeaders) list(key mcp.CallKey, why string, out *Out) {
	if s.walk != nil {
		s.walk.calls = append(s.walk.calls, key)
		return
	}
	s.walk = &walk{calls: []mcp.CallKey{key}, fresh: map[string][]namedParam{}, bad: map[string]bool{}}
	out.Relearned(why)
	s.page(nil, out)
}

func (s *paramHeaders) page(cursor mcp.Raw, out *Out) {
	params := mcp.NewObject()
	if cursor != nil {
		params.Set("cursor", cursor)
	}
	s.walk.pages++
	m := mcp.NewRequest(mcp.ToolsList, params)
	first := s.calls[s.walk.calls[0]]
	m.Header = first.header()
	if meta := first.meta(); meta != nil && s.stamped {
		meta.Delete("progressToken")
		params.SetObject("_meta", meta)
	}
	out.Ask(mcp.Server, m, s.walk)
}

// header: a listing goes out with the credentials of who needs it.
func (c *namedCall) header() http.Header {
	if c == nil {
		return nil
	}
	return c.request.Header
}

// meta is a copy of what the request says of its client.
func (c *namedCall) meta() *mcp.Object {
	if c == nil {
		return nil
	}
	return c.request.Meta().Clone()
}

// Answered implements Stage: a page of the bridge's own listing.
func (s *paramHeaders) Answered(tag any, m *mcp.Message, out *Out) {
	w := tag.(*walk)
	if s.walk != w {
		return
	}
	whole := false
	if m.Kind == mcp.Result {
		eachBlock(m.Body.Array("tools"), func(tool *mcp.Object) { learn(tool, w.fresh, w.bad) })
		next, more := m.Body.Get("nextCursor")
		if more && !next.IsNull() && w.pages < maxPages {
			s.page(next, out)
			return
		}
		whole = true
	}
	s.walk = nil
	if whole {
		s.tools, s.hidden, s.complete = w.fresh, w.bad, true
	}
	for _, key := range w.calls {
		if c := s.calls[key]; c != nil {
			s.resume(key, c, out)
		}
	}
}

// resume goes on with a call that waited for the schemas. One whose headers
// the server found wrong goes out again only if they are others now.
func (s *paramHeaders) resume(key mcp.CallKey, c *namedCall, out *Out) {
	name := c.request.Body.Text("name")
	switch {
	case s.hidden[name]:
		delete(s.calls, key)
		out.Tell(mcp.Client, c.request.Refuse(mcp.Errorf(mcp.CodeInvalidParams, "Unknown tool: %s", clip(name, 128))))
	case c.again && maps.EqualFunc(c.sent, headersOf(s.tools[name], c.request.Body.Object("arguments")), slices.Equal[[]string]):
		delete(s.calls, key)
		out.Tell(mcp.Client, c.request.Refuse(mcp.Errorf(mcp.CodeHeaderMismatch, "the headers do not match")))
	default:
		s.send(c, out)
	}
}

// ToClient implements Stage.
func (s *paramHeaders) ToClient(m *mcp.Message, out *Out) {
	c := s.calls[m.Call]
	switch {
	case m.Kind == mcp.Notification && m.Method == mcp.ToolsChanged:
		s.complete = false
		clear(s.tools)
	case m.Kind == mcp.Result && m.Method == mcp.ToolsList:
		s.listed(m, out)
	case c == nil || !m.IsAnswer():
	case m.Kind == mcp.Failure && m.Code() == mcp.CodeHeaderMismatch && !c.again:
		c.again = true // it was not executed
		s.list(m.Call, "mismatch", out)
		return
	default:
		delete(s.calls, m.Call)
	}
	out.Forward(m)
}

// listed learns from a page that the client asked for, and hides the tools
// that no client over HTTP may use.
func (s *paramHeaders) listed(m *mcp.Message, out *Out) {
	list := m.Body.Array("tools")
	for i := list.Len() - 1; i >= 0; i-- {
		tool := list.Object(i)
		if tool == nil || len(s.tools) > maxTools {
			continue
		}
		delete(s.hidden, tool.Text("name"))
		learn(tool, s.tools, s.hidden)
		if s.hidden[tool.Text("name")] {
			list.Remove(i)
			out.Rewritten()
			out.Lose("a tool whose schema names a header wrongly")
		}
	}
}

func learn(tool *mcp.Object, tools map[string][]namedParam, bad map[string]bool) {
	name := tool.Text("name")
	params, ok := namedParams(tool.Object("inputSchema"))
	if !ok {
		bad[name] = true
		delete(tools, name)
		return
	}
	tools[name] = params
}

// headersOf returns the headers for a call's arguments.
func headersOf(params []namedParam, arguments *mcp.Object) http.Header {
	h := http.Header{}
	for _, p := range params {
		if text, ok := p.value(arguments); ok {
			h[http.CanonicalHeaderKey(mcp.HeaderParam+p.header)] = []string{mcp.EncodeHeader(text)}
		}
	}
	return h
}

// value reads the argument that a header names, by the path of its schema.
func (p namedParam) value(arguments *mcp.Object) (text string, ok bool) {
	o := arguments
	for _, step := range p.path[:len(p.path)-1] {
		if o = o.Object(step); o == nil {
			return "", false
		}
	}
	v, has := o.Get(p.path[len(p.path)-1])
	switch {
	case !has || v.IsNull() || v.IsObject() || v.IsArray():
		return "", false
	case v.IsString():
		text, _ = v.Text()
		return text, true
	case string(v) == "true" || string(v) == "false":
		return string(v), true
	}
	return mcp.HeaderNumber(v)
}

// token reports whether a text can be part of a header's name (RFC 9110).
func token(text string) bool {
	return text != "" && strings.IndexFunc(text, func(c rune) bool {
		return c > 0x7e || c <= ' ' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	}) < 0
}
