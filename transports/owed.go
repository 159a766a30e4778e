package transports

import (
	"sync"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Owed counts the answers that the client of a pipe waits for, so that
// whoever is to end the pipe can let it have them first. All methods are safe
// for concurrent use.
type Owed struct {
	mu   sync.Mutex
	ids  map[string]bool
	none chan struct{} // closed while nothing is owed
}

// NewOwed returns a count of nothing.
func NewOwed() *Owed {
	o := &Owed{ids: map[string]bool{}, none: make(chan struct{})}
	close(o.none)
	return o
}

// Add notes the requests in a frame, which may be nil, and returns those that
// were not noted before. One that the client cancels gets no answer.
func (o *Owed) Add(f *mcp.Frame) (added []string) {
	if f == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, i := range f.Items {
		switch m := i.Message; {
		case m == nil:
		case m.Kind == mcp.Request && !o.ids[m.ID.Key()]:
			if len(o.ids) == 0 {
				o.none = make(chan struct{})
			}
			o.ids[m.ID.Key()] = true
			added = append(added, m.ID.Key())
		case m.Kind == mcp.Notification && m.Method == mcp.Cancelled && m.Body != nil:
			r, _ := m.Body.Get("requestId")
			if id, ok := mcp.ParseID(r); ok {
				o.drop(id.Key())
			}
		}
	}
	return added
}

// Forget takes back what Add noted.
func (o *Owed) Forget(added []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, key := range added {
		o.drop(key)
	}
}

// Paid notes a message that was written to the client.
func (o *Owed) Paid(m *mcp.Message) {
	if !m.IsAnswer() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drop(m.ID.Key())
}

func (o *Owed) drop(key string) {
	if !o.ids[key] {
		return
	}
	delete(o.ids, key)
	if len(o.ids) == 0 {
		close(o.none)
	}
}

// None returns what is closed when nothing is owed any more.
func (o *Owed) None() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.none
}
