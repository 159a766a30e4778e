package bridge

import (
	"strconv"
	"sync"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Link is one upstream conversation as far as names on it go: ids and
// progress tokens must be unique there, whoever asks. It is a monitor, entered
// from inside a Session's, never the other way round.
type Link struct {
	mu    sync.Mutex
	next  int64
	calls map[int64]linkCall // requests that await an answer
	// tokens are the requests whose progress may still come: for as long as the
	// client's call lasts, which may be longer than one request.
	tokens map[int64]linkCall
}

type linkCall struct {
	session *Session
	key     mcp.CallKey
	method  string
}

// NewLink returns a link on which nothing is under way.
func NewLink() *Link { return &Link{calls: map[int64]linkCall{}, tokens: map[int64]linkCall{}} }

// open names a request that is about to go to the server. The name serves as
// its id and as its progress token.
func (l *Link) open(s *Session, key mcp.CallKey, method string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	l.calls[l.next] = linkCall{session: s, key: key, method: method}
	l.tokens[l.next] = l.calls[l.next]
	return l.next
}

// release forgets the names that a call had.
func (l *Link) release(names []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range names {
		delete(l.tokens, n)
	}
}

// lookup finds the request that an answer with that id is for. An answer is
// respelled before where that is allowed.
func (l *Link) lookup(id mcp.ID) (linkCall, int64, bool) {
	if id.Raw().IsString() {
		return linkCall{}, 0, false
	}
	return l.find(l.calls, id)
}

func (l *Link) find(in map[int64]linkCall, id mcp.ID) (linkCall, int64, bool) {
	n, ok := name(id)
	if !ok {
		return linkCall{}, 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := in[n]
	return c, n, ok
}

// name reads one of our names. A server may spell a number its own way: 7.0
// for 7, or "7", as some old Python servers do.
func name(id mcp.ID) (int64, bool) {
	key := id.Key()
	if key == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(key[1:], 10, 64)
	return n, err == nil
}

// owes reports whether the request with that id still awaits its answer.
func (l *Link) owes(id mcp.ID) bool {
	_, _, ok := l.lookup(id)
	return ok
}

// close forgets a request and returns its method.
func (l *Link) close(n int64) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	method := l.calls[n].method
	delete(l.calls, n)
	return method
}

// Busy returns the number of requests under way to the server.
func (l *Link) Busy() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls)
}

// Only returns the session of the only request under way to the server, nil
// when there is none or more than one.
func (l *Link) Only() *Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.calls) != 1 {
		return nil
	}
	for _, c := range l.calls {
		return c.session
	}
	return nil
}

// Owner returns the session and call that a message from the server belongs
// to: of an answer the request it answers, of progress the call that owns the
// token, of a subscription's notice the call that subscribed. The session is
// nil when the message names none.
func (l *Link) Owner(m *mcp.Message) (*Session, mcp.CallKey) {
	id := m.ID
	if !m.IsAnswer() {
		var ok bool
		if id, ok = named(m); !ok {
			return nil, 0
		}
	}
	in := l.calls
	if !m.IsAnswer() {
		in = l.tokens
	}
	c, _, _ := l.find(in, id)
	return c.session, c.key
}

// named returns the id by which a notification refers to a request of ours.
func named(m *mcp.Message) (mcp.ID, bool) {
	if m.Kind != mcp.Notification || m.Body == nil {
		return mcp.ID{}, false
	}
	if m.Method == mcp.Progress {
		r, _ := m.Body.Get("progressToken")
		return mcp.ParseID(r)
	}
	r, ok := m.Meta().Get(mcp.MetaSubscriptionID)
	if !ok {
		return mcp.ID{}, false
	}
	return mcp.ParseID(r)
}
