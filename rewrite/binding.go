package rewrite

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// binding binds the request states of a stateless server to the client that
// got them, where the server cannot: it sees the same credential, the bridge's,
// whoever asks. A state then comes back only from the principal that it was
// given to, with the request that it was given for, and in time (basic/patterns/mrtr
// "Server Requirements"). The server gets back exactly what it gave.
type binding struct {
	Passive
	deps  Deps
	calls map[mcp.CallKey]string // digests of requests under way
}

// bindLifetime is how long a client may take for a round. It is longer than
// what the bridge itself would hold, since it holds nothing here.
const bindLifetime = time.Hour

func newBinding(f Facing, d Deps) Stage {
	stateless := f.Client.Version >= v20260728 && f.Server.Version >= v20260728
	if !stateless || !f.OneCredential || d.Wrap == nil {
		return Passive{}
	}
	return &binding{deps: d, calls: map[mcp.CallKey]string{}}
}

// ToServer implements Stage.
func (s *binding) ToServer(m *mcp.Message, out *Out) {
	switch {
	case m.Method == mcp.Cancelled:
		delete(s.calls, m.Call)
	case m.Kind == mcp.Request && hasRounds(m.Method) && m.Body != nil:
		digest := digestOf(m)
		if state, has := m.Body.Get("requestState"); has {
			inner, ok := s.unwrap(state, digest, out.Now)
			if !ok {
				out.Answer(m.Refuse(invalidState()))
				return
			}
			m.Body.Set("requestState", inner)
			out.Rewritten()
		}
		s.calls[m.Call] = digest
	}
	out.Forward(m)
}

// ToClient implements Stage.
func (s *binding) ToClient(m *mcp.Message, out *Out) {
	digest, known := s.calls[m.Call]
	if m.IsAnswer() && known {
		delete(s.calls, m.Call)
		if state, has := m.Body.Get("requestState"); has && m.Kind == mcp.Result && m.Body.Text("resultType") == "input_required" {
			expires := strconv.FormatInt(out.Now.Add(bindLifetime).UnixMilli(), 10)
			m.Body.Set("requestState", mcp.Quote(s.deps.Wrap(digest+" "+expires+" "+string(state))))
			out.Rewritten()
		}
	}
	out.Forward(m)
}

// unwrap returns the server's state, as it wrote it.
func (s *binding) unwrap(state mcp.Raw, digest string, now time.Time) (inner mcp.Raw, ok bool) {
	text, isText := state.Text()
	payload, opened := s.deps.Unwrap(text)
	fields := strings.SplitN(payload, " ", 3)
	if !isText || !opened || len(fields) != 3 || fields[0] != digest {
		return nil, false
	}
	expires, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil || now.UnixMilli() > expires {
		return nil, false
	}
	return mcp.Raw(fields[2]), true
}
