package rewrite

import (
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// early are questions that a server asked right after the handshake, before
// it had any call: many ask for roots then. If the request for whose sake the
// session was opened may ask, they are its first round.
type early struct {
	over      bool // a request came: what is asked outside of calls now is about none
	questions []*mcp.Message
	until     time.Time
}

// earlyWait is how long they wait for that request; the bridge has it in hand.
const earlyWait = 2 * time.Second

// keep takes such a question.
func (s *parking) keep(m *mcp.Message, now time.Time) bool {
	if s.early.over || len(s.calls) > 0 || m.Method != mcp.RootsList || len(s.early.questions) >= maxQuestions {
		return false
	}
	s.early.questions = append(s.early.questions, m)
	s.early.until = now.Add(earlyWait)
	return true
}

// begin makes them the first round of a call, and reports whether the call
// must wait for the answers.
func (s *parking) begin(c *parkedCall, out *Out) bool {
	questions := s.early.questions
	s.early = early{over: true}
	if len(questions) == 0 {
		return false
	}
	for _, q := range questions {
		c.enqueue(q, out.Now)
	}
	c.unsent = true
	s.show(c, out)
	return true
}

// refuseEarly: the first request is none that may ask.
func (s *parking) refuseEarly(m *mcp.Message, out *Out) {
	if m.Kind == mcp.Request && m.Method != mcp.Initialize && !s.early.over {
		s.refuseAll(out)
	}
}

func (s *parking) refuseAll(out *Out) {
	questions := s.early.questions
	s.early = early{over: true}
	for _, q := range questions {
		out.Tell(mcp.Server, q.Refuse(mcp.Errorf(mcp.CodeInvalidParams, "no client request is in progress that this could belong to")))
	}
}
