package rewrite

import (
	"maps"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// naming gives tools and prompts names that all clients take, and maps them
// back. A name means something only beside all the others, so the stage reads
// a list to its end before it renames anything of it, and lists for itself
// when the client uses a name before it has listed.
type naming struct {
	Passive
	titled bool // the client's version has titles
	books  map[string]*nameBook
	lists  map[mcp.CallKey]*mcp.Message // requests for a page that are under way
}

const (
	maxNameBytes = 4 << 20
	nameWait     = 30 * time.Second // for a whole list
	nameRetry    = 10 * time.Second // after one that could not be read
)

func newNaming(f Facing, _ Deps) Stage {
	if !f.Options.SafeNames {
		return Passive{}
	}
	s := &naming{titled: f.Client.Version >= v20250618, lists: map[mcp.CallKey]*mcp.Message{}}
	s.books = map[string]*nameBook{}
	for _, list := range []string{mcp.ToolsList, mcp.PromptsList} {
		s.books[list] = &nameBook{list: list, known: map[string]bool{}, shown: map[string]string{}}
	}
	return s
}

// ToServer implements Stage.
func (s *naming) ToServer(m *mcp.Message, out *Out) {
	switch {
	case m.Method == mcp.Cancelled:
		delete(s.lists, m.Call)
		for _, b := range s.books {
			if b.unhold(m.Call) {
				return // the server does not have it, or is done with it
			}
		}
	case m.Kind != mcp.Request || m.Body == nil && s.books[m.Method] == nil:
	case s.books[m.Method] != nil:
		s.lists[m.Call] = copyOf(m)
	default:
		if holder, b := s.named(m); b != nil && isSafe(holder.Text("name")) {
			s.call(b, m, out)
			return
		}
	}
	out.Forward(m)
}

// named finds where a request of the client names a tool or a prompt.
func (s *naming) named(m *mcp.Message) (holder *mcp.Object, b *nameBook) {
	switch m.Method {
	case mcp.ToolsCall:
		return m.Body, s.books[mcp.ToolsList]
	case mcp.PromptsGet:
		return m.Body, s.books[mcp.PromptsList]
	case mcp.Complete:
		if ref := m.Body.Object("ref"); ref.Text("type") == "ref/prompt" {
			return ref, s.books[mcp.PromptsList]
		}
	}
	return nil, nil
}

// call lets a request go on under the server's name, once that is known.
func (s *naming) call(b *nameBook, m *mcp.Message, out *Out) {
	holder, _ := s.named(m)
	if _, known := b.resolve(holder.Text("name")); known || b.complete || out.Now.Before(b.retry) {
		s.send(b, m, out)
		return
	}
	s.hold(b, m, m, out)
}

// send renames and sends a request. A name that nobody knows is the server's
// to refuse.
func (s *naming) send(b *nameBook, m *mcp.Message, out *Out) {
	holder, _ := s.named(m)
	name := holder.Text("name")
	if original, known := b.resolve(name); known && original != name {
		holder.Set("name", mcp.Quote(original))
		out.Rewritten()
	}
	out.Tell(mcp.Server, m)
}

// hold keeps a message until the list is known; request says for whom to list.
func (s *naming) hold(b *nameBook, m, request *mcp.Message, out *Out) {
	if b.walk != nil {
		b.walk.held = append(b.walk.held, m)
		return
	}
	b.walk = &nameWalk{
		fresh: map[string]bool{}, cursors: map[string]bool{}, held: []*mcp.Message{m},
		request: request, due: out.Now.Add(nameWait),
	}
	if m.Kind == mcp.Result && !request.Params().Has("cursor") { // it has the first page already
		b.walk.read(m)
		next, _ := nextCursor(m)
		s.page(b, next, out)
		return
	}
	s.page(b, nil, out)
}

func (s *naming) page(b *nameBook, cursor mcp.Raw, out *Out) {
	w := b.walk
	w.cursors[string(cursor)] = true
	m := mcp.NewRequest(b.list, pageParams(w.request, cursor))
	m.Header = w.request.Header
	key := out.Ask(mcp.Server, m, w)
	w.page = max(w.page, key) // its answer may have come at once, and asked for more
}

// Answered implements Stage: a page of the stage's own listing.
func (s *naming) Answered(tag any, m *mcp.Message, out *Out) {
	w := tag.(*nameWalk)
	b := s.walks(w)
	if b == nil {
		return
	}
	if m.Kind == mcp.Failure {
		s.end(b, false, out)
		return
	}
	w.read(m)
	next, more := nextCursor(m)
	switch {
	case !more || w.cursors[string(next)]:
		s.end(b, true, out)
	case len(w.cursors) >= maxFlatPages:
		s.end(b, false, out)
	default:
		s.page(b, next, out)
	}
}

// walks returns the book that a walk is for, nil when that has given it up.
func (s *naming) walks(w *nameWalk) *nameBook {
	for _, b := range s.books {
		if b.walk == w {
			return b
		}
	}
	return nil
}

// end goes on with what waited for a list, of which the whole is known or not.
func (s *naming) end(b *nameBook, whole bool, out *Out) {
	w := b.walk
	b.walk = nil
	if whole {
		b.learn(w.fresh, w.bytes, !w.changed)
	} else {
		b.retry = out.Now.Add(nameRetry)
	}
	for _, held := range w.held {
		if held.Kind == mcp.Result {
			s.show(b, held, out)
			out.Tell(mcp.Client, held)
		} else {
			s.send(b, held, out)
		}
	}
}

// Due implements Stage.
func (s *naming) Due() time.Time {
	var due time.Time
	for _, b := range s.books {
		if b.walk != nil && (due.IsZero() || b.walk.due.Before(due)) {
			due = b.walk.due
		}
	}
	return due
}

// Expire implements Stage.
func (s *naming) Expire(out *Out) {
	for _, list := range []string{mcp.ToolsList, mcp.PromptsList} {
		b := s.books[list]
		if b.walk == nil || b.walk.due.After(out.Now) {
			continue
		}
		takeBack(b.walk.page, b.walk.request, "the list takes too long", out)
		s.end(b, false, out)
	}
}

// ToClient implements Stage.
func (s *naming) ToClient(m *mcp.Message, out *Out) {
	switch {
	case m.Method == mcp.ToolsChanged:
		s.books[mcp.ToolsList].changed()
	case m.Method == mcp.PromptsChanged:
		s.books[mcp.PromptsList].changed()
	case m.IsAnswer() && s.lists[m.Call] != nil:
		request := s.lists[m.Call]
		delete(s.lists, m.Call)
		if m.Kind == mcp.Result && s.listed(s.books[m.Method], request, m, out) {
			return
		}
	}
	out.Forward(m)
}

// listed renames what a page lists. It reports whether the page must wait.
func (s *naming) listed(b *nameBook, request, m *mcp.Message, out *Out) (waits bool) {
	if _, more := nextCursor(m); !more && !request.Params().Has("cursor") {
		w := &nameWalk{fresh: map[string]bool{}}
		w.read(m)
		b.learn(w.fresh, w.bytes, true)
	} else if !b.complete || !b.knows(m) {
		if !out.Now.Before(b.retry) {
			m.Body = m.Body.Clone()
			s.hold(b, m, request, out)
			return true
		}
	}
	s.show(b, m, out)
	return false
}

// show writes the client's names into a page, and remembers what it shows.
func (s *naming) show(b *nameBook, m *mcp.Message, out *Out) {
	if !b.knows(m) { // the whole list could not be read, or was another
		w := &nameWalk{fresh: maps.Clone(b.known), bytes: b.bytes}
		w.read(m)
		b.learn(w.fresh, w.bytes, b.complete)
	}
	if len(b.shown) > 2*maxTools {
		clear(b.shown)
	}
	eachListed(m, func(item *mcp.Object) {
		name := item.Text("name")
		safe, known := b.safe[name]
		if !known {
			return
		}
		b.shown[safe] = name
		if safe == name {
			return
		}
		item.Set("name", mcp.Quote(safe))
		if s.titled && !item.Has("title") && !item.Object("annotations").Has("title") {
			item.Set("title", mcp.Quote(name))
		}
		out.Rewritten()
	})
}
