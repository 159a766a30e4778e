package rewrite

import (
	"maps"
	"slices"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// nameBook holds the names of the tools, or of the prompts.
type nameBook struct {
	list     string            // the method
	known    map[string]bool   // the server's names
	bytes    int               // of them
	safe     map[string]string // server's name → client's
	back     map[string]string // the other way
	shown    map[string]string // back, as the client was last shown
	complete bool              // the whole list was seen, and nobody told of a change since
	retry    time.Time         // not to be listed again before that
	walk     *nameWalk
}

// nameWalk is a listing of the stage's own and what waits for it.
type nameWalk struct {
	fresh   map[string]bool
	bytes   int
	cursors map[string]bool // that were followed
	changed bool            // the list changed meanwhile
	held    []*mcp.Message
	request *mcp.Message // for whom it lists
	page    mcp.CallKey  // under way
	due     time.Time
}

// read takes the names of a page.
func (w *nameWalk) read(m *mcp.Message) {
	eachListed(m, func(item *mcp.Object) {
		name := item.Text("name")
		if !w.fresh[name] && len(w.fresh) < maxTools && w.bytes+len(name) <= maxNameBytes {
			w.fresh[name] = true
			w.bytes += len(name)
		}
	})
}

// learn takes a set of names for all there are.
func (b *nameBook) learn(names map[string]bool, bytes int, complete bool) {
	b.complete, b.bytes = complete, bytes
	if b.safe != nil && maps.Equal(b.known, names) {
		return
	}
	b.known, b.safe = names, safeNames(names)
	b.back = make(map[string]string, len(b.safe))
	for name, safe := range b.safe {
		b.back[safe] = name
	}
}

// knows reports whether all names of a page are known.
func (b *nameBook) knows(m *mcp.Message) bool {
	all := true
	eachListed(m, func(item *mcp.Object) { all = all && (b.known[item.Text("name")] || item.Text("name") == "") })
	return all
}

// resolve returns the server's name for one that the client uses: what it was
// last shown under that name, else what it would be shown now.
func (b *nameBook) resolve(name string) (original string, known bool) {
	if original, known = b.shown[name]; !known {
		original, known = b.back[name]
	}
	return original, known
}

// changed: the list is another now. What the client was shown holds until it
// lists again.
func (b *nameBook) changed() {
	b.complete = false
	if b.walk != nil {
		b.walk.changed = true
	}
}

// unhold takes back a message that waits; false when none with that call does.
func (b *nameBook) unhold(call mcp.CallKey) bool {
	if b.walk == nil {
		return false
	}
	n := len(b.walk.held)
	b.walk.held = slices.DeleteFunc(b.walk.held, func(m *mcp.Message) bool { return m.Call == call })
	return len(b.walk.held) < n
}
