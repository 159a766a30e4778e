package bridge

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/rewrite"
	"github.com/mcpbridge/mcpbridge/transports"
)

// Session is one conversation of a client: its calls, the questions it is
// asked, and the pipeline that translates for it. It is a monitor; its
// exported methods lock it, and what they return is done afterwards.
type Session struct {
	mu sync.Mutex

	client, server mcp.Peer
	answersOnly    bool // the server's revision has no requests of its own
	link           *Link
	pipe           *rewrite.Pipeline
	watch          Observer

	lastKey  mcp.CallKey
	calls    map[mcp.CallKey]*Call
	upstream map[mcp.CallKey]int64 // the link's name of what is under way there
	asked    map[mcp.CallKey]*question
	byID     map[string]mcp.CallKey // questions by the id the client knows
	lastID   int64
	listens  listens

	ready      bool // the client may be asked questions
	standalone *Turn
	recent     *Turn // the last turn that could carry more than answers
	outbox     outbox
	closed     bool

	maxCalls, maxStreams int  // 0 is no limit
	standsAlone          bool // the client has no session: each request may be refused by itself
	hasty                bool // nobody may wait until there is room in a stream

	// Of the entry in progress: its time, what is left to do after it, and the
	// stream to the client that it pushed to last.
	now     time.Time
	effects []Effect
	pushed  *transports.Stream
}

// NewSession returns a session between two peers over a link. ready says that
// the client can be asked questions from the start.
func NewSession(l *Link, o Observer, ready bool) *Session {
	return &Session{
		link: l, watch: o, ready: ready,
		calls: map[mcp.CallKey]*Call{}, upstream: map[mcp.CallKey]int64{},
		asked: map[mcp.CallKey]*question{}, byID: map[string]mcp.CallKey{}, listens: listens{},
	}
}

// Build makes the pipeline for the two peers as they are now known, in place
// of the one before. Calls under way must have ended on the old one.
func (s *Session) Build(l rewrite.Ladder, f rewrite.Facing, d rewrite.Deps) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client, s.server = f.Client, f.Server
	s.answersOnly = l.Traits(f.Server.Version).Opening == mcp.Discover
	s.standsAlone = l.Traits(f.Client.Version).Opening != mcp.Initialize
	s.pipe = l.Pipeline(f, d, s.newKey)
}

// Peers returns the two peers.
func (s *Session) Peers() (client, server mcp.Peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client, s.server
}

// newKey mints a call key. It is called under the lock.
func (s *Session) newKey() mcp.CallKey {
	s.lastKey++
	return s.lastKey
}

// enter locks the session for one step. A zero time is that of the step before.
func (s *Session) enter(now time.Time) {
	s.mu.Lock()
	s.effects, s.pushed = nil, nil
	if !now.IsZero() {
		s.now = now
	}
}

// leave unlocks the session and returns what is left to do.
func (s *Session) leave() []Effect {
	e := s.effects
	s.effects = nil
	s.mu.Unlock()
	return e
}

func (s *Session) effect(e Effect) { s.effects = append(s.effects, e) }

// Busy reports whether calls are under way or the client listens.
func (s *Session) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls) > 0 || s.standalone.carries()
}

// InFlight reports whether a call with that id is under way.
func (s *Session) InFlight(id mcp.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.turn != nil && c.id.Equal(id) {
			return true
		}
	}
	return false
}

// Translate sends a message through the pipeline and returns what comes out
// at the other end, without naming or routing it. Handshakes use it.
func (s *Session) Translate(m *mcp.Message, to mcp.Side, now time.Time) *mcp.Message {
	s.enter(now)
	defer s.leave()
	o := s.pipe.Send(m, to, now)
	for _, name := range o.Rewritten {
		s.watch.Rewritten(name)
	}
	for _, name := range o.Quirks {
		s.watch.Quirked(name)
	}
	for _, a := range o.Actions {
		if a.Verb == rewrite.Deliver && a.To == to {
			return a.Msg
		}
	}
	return nil
}

// Hold keeps a turn open although no call is pending; Release undoes it.
func (s *Session) Hold(t *Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.pending++
}

// Release lets a turn end once its calls are answered.
func (s *Session) Release(t *Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.settle()
}

// Withdraw takes back every question that the server asked: the conversation
// in which it wanted the answers is gone.
func (s *Session) Withdraw(now time.Time) []Effect {
	s.enter(now)
	for _, key := range slices.Sorted(maps.Keys(s.asked)) {
		if q := s.asked[key]; q != nil && !q.serverID.IsZero() {
			q.withdrawn = true
			m := mcp.NewNotification(mcp.Cancelled, mcp.MustObject(`{"reason":"the server lost the session"}`))
			m.Call, m.Within = key, q.within
			s.toClient(m)
		}
	}
	return s.leave()
}

// Due returns when Expire wants to be called; zero is never.
func (s *Session) Due() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.pipe == nil {
		return time.Time{}
	}
	return earlier(s.pipe.Due(), s.outbox.due())
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Expire lets time have its effect.
func (s *Session) Expire(now time.Time) []Effect {
	s.enter(now)
	if !s.closed && s.pipe != nil {
		s.apply(s.pipe.Expire(now))
		for _, q := range s.outbox.overdue(now) {
			s.unreachable(q)
		}
	}
	return s.leave()
}

// unreachable answers a question that found no way to the client in time.
func (s *Session) unreachable(key mcp.CallKey) {
	q := s.asked[key]
	if q == nil {
		return
	}
	m := &mcp.Message{Kind: mcp.Failure, Method: q.method, Call: key, Within: q.within}
	m.Body = mcp.Errorf(mcp.CodeInternal, "the client has no open stream on which it could be asked").Object()
	s.watch.Failed(mcp.Client, "unreachable")
	s.toServer(m)
}

// Close ends the session toward the client: every open stream ends, and what
// is still owed is answered with an error. The effects cancel upstream what is
// under way there.
func (s *Session) Close(why string) []Effect {
	s.enter(time.Time{})
	if !s.closed {
		for _, key := range slices.Sorted(maps.Keys(s.upstream)) {
			m := mcp.NewNotification(mcp.Cancelled, mcp.MustObject(`{"reason":"the client left"}`))
			m.Body.Set("requestId", mcp.IntID(s.upstream[key]).Raw())
			s.effect(Effect{Verb: Send, Msg: m})
		}
		for _, c := range s.inOrder() {
			s.fail(c.key, mcp.Errorf(mcp.CodeInternal, "%s", why))
		}
		s.closed = true
		if s.standalone != nil {
			s.standalone.Stream.End()
		}
		for _, n := range s.upstream {
			s.link.close(n)
			s.link.release([]int64{n})
		}
		for _, c := range s.calls { // parked, or kept by a stage
			s.link.release(c.names)
			if c.turn == nil && !c.parked.IsZero() {
				s.watch.Unparked(ParkLost, s.now.Sub(c.parked))
			}
		}
		for l := range s.listens {
			s.listenOver(l.side, l.call)
		}
	}
	return s.leave()
}
