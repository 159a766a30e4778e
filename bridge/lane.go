package bridge

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// lane lets the calls that may ask something through one at a time, where many
// clients share a server that may ask: what it asks belongs to the one call
// that is under way. A call that was given up without an answer leaves a doubt
// behind: the server may go on with it, and ask. Until the server answers it
// after all, or limit has passed, only the client that made it is asked.
type lane struct {
	limit time.Duration // for a call to wait, and for a doubt to last

	mu     sync.Mutex
	holder *ticket
	queue  []*ticket
	doubts map[int64]doubt    // by the link's name of the request
	unsure time.Time          // until when nobody is asked: too many doubts
	asked  map[string]asked   // open questions, by the server's id
	pages  map[string]*member // who was sent to a page, by its elicitationId
}

// ticket is the place of one request in the lane.
type ticket struct {
	lane *lane
	who  *member
	name int64
	turn chan struct{} // closed when it holds the lane, or will never

	// Guarded by the lane.
	refused error
	hear    func(*mcp.Message) // takes questions; nil before the server may have the request
}

type doubt struct {
	who   *member
	until time.Time
}

type asked struct {
	who     *member
	request *mcp.Message // its id and method
}

const (
	maxQueued = 1000
	maxDoubts = 10000
	maxPages  = 1000
)

// Why a request did not get its turn.
var (
	errLaneFull  = mcp.Errorf(mcp.CodeInternal, "too many calls wait for the shared server; try again later")
	errLaneSlow  = mcp.Errorf(mcp.CodeInternal, "the shared server was busy with other calls for too long; try again later")
	errWithdrawn = errors.New("the request was withdrawn before it was sent")
)

func newLane(limit time.Duration) *lane {
	return &lane{limit: limit, doubts: map[int64]doubt{}, asked: map[string]asked{}, pages: map[string]*member{}}
}

// inLane reports requests within which a server may ask something
// (basic/patterns/mrtr names the three).
func inLane(m *mcp.Message) bool {
	return m.Kind == mcp.Request && (m.Method == mcp.ToolsCall || m.Method == mcp.PromptsGet || m.Method == mcp.ResourcesRead)
}

// join queues a request. It does not wait.
func (l *lane) join(who *member, m *mcp.Message) *ticket {
	t := &ticket{lane: l, who: who, turn: make(chan struct{})}
	t.name, _ = name(m.ID)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) >= maxQueued {
		t.refuse(errLaneFull)
		return t
	}
	l.queue = append(l.queue, t)
	l.next()
	return t
}

func (t *ticket) refuse(err error) {
	t.refused = err
	close(t.turn)
}

// next lets the first of the queue in, if the lane is free.
func (l *lane) next() {
	if l.holder == nil && len(l.queue) > 0 {
		l.holder, l.queue = l.queue[0], l.queue[1:]
		close(l.holder.turn)
	}
}

// wait returns when it is the request's turn. On an error it is out.
func (t *ticket) wait(ctx context.Context) error {
	timer := time.NewTimer(t.lane.limit)
	defer timer.Stop()
	select {
	case <-t.turn:
		t.lane.mu.Lock()
		defer t.lane.mu.Unlock()
		return t.refused
	case <-ctx.Done():
		t.leave(false)
		return context.Cause(ctx)
	case <-timer.C:
		t.leave(false)
		return errLaneSlow
	}
}

// begin says that the server may have the request from now on, and may ask.
func (t *ticket) begin(hear func(*mcp.Message)) {
	t.lane.mu.Lock()
	defer t.lane.mu.Unlock()
	t.hear = hear
}

// leave frees the lane, or the place in the queue. Over says that the server
// is through with the request. Only the first time counts.
func (t *ticket) leave(over bool) {
	l := t.lane
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.holder != t {
		l.remove(t)
		return
	}
	l.holder = nil
	if !over && t.hear != nil {
		l.suspect(t)
	}
	l.next()
}

func (l *lane) remove(t *ticket) bool {
	i := slices.Index(l.queue, t)
	if i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	}
	return i >= 0
}

func (l *lane) suspect(t *ticket) {
	until := time.Now().Add(l.limit)
	if l.expire(); len(l.doubts) >= maxDoubts {
		l.unsure = until
		return
	}
	l.doubts[t.name] = doubt{t.who, until}
}

func (l *lane) expire() {
	now := time.Now()
	for n, d := range l.doubts {
		if now.After(d.until) {
			delete(l.doubts, n)
		}
	}
}

// withdraw takes a request out of the queue that the server has not seen; the
// cancellation names it. False when it is too late for that.
func (l *lane) withdraw(cancellation *mcp.Message) bool {
	r, _ := cancellation.Body.Get("requestId")
	id, _ := mcp.ParseID(r)
	n, ok := name(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.queue {
		if ok && t.name == n {
			l.remove(t)
			t.refuse(errWithdrawn)
			return true
		}
	}
	return false
}

// settled notes that the server has answered a request that nobody waited for
// any more.
func (l *lane) settled(answer *mcp.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n, ok := name(answer.ID); ok {
		delete(l.doubts, n)
	}
}

// reset forgets the server's side: another process takes its place.
func (l *lane) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.doubts)
	clear(l.asked)
	clear(l.pages)
	l.unsure, l.holder = time.Time{}, nil
	l.next()
}
