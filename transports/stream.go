package transports

import (
	"context"
	"sync"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Stream carries messages from a conversation to the one goroutine that
// writes them out. Push never waits, so it may be called under a lock; who
// reads from a peer calls Wait afterwards, outside every lock, and so stops
// reading while the other side is slow. What is queued is therefore bounded
// by the limits plus one message for each reader.
//
// All methods are safe for concurrent use.
type Stream struct {
	room Room

	mu      sync.Mutex
	queue   []*mcp.Message
	bytes   int
	ended   bool          // no more pushes; the writer drains the queue
	gone    bool          // the writer left; pushes are refused
	refusal *Reply        // an answer in place of messages, if nothing was taken yet
	started bool          // the writer took something
	apart   bool          // the peer is away, but may come back
	ready   chan struct{} // has a token when the writer should look again
	shrank  chan struct{} // closed and replaced when the queue shrinks or the writer leaves
}

// Room is how much may wait in a stream for the one who writes it out. Zero is
// no bound.
type Room struct {
	Messages, Bytes int
	// Waited hears the key of the limit (mcp.LimitQueuedMessages or
	// mcp.LimitQueuedBytes) for which a reader has to wait; nil is allowed.
	Waited func(limit string)
}

// NewStream returns a stream whose readers pause while more than that waits.
func (r Room) NewStream() *Stream {
	return &Stream{room: r, ready: make(chan struct{}, 1), shrank: make(chan struct{})}
}

// NewStream returns a stream whose readers pause above limit bytes.
func NewStream(limit int) *Stream { return Room{Bytes: limit}.NewStream() }

// Push queues a message and reports whether the writer is still there.
func (s *Stream) Push(m *mcp.Message) bool { return s.push(m, false) }

// Finish queues the last message and ends the stream in one step, so that the
// writer knows that nothing follows: one answer alone need not become an
// event stream. It reports what Push does.
func (s *Stream) Finish(m *mcp.Message) bool { return s.push(m, true) }

func (s *Stream) push(m *mcp.Message, last bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.gone {
		return false
	}
	s.queue = append(s.queue, m)
	s.bytes += m.Size()
	s.ended = last
	s.wake()
	return true
}

// Refuse ends the stream with a plain HTTP answer instead of messages. It
// reports false when the writer has already taken a message or said that it
// has begun, or when messages wait: then the caller must push an error.
func (s *Stream) Refuse(r Reply) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started || s.gone || s.ended || len(s.queue) > 0 {
		return false
	}
	s.refusal, s.ended = &r, true
	s.wake()
	return true
}

// End says that no more messages will come. What is queued is still written.
func (s *Stream) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.wake()
}

// Abandon is called by the writer when its peer left.
func (s *Stream) Abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone, s.queue, s.bytes = true, nil, 0
	s.widen()
	s.wake()
}

// Attend says whether the peer is there. A stream whose peer is away stays
// open: what is written is kept until it comes back, if it does.
func (s *Stream) Attend(there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apart = !there
}

// Attended reports whether a message pushed now would reach the peer now.
func (s *Stream) Attended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && !s.gone && !s.apart
}

// Open reports whether a message pushed now could be written.
func (s *Stream) Open() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && !s.gone
}

// Full reports whether the queue is above one of its limits.
func (s *Stream) Full() bool { return s.Over() != "" }

// Over returns the key of the limit that the queue is above, "" for none.
func (s *Stream) Over() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over()
}

// over is Over under the lock.
func (s *Stream) over() string {
	switch {
	case s.room.Bytes > 0 && s.bytes > s.room.Bytes:
		return mcp.LimitQueuedBytes
	case s.room.Messages > 0 && len(s.queue) > s.room.Messages:
		return mcp.LimitQueuedMessages
	}
	return ""
}

// Wait returns when the queue is within its limits, the writer left or ctx
// ended.
func (s *Stream) Wait(ctx context.Context) {
	for told := false; ; told = true {
		s.mu.Lock()
		shrank, limit, gone := s.shrank, s.over(), s.gone
		s.mu.Unlock()
		if limit == "" || gone {
			return
		}
		if !told && s.room.Waited != nil {
			s.room.Waited(limit)
		}
		select {
		case <-shrank:
		case <-ctx.Done():
			return
		}
	}
}

// Begin tells the stream that the writer is about to commit its headers, so
// that a refusal is no longer possible. It reports false when one has already
// come: Next returns it.
func (s *Stream) Begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusal != nil {
		return false
	}
	s.started = true
	return true
}

// Begun reports whether the peer has got something of the stream, or will: the
// writer has begun, or a message waits for it.
func (s *Stream) Begun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started || len(s.queue) > 0
}

// Delivery is what a writer takes from a stream.
type Delivery struct {
	Message *mcp.Message // a message to write, or nil
	Refusal *Reply       // an HTTP answer to give instead of everything
	Last    bool         // nothing follows
}

// Next takes the next delivery without waiting; ok is false when there is
// none yet. A delivery with neither message nor refusal says the end came.
func (s *Stream) Next() (d Delivery, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.refusal != nil:
		return Delivery{Refusal: s.refusal, Last: true}, true
	case len(s.queue) > 0:
		d.Message = s.queue[0]
		s.queue[0] = nil
		s.queue = s.queue[1:]
		s.bytes -= d.Message.Size()
		s.started = true
		s.widen()
		d.Last = s.ended && len(s.queue) == 0
		return d, true
	case s.ended || s.gone:
		return Delivery{Last: true}, true
	}
	return Delivery{}, false
}

// Ready has a token when Next may have something new.
func (s *Stream) Ready() <-chan struct{} { return s.ready }

func (s *Stream) wake() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

func (s *Stream) widen() {
	close(s.shrank)
	s.shrank = make(chan struct{})
}
