package streamable

import (
	"container/list"
	"sync"
	"time"
)

// shelfLimits bound what is kept for clients that may come back.
type shelfLimits struct {
	inFlight     int // bytes kept of a stream while its client follows
	tapeBytes    int // of one stream; its oldest events are dropped above
	sessionTapes int // streams of one session
	sessionBytes int // at least tapeBytes
	totalTapes   int
	totalBytes   int           // at least sessionBytes
	life         time.Duration // of a stream that nobody follows
}

func defaultShelfLimits() shelfLimits {
	return shelfLimits{
		inFlight: 1 << 20, tapeBytes: 8 << 20, sessionTapes: 64, sessionBytes: 16 << 20,
		totalTapes: 8192, totalBytes: 128 << 20, life: 5 * time.Minute,
	}
}

// shelf holds the tapes of all sessions within the limits. Where there is no
// room for a new tape or event, the tapes that were not used for longest go,
// first those of the same session.
type shelf struct {
	limits shelfLimits

	mu       sync.Mutex
	order    *list.List // of *tape, the longest unused first
	sessions map[string]*share
	bytes    int
}

// share is what one session has on the shelf.
type share struct {
	tapes map[string]*tape
	bytes int
}

func newShelf() *shelf {
	return &shelf{limits: defaultShelfLimits(), order: list.New(), sessions: map[string]*share{}}
}

// add puts a tape on the shelf.
func (s *shelf) add(t *tape) {
	s.mu.Lock()
	own := s.sessions[t.session]
	if own == nil {
		own = &share{tapes: map[string]*tape{}}
		s.sessions[t.session] = own
	}
	own.tapes[t.id] = t
	t.place = s.order.PushBack(t)
	out := s.makeRoom(t)
	s.mu.Unlock()
	dropAll(out)
}

// resize notes how much a tape holds now, and that it is in use. It returns
// the tapes that had to make room, which the caller drops outside of locks.
func (s *shelf) resize(t *tape, bytes int) (out []*tape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.place == nil {
		return nil
	}
	s.count(t, bytes-t.counted)
	s.order.MoveToBack(t.place)
	return s.makeRoom(t)
}

// use notes that a tape is in use.
func (s *shelf) use(t *tape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.place != nil {
		s.order.MoveToBack(t.place)
	}
}

// find returns the tape of that id in that session, or nil.
func (s *shelf) find(session, id string) *tape {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.sessions[session]; own != nil {
		return own.tapes[id]
	}
	return nil
}

// remove takes a tape off the shelf.
func (s *shelf) remove(t *tape) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(t)
}

// forget drops all that a session has on the shelf.
func (s *shelf) forget(session string) {
	s.mu.Lock()
	var out []*tape
	if own := s.sessions[session]; own != nil {
		for _, t := range own.tapes {
			out = append(out, t)
		}
	}
	s.mu.Unlock()
	dropAll(out)
}

// makeRoom takes tapes off until all is within the limits, and returns them.
// It spares the one that is in use. It is called under the lock.
func (s *shelf) makeRoom(used *tape) (out []*tape) {
	own := s.sessions[used.session]
	for e := s.order.Front(); e != nil && s.over(own); {
		t, next := e.Value.(*tape), e.Next()
		if t != used && (t.session == used.session || !s.sessionOver(own)) {
			s.take(t)
			out = append(out, t)
		}
		e = next
	}
	return out
}

func (s *shelf) sessionOver(own *share) bool {
	return len(own.tapes) > s.limits.sessionTapes || own.bytes > s.limits.sessionBytes
}

func (s *shelf) over(own *share) bool {
	return s.sessionOver(own) || s.order.Len() > s.limits.totalTapes || s.bytes > s.limits.totalBytes
}

// take removes a tape; it is called under the lock.
func (s *shelf) take(t *tape) {
	if t.place == nil {
		return
	}
	s.count(t, -t.counted)
	s.order.Remove(t.place)
	t.place = nil
	own := s.sessions[t.session]
	delete(own.tapes, t.id)
	if len(own.tapes) == 0 {
		delete(s.sessions, t.session)
	}
}

func (s *shelf) count(t *tape, more int) {
	t.counted += more
	s.bytes += more
	s.sessions[t.session].bytes += more
}

func dropAll(tapes []*tape) {
	for _, t := range tapes {
		t.drop()
	}
}
