package bridge

import (
	"maps"
	"slices"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// ask hands a question of the shared server to the call that it belongs to;
// false where it belongs to none, or where that is in doubt.
func (l *lane) ask(m *mcp.Message) bool {
	l.mu.Lock()
	hear := l.asking(m)
	l.mu.Unlock()
	if hear == nil {
		return false
	}
	hear(m)
	return true
}

func (l *lane) asking(m *mcp.Message) func(*mcp.Message) {
	t := l.holder
	if t == nil || t.hear == nil || t.who.left || time.Now().Before(l.unsure) || m.ID.IsZero() {
		return nil
	}
	l.expire()
	for _, d := range l.doubts {
		if d.who != t.who {
			return nil
		}
	}
	if _, twice := l.asked[m.ID.Key()]; twice {
		return nil
	}
	l.asked[m.ID.Key()] = asked{t.who, &mcp.Message{Kind: m.Kind, ID: m.ID, Method: m.Method}}
	if m.Method == mcp.Elicit && len(l.pages) < maxPages {
		if page := m.Body.Text("elicitationId"); page != "" {
			l.pages[page] = t.who
		}
	}
	return t.hear
}

// replied notes that a question is answered; false where the server waits for
// no answer of that session.
func (l *lane) replied(who *member, id mcp.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	q, open := l.asked[id.Key()]
	if !open || q.who != who {
		return false
	}
	delete(l.asked, id.Key())
	return true
}

// takenBack returns the session whose question the server no longer wants an
// answer to; nil for none.
func (l *lane) takenBack(cancellation *mcp.Message) *member {
	r, _ := cancellation.Body.Get("requestId")
	id, _ := mcp.ParseID(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.asked[id.Key()]
	delete(l.asked, id.Key())
	return q.who
}

// completed returns the session whose client was sent to the page that the
// server now says is done with; nil for none.
func (l *lane) completed(elicitation string) *member {
	l.mu.Lock()
	defer l.mu.Unlock()
	who := l.pages[elicitation]
	delete(l.pages, elicitation)
	return who
}

// part returns the questions that a session leaves open behind it. It is asked
// nothing from now on.
func (l *lane) part(who *member) []*mcp.Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	who.left = true
	var open []*mcp.Message
	for _, key := range slices.Sorted(maps.Keys(l.asked)) {
		if q := l.asked[key]; q.who == who {
			delete(l.asked, key)
			open = append(open, q.request)
		}
	}
	maps.DeleteFunc(l.pages, func(_ string, of *member) bool { return of == who })
	return open
}
