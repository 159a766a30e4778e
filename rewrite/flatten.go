package rewrite

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// flattening gathers the pages of a list, on routes that ask for it. A page
// that fails fails the list: half of one would pass for the whole.
type flattening struct {
	Passive
	refuse bool                         // the route refuses losses
	asked  map[mcp.CallKey]*mcp.Message // requests whose first page is under way
	lists  map[mcp.CallKey]*flatList    // by the client's call
	bytes  int                          // of all lists
}

// flatList is a list of which more pages are under way.
type flatList struct {
	request *mcp.Message
	answer  *mcp.Message // the first page, which takes in the others
	items   *mcp.Array
	seen    map[string]bool // identities of the items
	cursors map[string]bool // that were followed
	page    mcp.CallKey     // under way
	bytes   int
	due     time.Time
}

const (
	maxFlatPages = 500
	maxFlatBytes = 16 << 20 // of one list
	maxFlatOfAll = 32 << 20 // of one session
	flatWait     = time.Minute
)

func newFlattening(f Facing, _ Deps) Stage {
	if !f.Options.FlattenLists {
		return Passive{}
	}
	return &flattening{
		refuse: f.Options.Loss == mcp.LossRefuse,
		asked:  map[mcp.CallKey]*mcp.Message{}, lists: map[mcp.CallKey]*flatList{},
	}
}

// ToServer implements Stage.
func (s *flattening) ToServer(m *mcp.Message, out *Out) {
	switch {
	case m.Kind == mcp.Request && listMember(m.Method) != "":
		s.asked[m.Call] = copyOf(m)
	case m.Method == mcp.Cancelled:
		delete(s.asked, m.Call)
		if l := s.lists[m.Call]; l != nil {
			s.drop(l)
			takeBack(l.page, l.request, "the list was cancelled", out)
			return
		}
	}
	out.Forward(m)
}

// ToClient implements Stage.
func (s *flattening) ToClient(m *mcp.Message, out *Out) {
	request := s.asked[m.Call]
	if request == nil || !m.IsAnswer() {
		out.Forward(m)
		return
	}
	delete(s.asked, m.Call)
	next, more := nextCursor(m)
	if !more || m.Body.Array(listMember(m.Method)) == nil {
		out.Forward(m)
		return
	}
	m.Body = m.Body.Clone()
	l := &flatList{
		request: request, answer: m, items: mcp.NewArray(),
		seen: map[string]bool{}, cursors: map[string]bool{}, due: out.Now.Add(flatWait),
	}
	l.take(m.Body)
	m.Body.SetArray(listMember(m.Method), l.items)
	s.lists[m.Call] = l
	s.grow(l, m.Body.Size())
	s.follow(l, next, out)
}

// nextCursor returns the cursor of the page after this one.
func nextCursor(m *mcp.Message) (cursor mcp.Raw, more bool) {
	if m.Kind != mcp.Result {
		return nil, false
	}
	next, has := m.Body.Get("nextCursor")
	return append(mcp.Raw(nil), next...), has && !next.IsNull()
}

// identity is what tells the items of a list apart; "" for what has nothing.
func identity(method string, item *mcp.Object) string {
	switch method {
	case mcp.ResourcesList:
		return item.Text("uri")
	case mcp.TemplatesList:
		return item.Text("uriTemplate")
	}
	return item.Text("name")
}

func (s *flattening) grow(l *flatList, n int) {
	l.bytes += n
	s.bytes += n
}

// follow asks for the next page, unless the list ends here for another reason.
func (s *flattening) follow(l *flatList, cursor mcp.Raw, out *Out) {
	switch {
	case l.cursors[string(cursor)]:
		if s.refuse {
			s.fail(l, "the server's list leads back to a page that was read before", out)
			return
		}
		out.Lose("what may follow a cursor that leads back to a page that was read before")
		s.finish(l, out)
		return
	case len(l.cursors) >= maxFlatPages:
		s.fail(l, "the server's list has too many pages to be gathered", out)
		return
	case l.bytes > maxFlatBytes || s.bytes > maxFlatOfAll:
		s.fail(l, "the server's list is too large to be gathered", out)
		return
	}
	l.cursors[string(cursor)] = true
	m := mcp.NewRequest(l.request.Method, pageParams(l.request, cursor))
	m.Header = l.request.Header
	key := out.Ask(mcp.Server, m, l)
	l.page = max(l.page, key) // its answer may have come at once, and asked for more
}

// pageParams are the parameters by which a stage asks for a page of a list
// as its client did; a nil cursor asks for the first.
func pageParams(request *mcp.Message, cursor mcp.Raw) *mcp.Object {
	params := mcp.NewObject()
	if meta := request.Meta(); meta != nil {
		meta = meta.Clone()
		meta.Delete("progressToken") // nobody waits for progress of a page
		if meta.Len() > 0 {
			params.SetObject("_meta", meta)
		}
	}
	if cursor != nil {
		params.Set("cursor", cursor)
	}
	if params.Len() == 0 {
		return nil
	}
	return params
}

// Answered implements Stage: one more page.
func (s *flattening) Answered(tag any, m *mcp.Message, out *Out) {
	l := tag.(*flatList)
	if s.lists[l.answer.Call] != l {
		return
	}
	if m.Kind == mcp.Failure {
		s.drop(l)
		l.answer.Kind, l.answer.Body = mcp.Failure, m.Body
		out.Rewritten()
		out.Tell(mcp.Client, l.answer)
		return
	}
	s.grow(l, m.Body.Size())
	next, more := nextCursor(m)
	page := m.Body.Clone()
	l.take(page)
	l.hints(page)
	if !more {
		s.finish(l, out)
		return
	}
	s.follow(l, next, out)
}

// take adds the items of a page, of equal ones the first.
func (l *flatList) take(page *mcp.Object) {
	list := page.Array(listMember(l.request.Method))
	for i := range list.Len() {
		id := identity(l.request.Method, list.Object(i))
		if id == "" || !l.seen[id] {
			l.items.Add(list.At(i))
		}
		l.seen[id] = true
	}
}

// hints: the whole may be kept as long as the page that may be kept least,
// and by those that all its pages allow (server/utilities/caching).
func (l *flatList) hints(page *mcp.Object) {
	whole := l.answer.Body
	mine, has := whole.Get("ttlMs")
	if theirs, _ := page.Get("ttlMs"); has && isTime(theirs) && sooner(theirs, mine) {
		whole.Set("ttlMs", theirs)
	}
	if page.Text("cacheScope") == "private" && whole.Has("cacheScope") {
		whole.Set("cacheScope", mcp.Raw(`"private"`))
	}
}

// sooner compares two whole numbers of any length.
func sooner(a, b mcp.Raw) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return bytes.Compare(a, b) < 0
}

func (s *flattening) finish(l *flatList, out *Out) {
	s.drop(l)
	l.answer.Body.Delete("nextCursor")
	out.Rewritten()
	out.Tell(mcp.Client, l.answer)
}

func (s *flattening) fail(l *flatList, why string, out *Out) {
	s.drop(l)
	out.Rewritten()
	out.Tell(mcp.Client, l.request.Refuse(mcp.Errorf(mcp.CodeInternal, "%s; without flatten_lists it can be read page by page", why)))
}

func (s *flattening) drop(l *flatList) {
	delete(s.lists, l.answer.Call)
	s.bytes -= l.bytes
}

// takeBack tells the server that nobody wants a page any more that a stage
// asked for on behalf of a request.
func takeBack(page mcp.CallKey, request *mcp.Message, why string, out *Out) {
	params := mcp.NewObject()
	params.Set("reason", mcp.Quote(why))
	note := mcp.NewNotification(mcp.Cancelled, params)
	note.Call, note.Header = page, request.Header
	out.Forget(page)
	out.Tell(mcp.Server, note)
}

// Due implements Stage.
func (s *flattening) Due() time.Time {
	var due time.Time
	for _, l := range s.lists {
		if due.IsZero() || l.due.Before(due) {
			due = l.due
		}
	}
	return due
}

// Expire implements Stage.
func (s *flattening) Expire(out *Out) {
	for _, key := range slices.Sorted(maps.Keys(s.lists)) {
		if l := s.lists[key]; !l.due.After(out.Now) {
			takeBack(l.page, l.request, "the list takes too long", out)
			s.fail(l, "the server's list did not end within "+flatWait.String(), out)
		}
	}
}
