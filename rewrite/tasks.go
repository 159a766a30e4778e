package rewrite

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// refuseTasks: a peer without tasks has none to ask about.
func refuseTasks(e *Edit) {
	if strings.HasPrefix(e.Msg.Method, "tasks/") && e.Msg.Kind == mcp.Request {
		e.Refuse(mcp.Errorf(mcp.CodeMethodNotFound, "the other side's protocol version has no tasks"))
	}
}

func dropTaskStatus(e *Edit) {
	if e.Is(mcp.Notification, mcp.TasksStatus) {
		e.Drop()
	}
}

// stripTask: a receiver without tasks processes the request as usual; so says
// the specification of one that has none.
func stripTask(e *Edit) {
	switch {
	case e.Msg.Kind != mcp.Request || e.Msg.Body == nil:
	case e.Msg.Method == mcp.ToolsCall, e.Msg.Method == mcp.CreateMessage, e.Msg.Method == mcp.Elicit:
		e.remove(e.Msg.Body, "task")
	}
}

// driving runs tools that a server only runs as tasks, for clients that have
// no tasks: it asks for the task, waits for it, and hands its result over as
// that of the call. basic/utilities/tasks.
type driving struct {
	Passive
	server   mcp.Peer
	required map[string]bool // tools by name: must they run as a task
	runs     map[mcp.CallKey]*run
}

// run is one call in the care of the stage.
type run struct {
	call      mcp.CallKey
	request   *mcp.Message
	task      string
	asked     mcp.CallKey // the request about the task under way; zero: none
	next      time.Time   // when to ask after the task
	interval  time.Duration
	augmented bool
	cancelled bool
}

const (
	pollDefault = time.Second
	pollMin     = 100 * time.Millisecond
	pollMax     = time.Minute
)

func newDriving(f Facing, _ Deps) Stage {
	if !f.Server.Declares("tasks", "requests", "tools", "call") {
		return Passive{}
	}
	return &driving{server: f.Server, required: map[string]bool{}, runs: map[mcp.CallKey]*run{}}
}

// ToServer implements Stage.
func (s *driving) ToServer(m *mcp.Message, out *Out) {
	switch {
	case m.Kind == mcp.Request && m.Method == mcp.ToolsCall && m.Body != nil:
		r := &run{call: m.Call, request: copyOf(m)}
		s.runs[m.Call] = r
		if s.required[m.Body.Text("name")] {
			r.augment(m)
			out.Rewritten()
		}
	case m.Method == mcp.Cancelled && s.runs[m.Call] != nil:
		if r := s.runs[m.Call]; r.augmented {
			s.cancel(r, out)
			return
		}
		delete(s.runs, m.Call)
	}
	out.Forward(m)
}

func copyOf(m *mcp.Message) *mcp.Message {
	c := *m
	c.Body = m.Body.Clone()
	return &c
}

func (r *run) augment(m *mcp.Message) {
	m.Body.Set("task", mcp.Raw("{}"))
	r.augmented = true
}

// cancel: a call that runs as a task is cancelled as one.
func (s *driving) cancel(r *run, out *Out) {
	r.cancelled = true
	if r.task == "" {
		return // until its name is known
	}
	delete(s.runs, r.call)
	out.Forget(r.asked)
	if s.server.Declares("tasks", "cancel") {
		s.ask(mcp.TasksCancel, r, out)
	}
}

func (s *driving) ask(method string, r *run, out *Out) {
	params := mcp.NewObject()
	params.Set("taskId", mcp.Quote(r.task))
	m := mcp.NewRequest(method, params)
	m.Within = r.call
	r.asked, r.next = out.Ask(mcp.Server, m, r), time.Time{}
}

// ToClient implements Stage.
func (s *driving) ToClient(m *mcp.Message, out *Out) {
	r := s.runs[m.Call]
	switch {
	case m.Kind == mcp.Result && m.Method == mcp.ToolsList:
		eachListed(m, s.learn)
	case m.Kind == mcp.Request:
		s.adopt(m)
	case r == nil || !m.IsAnswer():
	case m.Kind == mcp.Result && m.Body.Object("task") != nil:
		s.started(r, m.Body.Object("task"), out)
		return
	case m.Kind == mcp.Failure && !r.augmented && asksForTask(m) && !s.known(r):
		r.augment(r.request)
		out.Rewritten()
		out.Tell(mcp.Server, r.request)
		return
	default:
		delete(s.runs, m.Call)
	}
	out.Forward(m)
}

// asksForTask: a tool that must run as a task answers so to a plain call; it
// was not run.
func asksForTask(m *mcp.Message) bool {
	return m.Code() == mcp.CodeMethodNotFound || m.Code() == mcp.CodeInvalidRequest
}

func (s *driving) known(r *run) bool {
	_, known := s.required[r.request.Body.Text("name")]
	return known
}

func (s *driving) learn(tool *mcp.Object) {
	if len(s.required) < maxTools {
		execution := tool.Object("execution")
		s.required[tool.Text("name")] = execution != nil && execution.Text("taskSupport") == "required"
	}
}

// adopt gives a question about a task to the call that the task serves.
func (s *driving) adopt(m *mcp.Message) {
	related := m.Meta()
	if related == nil || related.Object(mcp.MetaRelatedTask) == nil {
		return
	}
	task := related.Object(mcp.MetaRelatedTask).Text("taskId")
	for _, r := range s.runs {
		if r.task == task {
			m.Within = r.call
			unrelate(m.Body)
			return
		}
	}
}

// unrelate removes the mention of a task that the client does not know of.
func unrelate(body *mcp.Object) {
	meta := body.Object("_meta")
	if meta != nil && meta.Delete(mcp.MetaRelatedTask) && meta.Len() == 0 {
		body.Delete("_meta")
	}
}

func (s *driving) started(r *run, task *mcp.Object, out *Out) {
	r.task = task.Text("taskId")
	r.interval = pollDefault
	if v, ok := task.Get("pollInterval"); ok {
		if ms, err := time.ParseDuration(string(v) + "ms"); err == nil {
			r.interval = min(max(ms, pollMin), pollMax)
		}
	}
	if r.cancelled {
		s.cancel(r, out)
		return
	}
	s.follow(r, task.Text("status"), out)
}

// follow waits while a task works, and fetches its result once that is there,
// or once the task has a question, which comes along with the result.
func (s *driving) follow(r *run, status string, out *Out) {
	if status == "working" || status == "submitted" {
		r.next, r.asked = out.Now.Add(r.interval), 0
		return
	}
	s.ask(mcp.TasksResult, r, out)
}

// Answered implements Stage.
func (s *driving) Answered(tag any, m *mcp.Message, out *Out) {
	r := tag.(*run)
	if s.runs[r.call] != r {
		return
	}
	if m.Method == mcp.TasksGet && m.Kind == mcp.Result {
		s.follow(r, m.Body.Text("status"), out)
		return
	}
	delete(s.runs, r.call)
	unrelate(m.Body)
	m.Method, m.Call = mcp.ToolsCall, r.call
	out.Tell(mcp.Client, m)
}

// Due implements Stage.
func (s *driving) Due() time.Time {
	var due time.Time
	for _, r := range s.runs {
		if !r.next.IsZero() && (due.IsZero() || r.next.Before(due)) {
			due = r.next
		}
	}
	return due
}

// Expire implements Stage.
func (s *driving) Expire(out *Out) {
	for _, key := range slices.Sorted(maps.Keys(s.runs)) {
		if r := s.runs[key]; !r.next.IsZero() && !r.next.After(out.Now) {
			s.ask(mcp.TasksGet, r, out)
		}
	}
}
