package bridge

import (
	"slices"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// outbox holds what belongs to no call while the client has no stream open
// for it. It is bounded: news of the same thing replaces older news.
type outbox struct {
	items []held
	bytes int
}

type held struct {
	m        *mcp.Message
	deadline time.Time // of a question: when its server is told
}

const (
	outboxLimit = 256
	outboxBytes = 1 << 20 // nothing is added above it
	// outboxWait is how long a question waits for a stream to the client.
	outboxWait = 30 * time.Second
)

// add holds a message and reports whether there was room.
func (o *outbox) add(m *mcp.Message, now time.Time) bool {
	h := held{m: m}
	if m.Kind == mcp.Request {
		h.deadline = now.Add(outboxWait)
	} else if o.replaces(m) {
		return true
	}
	if len(o.items) >= outboxLimit || o.bytes >= outboxBytes {
		return false
	}
	o.items = append(o.items, h)
	o.bytes += m.Size()
	return true
}

// replaces reports whether older news already says that something changed.
func (o *outbox) replaces(m *mcp.Message) bool {
	if !isNews(m.Method) {
		return false
	}
	for _, h := range o.items {
		if h.m.Method == m.Method && h.m.Body.Text("uri") == m.Body.Text("uri") {
			return true
		}
	}
	return false
}

// isNews reports a notification that says that something has changed, and not
// how: the next one makes up for it.
func isNews(method string) bool {
	switch method {
	case mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged, mcp.ResourceUpdated:
		return true
	}
	return false
}

// take removes and returns everything, or everything but questions.
func (o *outbox) take(questions bool) []*mcp.Message {
	var out []*mcp.Message
	var keep []held
	for _, h := range o.items {
		if h.m.Kind == mcp.Request && !questions {
			keep = append(keep, h)
			continue
		}
		out = append(out, h.m)
		o.bytes -= h.m.Size()
	}
	o.items = keep
	return out
}

// remove takes a held question back and reports whether it was there.
func (o *outbox) remove(key mcp.CallKey) bool {
	for i, h := range o.items {
		if h.m.Kind == mcp.Request && h.m.Call == key {
			o.items = slices.Delete(o.items, i, i+1)
			o.bytes -= h.m.Size()
			return true
		}
	}
	return false
}

func (o *outbox) due() time.Time {
	var due time.Time
	for _, h := range o.items {
		due = earlier(due, h.deadline)
	}
	return due
}

// overdue removes the questions whose time is up and returns their keys.
func (o *outbox) overdue(now time.Time) []mcp.CallKey {
	var keys []mcp.CallKey
	for _, h := range o.items {
		if !h.deadline.IsZero() && !h.deadline.After(now) {
			keys = append(keys, h.m.Call)
		}
	}
	for _, key := range keys {
		o.remove(key)
	}
	return keys
}
