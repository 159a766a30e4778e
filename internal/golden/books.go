package golden

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// books checks conservation: whatever is asked is answered exactly once,
// unless its asker takes it back, and nobody is answered who did not ask.
type books struct {
	owed   map[string]int  // answers still owed, by who is owed and for what
	firm   map[string]bool // what cannot be cancelled
	long   map[string]bool // what is answered only when it ends
	faults []string
}

func newBooks() *books {
	return &books{owed: map[string]int{}, firm: map[string]bool{}, long: map[string]bool{}}
}

func (b *books) fault(format string, args ...any) {
	b.faults = append(b.faults, fmt.Sprintf(format, args...))
}

func (b *books) asked(key string) { b.owed[key]++ }

func (b *books) answered(key string) {
	if b.owed[key] == 0 {
		b.fault("an answer that nobody asked for: %s", key)
		return
	}
	b.owed[key]--
}

func (b *books) clientSent(client, turn string, m *mcp.Message) {
	switch {
	case m.Kind == mcp.Request:
		key := fmt.Sprintf("%s turn %s id %s", client, turn, m.ID)
		b.firm[key] = m.Method == mcp.Initialize
		b.asked(key)
	case m.IsAnswer():
		// A late answer to a question that was withdrawn is allowed.
		if key := fmt.Sprintf("asked of %s id %s", client, m.ID); b.owed[key] > 0 {
			b.owed[key]--
		}
	case m.Method == mcp.Cancelled:
		r, _ := m.Body.Get("requestId")
		for key := range b.owed {
			if b.owed[key] > 0 && !b.firm[key] && matches(key, client, r) {
				b.owed[key]--
			}
		}
	}
}

// clientLeft: who leaves a turn wants none of its answers.
func (b *books) clientLeft(client, turn string) {
	for key := range b.owed {
		if strings.HasPrefix(key, client+" turn "+turn+" ") {
			delete(b.owed, key)
		}
	}
}

func matches(key, client string, id mcp.Raw) bool {
	var turn, got string
	n, _ := fmt.Sscanf(key, client+" turn %s id %s", &turn, &got)
	return n == 2 && got == string(id)
}

func (b *books) clientGot(client, turn string, m *mcp.Message) {
	switch {
	case m.IsAnswer():
		b.answered(fmt.Sprintf("%s turn %s id %s", client, turn, m.ID))
	case m.Kind == mcp.Request:
		b.asked(fmt.Sprintf("asked of %s id %s", client, m.ID))
	case m.Method == mcp.Cancelled:
		r, _ := m.Body.Get("requestId")
		delete(b.owed, fmt.Sprintf("asked of %s id %s", client, r))
	}
}

func (b *books) serverSent(m *mcp.Message) {
	switch {
	case m.Kind == mcp.Request:
		b.asked(fmt.Sprintf("server id %s", m.ID))
	case m.IsAnswer():
		key := fmt.Sprintf("asked of server id %s", m.ID)
		if b.owed[key] > 0 {
			b.owed[key]--
		}
	case m.Method == mcp.Cancelled:
		r, _ := m.Body.Get("requestId")
		delete(b.owed, fmt.Sprintf("server id %s", r))
	}
}

func (b *books) serverGot(m *mcp.Message) {
	switch {
	case m.IsAnswer():
		b.answered(fmt.Sprintf("server id %s", m.ID))
	case m.Kind == mcp.Request:
		key := fmt.Sprintf("asked of server id %s", m.ID)
		if _, reused := b.owed[key]; reused {
			b.fault("the bridge used the id %s twice", m.ID)
		}
		b.long[key] = m.Method == mcp.Listen
		b.asked(key)
	case m.Method == mcp.Cancelled:
		r, _ := m.Body.Get("requestId")
		b.owed[fmt.Sprintf("asked of server id %s", r)] = 0
	}
}

func (b *books) serverFailed(n int64) { b.owed[fmt.Sprintf("asked of server id %d", n)] = 0 }

// close returns every fault, what is still owed included.
func (b *books) close() []string {
	for key, n := range b.owed {
		if n > 0 && !b.long[key] {
			b.fault("never answered: %s", key)
		}
	}
	slices.Sort(b.faults)
	return b.faults
}
