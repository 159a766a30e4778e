package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

// roundGuard stands between a client and a server of the stateless revision:
// it passes rounds on as they are, unless the server asks for what the client
// did not declare (basic/patterns/mrtr: MUST NOT).
type roundGuard struct {
	Passive
	client mcp.Peer
}

func newRoundGuard(f Facing, _ Deps) Stage {
	if f.Client.Version < v20260728 || f.Server.Version < v20260728 {
		return Passive{}
	}
	return &roundGuard{client: f.Client}
}

// ToServer implements Stage.
func (s *roundGuard) ToServer(m *mcp.Message, out *Out) {
	if m.Method != mcp.Initialized { // no handshake came before
		out.Forward(m)
	}
}

// ToClient implements Stage.
func (s *roundGuard) ToClient(m *mcp.Message, out *Out) {
	switch {
	case m.Kind == mcp.Request:
		return // a stateless server must not ask so
	case m.Kind == mcp.Failure && m.Code() == mcp.CodeBadVersion:
		if data := m.Body.Object("data"); data != nil { // which must be true of the bridge
			onlyServed(data.Array("supported"), out)
			data.Set("requested", mcp.Quote(string(s.client.Version)))
		}
	case m.Kind != mcp.Result:
	case m.Method == mcp.Discover:
		onlyServed(m.Body.Array("supportedVersions"), out)
	case m.Body.Text("resultType") == "input_required":
		if needed := s.undeclared(m.Body.Object("inputRequests")); needed != nil {
			e := mcp.Errorf(mcp.CodeNeedsCapability, "the server asks for input that the client did not declare")
			data := mcp.NewObject()
			data.SetObject("requiredCapabilities", needed)
			e.Data = data.Raw()
			out.Rewritten()
			out.Forward(m.Refuse(e))
			return
		}
	}
	out.Forward(m)
}

// onlyServed lists the versions for which the bridge itself serves requests.
func onlyServed(list *mcp.Array, out *Out) {
	for i := list.Len() - 1; i >= 0; i-- {
		if !list.At(i).Is(string(v20260728)) {
			list.Remove(i)
			out.Rewritten()
		}
	}
}

// undeclared returns the capabilities that questions need and the client did
// not declare; nil for none.
func (s *roundGuard) undeclared(questions *mcp.Object) *mcp.Object {
	var needed *mcp.Object
	questions.Each(func(_ string, v mcp.Raw) bool {
		q, _ := mcp.ParseObject(v)
		if capability := s.missing(q); capability != "" {
			if needed == nil {
				needed = mcp.NewObject()
			}
			needed.Set(capability, neededMember(q))
		}
		return true
	})
	return needed
}

func (s *roundGuard) missing(q *mcp.Object) string {
	c := s.client
	params := q.Object("params")
	switch q.Text("method") {
	case mcp.Elicit:
		modes := c.Capabilities.Object("elicitation")
		url := params.Text("mode") == "url"
		if modes == nil || url && !modes.Has("url") || !url && modes.Has("url") && !modes.Has("form") {
			return "elicitation"
		}
	case mcp.CreateMessage:
		if !c.Declares("sampling") || params != nil && givesTools(params) && !c.Declares("sampling", "tools") {
			return "sampling"
		}
	case mcp.RootsList:
		if !c.Declares("roots") {
			return "roots"
		}
	}
	return ""
}

// neededMember says which part of a capability a question needs.
func neededMember(q *mcp.Object) mcp.Raw {
	params := q.Object("params")
	switch {
	case q.Text("method") == mcp.Elicit && params.Text("mode") == "url":
		return mcp.Raw(`{"url":{}}`)
	case q.Text("method") == mcp.CreateMessage && params != nil && givesTools(params):
		return mcp.Raw(`{"tools":{}}`)
	}
	return mcp.Raw("{}")
}

func mendRootsQuestion(e *Edit) {
	if e.Msg.Kind != mcp.Result || !hasRounds(e.Msg.Method) || e.Msg.Body.Text("resultType") != "input_required" {
		return
	}
	questions := e.Msg.Body.Object("inputRequests")
	var names []string
	questions.Each(func(name string, _ mcp.Raw) bool { names = append(names, name); return true })
	for _, name := range names {
		if q := questions.Object(name); q != nil && q.Text("method") == mcp.RootsList && !q.Has("params") {
			q.Set("params", mcp.Raw("{}"))
			e.Changed()
		}
	}
}
