package rewrite

import "github.com/mcpbridge/mcpbridge/mcp"

// undeclared answers server requests that the client cannot answer.
type undeclared struct {
	Passive
	f Facing
	// notes are the blocks to append to the result of a client's call.
	notes map[mcp.CallKey][]mcp.Raw
	// tools are the names of the tools that are called, for rules about them.
	tools map[mcp.CallKey]string
}

func newUndeclared(f Facing, _ Deps) Stage { return newUndeclaredStage(f) }

func newUndeclaredStage(f Facing) *undeclared {
	return &undeclared{f: f, notes: map[mcp.CallKey][]mcp.Raw{}, tools: map[mcp.CallKey]string{}}
}

// maxNotes bounds what one call's result can grow by.
const maxNotes = 8

// ToServer declares elicitation on the bridge's own behalf where the operator
// chose that, and forgets calls that are over.
func (s *undeclared) ToServer(m *mcp.Message, out *Out) {
	if m.Kind == mcp.Request && m.Method == mcp.Initialize && s.declares() {
		c := m.Params().Object("capabilities")
		if c == nil {
			c = mcp.NewObject()
			m.Body.SetObject("capabilities", c)
		}
		if !c.Has("elicitation") {
			c.Set("elicitation", mcp.Raw("{}"))
			out.Rewritten()
		}
	}
	if len(s.f.Options.FallbackRules) > 0 && m.Kind == mcp.Request && m.Method == mcp.ToolsCall {
		s.tools[m.Call] = toolOf(m)
	}
	if m.Method == mcp.Cancelled {
		delete(s.notes, m.Call)
		delete(s.tools, m.Call)
	}
	out.Forward(m)
}

// askedBy names the tool within whose call a question belongs: on a stream of
// its own it can only be the one that is called, if there is but one.
func (s *undeclared) askedBy(m *mcp.Message) string {
	if m.Within == 0 && len(s.tools) == 1 {
		for _, tool := range s.tools {
			return tool
		}
	}
	return s.tools[m.Within]
}

// toolOf names the tool that a request calls; "" for another request.
func toolOf(m *mcp.Message) string {
	if m.Method != mcp.ToolsCall || m.Body == nil {
		return ""
	}
	return m.Body.Text("name")
}

// declares: a server whose revision has no elicitation would not read it.
func (s *undeclared) declares() bool {
	return s.f.Options.Declares() && s.f.Server.Version >= v20250618
}

// ToClient implements Stage.
func (s *undeclared) ToClient(m *mcp.Message, out *Out) {
	if m.Kind == mcp.Request {
		if feature := s.missing(m); feature != "" {
			s.answer(m, feature, s.askedBy(m), out)
			return
		}
	}
	if m.IsAnswer() {
		delete(s.tools, m.Call)
	}
	if notes := s.notes[m.Call]; m.IsAnswer() && notes != nil {
		delete(s.notes, m.Call)
		if appendNotes(m, notes) {
			out.Rewritten()
		}
	}
	out.Forward(m)
}

// missing names the capability that the request needs and the client did not
// declare, or that its version does not have.
func (s *undeclared) missing(m *mcp.Message) string {
	c := s.f.Client
	switch m.Method {
	case mcp.Elicit:
		if !c.Declares("elicitation") {
			return "elicitation"
		}
		modes := c.Capabilities.Object("elicitation")
		url := m.Body != nil && m.Body.Text("mode") == "url"
		if url && !modes.Has("url") {
			return "elicitation.url"
		}
		if !url && modes.Has("url") && !modes.Has("form") {
			return "elicitation"
		}
	case mcp.CreateMessage:
		if !c.Declares("sampling") {
			return "sampling"
		}
		if needs := needsSamplingTools(m); needs != "" && !c.Declares("sampling", "tools") {
			return needs
		}
	case mcp.RootsList:
		if !c.Declares("roots") {
			return "roots"
		}
	}
	return s.f.Lacks(m)
}

// answer applies the fallback policy for what is asked within a call of that
// tool. Sampling and roots have no answer that would be honest but an error.
func (s *undeclared) answer(m *mcp.Message, feature, tool string, out *Out) {
	if m.Method != mcp.Elicit {
		code := mcp.CodeMethodNotFound
		if feature == "sampling.tools" {
			code = mcp.CodeInvalidParams
		}
		out.FellBack(feature, string(mcp.FallbackError))
		out.Answer(m.Refuse(mcp.Errorf(code, "the client did not declare the capability %s", feature)))
		return
	}
	action := s.f.Options.FallbackFor(tool).Action
	if action == mcp.FallbackExplain && feature != "elicitation.url" && m.Within != 0 && len(s.notes[m.Within]) < maxNotes {
		s.notes[m.Within] = append(s.notes[m.Within], explain(m))
	}
	out.FellBack(feature, string(action))
	if action == mcp.FallbackError || s.mustRefuse(feature) {
		out.Answer(m.Refuse(mcp.Errorf(s.refusalCode(feature), "the client did not declare the capability %s", feature)))
		return
	}
	out.Answer(m.Answer(mcp.MustObject(`{"action":"` + spokenAction(action) + `"}`)))
}

// spokenAction: what really happened when nobody was asked is a cancel.
func spokenAction(a mcp.FallbackAction) string {
	if a == mcp.FallbackDecline {
		return "decline"
	}
	return "cancel"
}

// mustRefuse: toward a 2025-11-25 server a mode that was not declared on that
// leg must be answered with an error (client/elicitation "Error Handling").
func (s *undeclared) mustRefuse(feature string) bool {
	if s.f.Server.Version != v20251125 { // a stateless server is told in a result
		return false
	}
	if feature == "elicitation.url" {
		return true
	}
	return !s.declares() && !s.declaredForms()
}

// declaredForms: the client's own declaration, as it went upstream.
func (s *undeclared) declaredForms() bool {
	modes := s.f.Client.Capabilities.Object("elicitation")
	return s.f.Client.Version >= v20250618 && modes != nil && (modes.Has("form") || !modes.Has("url"))
}

// refusalCode: only 2025-11-25 fixes a code, and only for modes do older
// servers know what an invalid parameter would be.
func (s *undeclared) refusalCode(feature string) int {
	if s.f.Server.Version >= v20251125 || feature != "elicitation" {
		return mcp.CodeInvalidParams
	}
	return mcp.CodeMethodNotFound
}
