package rewrite

import (
	"maps"
	"slices"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// failedElicitation watches the questions a client is asked.
type failedElicitation struct {
	Passive
	timeout time.Duration
	waiting map[mcp.CallKey]waiting
	broken  bool // the client declared elicitation and does not serve it
}

type waiting struct {
	request  *mcp.Message
	form     bool // an accept carries content (client/elicitation "Response Actions")
	deadline time.Time
}

func newFailedElicitation(f Facing, _ Deps) Stage {
	return &failedElicitation{timeout: f.Options.ElicitationTimeout, waiting: map[mcp.CallKey]waiting{}}
}

// ToClient implements Stage.
func (s *failedElicitation) ToClient(m *mcp.Message, out *Out) {
	switch {
	case m.Method == mcp.Elicit && m.Kind == mcp.Request:
		if s.broken {
			s.cancel(m, out)
			return
		}
		w := waiting{request: m, form: m.Body == nil || m.Body.Text("mode") != "url"}
		if s.timeout > 0 {
			w.deadline = out.Now.Add(s.timeout)
		}
		s.waiting[m.Call] = w
	case m.Method == mcp.Cancelled:
		delete(s.waiting, m.Call)
	}
	out.Forward(m)
}

// ToServer implements Stage.
func (s *failedElicitation) ToServer(m *mcp.Message, out *Out) {
	w, ours := s.waiting[m.Call]
	if !ours || !m.IsAnswer() {
		out.Forward(m)
		return
	}
	delete(s.waiting, m.Call)
	if m.Kind != mcp.Failure || m.Code() != mcp.CodeMethodNotFound {
		if m.Kind == mcp.Result && w.form && m.Body.Text("action") == "accept" && !m.Body.Has("content") {
			m.Body.Set("content", mcp.Raw("{}"))
			out.Rewritten()
		}
		out.Forward(m)
		return
	}
	s.broken = true
	out.Rewritten()
	out.FellBack("elicitation", string(mcp.FallbackCancel))
	out.Forward(w.request.Answer(cancelled()))
}

func (s *failedElicitation) cancel(m *mcp.Message, out *Out) {
	out.Rewritten()
	out.FellBack("elicitation", string(mcp.FallbackCancel))
	out.Tell(mcp.Server, m.Answer(cancelled()))
}

func cancelled() *mcp.Object { return mcp.MustObject(`{"action":"cancel"}`) }

// Due implements Stage.
func (s *failedElicitation) Due() time.Time {
	var due time.Time
	for _, w := range s.waiting {
		if !w.deadline.IsZero() && (due.IsZero() || w.deadline.Before(due)) {
			due = w.deadline
		}
	}
	return due
}

// Expire implements Stage.
func (s *failedElicitation) Expire(out *Out) {
	for _, key := range slices.Sorted(maps.Keys(s.waiting)) {
		w := s.waiting[key]
		if w.deadline.IsZero() || w.deadline.After(out.Now) {
			continue
		}
		delete(s.waiting, key)
		s.broken = true
		note := mcp.NewNotification(mcp.Cancelled, mcp.MustObject(`{"reason":"no answer in time"}`))
		note.Call, note.Within = key, w.request.Within
		out.Tell(mcp.Client, note)
		out.Limited(mcp.LimitElicitation)
		s.cancel(w.request, out)
	}
}

// normalizeAnswer: an accept carries content for a form, and only an accept
// does; servers validate the content of others too.
func normalizeAnswer(e *Edit) {
	if !e.Is(mcp.Result, mcp.Elicit) || e.To != mcp.Server {
		return
	}
	body := e.Msg.Body
	switch body.Text("action") {
	case "accept":
		if v, ok := body.Get("content"); ok && v.IsNull() {
			e.remove(body, "content")
		}
		return
	case "decline", "cancel":
	case "reject":
		body.Set("action", mcp.Raw(`"decline"`))
		e.Changed()
	default:
		body.Set("action", mcp.Raw(`"cancel"`))
		e.Changed()
	}
	e.remove(body, "content")
}
