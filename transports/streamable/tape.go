package streamable

import (
	"container/list"
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/transports"
	"github.com/mcpbridge/mcpbridge/transports/eventstream"
)

// eventCost is what an event takes besides its text.
const eventCost = 64

// tape is an event stream that its client may come back to: what was written
// there last, and where more comes from. One player at a time moves messages
// from the stream to the client and keeps a copy; while there is none, a
// collector keeps them, so that an answer finds its client later.
type tape struct {
	id         string // names the stream in event ids; nobody can guess it
	session    string
	standalone bool
	shelf      *shelf

	mu     sync.Mutex
	stream *transports.Stream
	events [][]byte // as they are written, the last ones
	first  int64    // the number of events[0]; numbers start at 1
	bytes  int
	over   bool    // the stream has ended, and all is in events
	owner  *player // nil when nobody follows
	gone   bool    // off the shelf: nothing is kept any more
	timer  *time.Timer

	// Of the shelf, under its lock.
	place   *list.Element
	counted int
}

// player follows a tape from a position.
type player struct {
	tape  *tape
	at    int64         // the number of the last event it has
	again chan struct{} // has a token when there may be more
	over  chan struct{} // closed when another takes over
	// collects says that it stands in for a client.
	collects bool
}

// record makes a tape of a stream and its first player.
func (s *shelf) record(session string, stream *transports.Stream, standalone bool) *player {
	t := &tape{id: rand.Text(), session: session, standalone: standalone, shelf: s, stream: stream, first: 1}
	p := t.newPlayer(0)
	t.owner = p
	s.add(t)
	return p
}

func (t *tape) newPlayer(at int64) *player {
	return &player{tape: t, at: at, again: make(chan struct{}, 1), over: make(chan struct{})}
}

// position is the id of an event; number 0 is the start of the stream.
func (t *tape) position(number int64) string { return t.id + "-" + strconv.FormatInt(number, 10) }

// readPosition reads the id of an event.
func readPosition(id string) (tape string, number int64, ok bool) {
	tape, digits, _ := strings.Cut(id, "-")
	number, err := strconv.ParseInt(digits, 10, 64)
	return tape, number, err == nil && number >= 0
}

// stream returns where what is not on the tape yet comes from.
func (p *player) stream() *transports.Stream {
	p.tape.mu.Lock()
	defer p.tape.mu.Unlock()
	return p.tape.stream
}

// next returns the next event for the player; over says that none will come.
func (p *player) next() (text []byte, over bool) {
	text, over, out := p.tape.advance(p)
	dropAll(out)
	return text, over
}

func (t *tape) advance(p *player) (text []byte, over bool, out []*tape) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.owner != p {
		return nil, true, nil
	}
	if i := max(p.at+1-t.first, 0); i < int64(len(t.events)) { // what came before is lost
		p.at = t.first + i
		return t.events[i], false, nil
	}
	if t.over {
		return nil, true, nil
	}
	d, ok := t.stream.Next()
	t.over = ok && d.Last
	if !ok || d.Message == nil {
		return nil, t.over, nil
	}
	text, out = t.keep(d.Message)
	p.at = t.first + int64(len(t.events)) - 1
	return text, false, out
}

// put keeps a message that the player took from the stream itself.
func (p *player) put(m *mcp.Message, last bool) []byte {
	t := p.tape
	t.mu.Lock()
	text, out := t.keep(m)
	t.over = t.over || last
	p.at = t.first + int64(len(t.events)) - 1
	t.mu.Unlock()
	dropAll(out)
	return text
}

// keep adds an event and lets the oldest go that there is no room for.
func (t *tape) keep(m *mcp.Message) (text []byte, out []*tape) {
	number := t.first + int64(len(t.events))
	text = t.event(number, m)
	kept := text
	limit := t.shelf.limits.tapeBytes
	if len(text)+eventCost > limit && m.IsAnswer() { // who comes back for it must not wait for ever
		kept = t.event(number, mcp.Errorf(mcp.CodeInternal, "the answer was too large to be kept until the client came back").Failure(m.ID))
	}
	t.events = append(t.events, kept)
	t.bytes += len(kept) + eventCost
	for t.tooMuch() {
		t.bytes -= len(t.events[0]) + eventCost
		t.events[0] = nil
		t.events, t.first = t.events[1:], t.first+1
	}
	return text, t.shelf.resize(t, t.bytes)
}

// tooMuch reports whether the oldest event must go. A client that follows has
// most of them: what a line may still hold is enough, but for a large answer.
func (t *tape) tooMuch() bool {
	limits := &t.shelf.limits
	followed := t.owner != nil && !t.owner.collects
	switch n := len(t.events); {
	case n == 0:
		return false
	case n > 1 && followed && t.bytes > limits.inFlight:
		return true
	}
	return t.gone || t.bytes > limits.tapeBytes
}

func (t *tape) event(number int64, m *mcp.Message) []byte {
	id := t.position(number)
	return eventstream.Append(make([]byte, 0, m.Size()+len(id)+32), id, m)
}

// resume makes a new player that takes over after the event of that number,
// nil when there was no such event.
func (t *tape) resume(number int64) *player {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.gone || number >= t.first+int64(len(t.events)) {
		return nil
	}
	if t.timer != nil {
		t.timer.Stop()
	}
	t.shelf.use(t)
	t.stream.Attend(true)
	return t.handOver(t.newPlayer(number))
}

// handOver is called under the lock.
func (t *tape) handOver(p *player) *player {
	if t.owner != nil {
		close(t.owner.over)
	}
	t.owner = p
	return p
}

// continueOn lets the tape of a standalone stream go on with a new one. What
// the old one still held is on the tape first.
func (t *tape) continueOn(stream *transports.Stream) {
	t.mu.Lock()
	out := t.empty()
	t.stream, t.over = stream, false
	t.mu.Unlock()
	dropAll(out)
}

// empty moves what the stream holds to the tape, and abandons it.
func (t *tape) empty() (out []*tape) {
	t.stream.End()
	for !t.over {
		d, ok := t.stream.Next()
		t.over = !ok || d.Last
		if d.Message != nil {
			_, more := t.keep(d.Message)
			out = append(out, more...)
		}
	}
	t.stream.Abandon()
	return out
}
