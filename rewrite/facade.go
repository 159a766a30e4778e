package rewrite

import (
	"slices"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// facade makes a server with sessions look stateless to its client: it
// answers discovery from the handshake, serves only what the server declared,
// and gives results and errors the form of the stateless revision.
type facade struct {
	Passive
	server mcp.Peer
	info   mcp.Raw
	level  string                    // as the server was last told
	calls  map[mcp.CallKey]*facadeOf // calls under way
}

// facadeOf is what the facade knows of one call.
type facadeOf struct {
	level string // of the log records that the request asked for
	uri   string // that a read is about
	held  *mcp.Message
}

func newFacade(f Facing, _ Deps) Stage {
	if f.Client.Version <= f.Server.Version {
		return Passive{}
	}
	return &facade{server: f.Server, info: serverInfo(f.Server), calls: map[mcp.CallKey]*facadeOf{}}
}

// serverInfo is how a server calls itself.
func serverInfo(server mcp.Peer) mcp.Raw {
	if name, _ := server.Name(); name != "" {
		return server.Info.Raw()
	}
	return mcp.Raw(`{"name":"upstream","version":"0"}`)
}

// signature is the _meta of an answer of that server.
func signature(info mcp.Raw) mcp.Raw {
	return mcp.Raw(`{"` + mcp.MetaServerInfo + `":` + string(info) + `}`)
}

// ToServer implements Stage.
func (s *facade) ToServer(m *mcp.Message, out *Out) {
	switch {
	case m.Method == mcp.Cancelled:
		delete(s.calls, m.Call)
		out.Forward(m)
	case m.Kind != mcp.Request || m.Method == mcp.Initialize:
		out.Forward(m)
	case m.Method == mcp.Discover:
		out.Rewritten()
		out.Answer(s.discovered(m))
	case !Offers(s.server, m.Method):
		out.Answer(m.Refuse(mcp.Errorf(mcp.CodeMethodNotFound, "Method not found: the server does not offer %s", clip(m.Method, 128))))
	default:
		s.request(m, out)
	}
}

// discovered answers for the server.
func (s *facade) discovered(m *mcp.Message) *mcp.Message {
	body := mcp.MustObject(`{"resultType":"complete","supportedVersions":["` + string(v20260728) + `"]}`)
	c := s.server.Capabilities.Clone()
	c.Delete("tasks")
	if extensions := c.Object("extensions"); extensions != nil && extensions.Delete(tasksExtension) && extensions.Len() == 0 {
		c.Delete("extensions")
	}
	if s.server.Version < v20250326 && (c.Has("prompts") || c.Has("resources")) {
		c.Set("completions", mcp.Raw("{}")) // which was not gated before
	}
	body.SetObject("capabilities", c)
	if s.server.Instructions != "" {
		body.Set("instructions", mcp.Quote(s.server.Instructions))
	}
	body.Set("ttlMs", mcp.Raw("0"))
	body.Set("cacheScope", mcp.Raw(`"private"`))
	body.Set("_meta", signature(s.info))
	return m.Answer(body)
}

// Offers reports whether a server with sessions declared what a method of the
// stateless revision needs (server/discover: an undeclared capability is a
// missing method).
func Offers(server mcp.Peer, method string) bool {
	c := server.Capabilities
	switch method {
	case mcp.ToolsList, mcp.ToolsCall:
		return c.Has("tools")
	case mcp.PromptsList, mcp.PromptsGet:
		return c.Has("prompts")
	case mcp.ResourcesList, mcp.TemplatesList, mcp.ResourcesRead:
		return c.Has("resources")
	case mcp.Complete:
		return c.Has("completions") || server.Version < v20250326 && (c.Has("prompts") || c.Has("resources"))
	case mcp.Listen, mcp.ResourcesSubscribe, mcp.ResourcesUnsubscribe, mcp.SetLevel:
		return true // stages' own
	}
	return c.Has("experimental") || c.Has("extensions")
}

// request takes off what only the stateless revision has, and has the server
// log what the request wants to hear.
func (s *facade) request(m *mcp.Message, out *Out) {
	c := &facadeOf{level: m.Meta().Text(mcp.MetaLogLevel)}
	if m.Method == mcp.ResourcesRead {
		c.uri = m.Body.Text("uri")
	}
	s.calls[m.Call] = c
	if hasRounds(m.Method) {
		m.Body.Delete("inputResponses")
		m.Body.Delete("requestState")
		m.Body.Delete("task")
	}
	stripHop(m.Body)
	if m.Body.Len() == 0 {
		m.Body = nil
	}
	if c.level == "" || !s.server.Declares("logging") || s.level != "" && slices.Index(logLevels(), c.level) >= slices.Index(logLevels(), s.level) {
		out.Forward(m)
		return
	}
	s.level, c.held = c.level, m
	out.Ask(mcp.Server, mcp.NewRequest(mcp.SetLevel, levelOf(c.level)), m.Call)
}

func levelOf(level string) *mcp.Object {
	o := mcp.NewObject()
	o.Set("level", mcp.Quote(level))
	return o
}

// Answered implements Stage: the level is set, or cannot be.
func (s *facade) Answered(tag any, _ *mcp.Message, out *Out) {
	if c := s.calls[tag.(mcp.CallKey)]; c != nil && c.held != nil {
		m := c.held
		c.held = nil
		out.Tell(mcp.Server, m)
	}
}

// ToClient implements Stage.
func (s *facade) ToClient(m *mcp.Message, out *Out) {
	c := s.calls[m.Call]
	switch {
	case m.Method == mcp.LogMessage:
		if !s.hears(m) {
			return
		}
	case !m.IsAnswer() || m.Method == mcp.Initialize:
	case m.Kind == mcp.Result:
		delete(s.calls, m.Call)
		s.complete(m)
		out.Rewritten()
	default:
		delete(s.calls, m.Call)
		uri := ""
		if c != nil {
			uri = c.uri
		}
		if modernError(m, uri) {
			out.Rewritten()
		}
	}
	out.Forward(m)
}

// hears finds out whether somebody asked for a log record. On a stream of its
// own it belongs to the only request that did.
func (s *facade) hears(m *mcp.Message) bool {
	c := s.calls[m.Within]
	if m.Within == 0 {
		for key, other := range s.calls {
			if other.level == "" {
				continue
			}
			if c != nil {
				return false
			}
			c, m.Within = other, key
		}
	}
	return c != nil && c.level != "" && slices.Index(logLevels(), m.Body.Text("level")) >= slices.Index(logLevels(), c.level)
}

// complete gives a result the members that the stateless revision requires.
func (s *facade) complete(m *mcp.Message) {
	body := m.Body
	stripHop(body)
	body.Set("resultType", mcp.Raw(`"complete"`))
	switch m.Method {
	case mcp.ToolsList, mcp.PromptsList, mcp.ResourcesList, mcp.TemplatesList, mcp.ResourcesRead:
		// Nothing of a session may be kept or shared.
		body.Set("ttlMs", mcp.Raw("0"))
		body.Set("cacheScope", mcp.Raw(`"private"`))
	}
	if m.Method == mcp.ToolsList {
		eachListed(m, func(tool *mcp.Object) {
			tool.Delete("execution")
			if input, ok := tool.Get("inputSchema"); ok && strings.Contains(string(input), annotation) {
				tool.Set("inputSchema", withoutAnnotations(input, true, 0))
			}
		})
	}
	meta := body.Object("_meta")
	if meta == nil {
		body.Set("_meta", signature(s.info))
		return
	}
	meta.Set(mcp.MetaServerInfo, s.info)
}

// withoutAnnotations removes header names from a schema whose server never
// meant any. A property of that name is no annotation.
func withoutAnnotations(raw mcp.Raw, isSchema bool, depth int) mcp.Raw {
	if depth > maxSchemaDepth {
		return raw
	}
	if list, ok := mcp.ParseArray(raw); ok {
		for i := range list.Len() {
			list.Set(i, withoutAnnotations(list.At(i), true, depth+1))
		}
		return list.Raw()
	}
	o, ok := mcp.ParseObject(raw)
	if !ok {
		return raw
	}
	if isSchema {
		o.Delete(annotation)
	}
	var names []string
	o.Each(func(name string, _ mcp.Raw) bool { names = append(names, name); return true })
	for _, name := range names {
		if isSchema && (name == "const" || name == "enum" || name == "default" || name == "examples") {
			continue
		}
		v, _ := o.Get(name)
		if v.IsObject() || v.IsArray() {
			named := isSchema && (name == "properties" || name == "patternProperties" || name == "$defs" || name == "definitions")
			o.Set(name, withoutAnnotations(v, !named, depth+1))
		}
	}
	return o.Raw()
}

// modernError writes an error of a handshake revision in the codes of the
// stateless one, which reserves some and has given up others.
func modernError(m *mcp.Message, uri string) (changed bool) {
	body := m.Body
	code := m.Code()
	switch {
	case code == mcp.CodeResourceNotFound && m.Method == mcp.ResourcesRead:
		body.Set("code", mcp.IntID(mcp.CodeInvalidParams).Raw())
		data := body.Object("data")
		if data == nil {
			data = mcp.NewObject()
			body.SetObject("data", data)
		}
		if !data.Has("uri") {
			data.Set("uri", mcp.Quote(uri))
		}
		return true
	case code == mcp.CodeNeedsCapability && body.Object("data").Has("requiredCapabilities"):
	case code == mcp.CodeNeedsURL && hasRounds(m.Method): // becomes a round
	case code <= -32700 || code > -32000 && code != 0 || code >= -32603 && code <= -32600:
	default:
		old, hasCode := body.Get("code")
		body.Set("code", mcp.IntID(mcp.CodeInternal).Raw())
		data := mcp.NewObject()
		if hasCode {
			data.Set("legacyCode", old)
		}
		if v, ok := body.Get("data"); ok {
			data.Set("legacyData", v)
		}
		body.SetObject("data", data)
		return true
	}
	return false
}
