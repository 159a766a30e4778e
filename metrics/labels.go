package metrics

import (
	"sync"
	"unicode/utf8"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Label values that stand for a whole set of things.
const (
	other = "other" // outside the known values
	none  = "none"  // nothing there, as the version of a failed handshake
)

// methods returns the MCP vocabulary: the methods that have a series of their
// own.
func methods() []string {
	return []string{
		mcp.Initialize, mcp.Initialized, mcp.Ping,
		mcp.ToolsList, mcp.ToolsCall,
		mcp.PromptsList, mcp.PromptsGet,
		mcp.ResourcesList, mcp.TemplatesList, mcp.ResourcesRead,
		mcp.ResourcesSubscribe, mcp.ResourcesUnsubscribe,
		mcp.Complete, mcp.SetLevel,
		mcp.CreateMessage, mcp.Elicit, mcp.RootsList,
		mcp.TasksGet, mcp.TasksResult, mcp.TasksList, mcp.TasksCancel, mcp.TasksStatus,
		mcp.Discover, mcp.Listen,
		mcp.Cancelled, mcp.Progress, mcp.LogMessage,
		mcp.ToolsChanged, mcp.PromptsChanged, mcp.ResourcesChanged,
		mcp.ResourceUpdated, mcp.RootsChanged,
		mcp.ListenAcknowledged, mcp.ElicitationComplete,
	}
}

// closed is a fixed set of label values.
type closed map[string]bool

func newClosed[T ~string](values []T) closed {
	c := make(closed, len(values))
	for _, v := range values {
		c[string(v)] = true
	}
	return c
}

func (c closed) label(v string) string {
	switch {
	case c[v]:
		return v
	case v == "":
		return none
	}
	return other
}

// maxLabel bounds a label value in bytes.
const maxLabel = 80

// capped is a set of label values that grows to a limit. It is for names that
// our own code chooses, so the limit is only there for the day when a peer's
// text slips in.
type capped struct {
	limit int
	mu    sync.RWMutex
	seen  map[string]bool
}

func newCapped(limit int) *capped { return &capped{limit: limit, seen: make(map[string]bool)} }

func (c *capped) label(v string) string {
	if v == "" {
		return none
	}
	c.mu.RLock()
	known := c.seen[v]
	c.mu.RUnlock()
	if known || c.admit(v) {
		return v
	}
	return other
}

func (c *capped) admit(v string) bool {
	// The client library panics on a label value that is not UTF-8.
	if len(v) > maxLabel || !utf8.ValidString(v) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen[v] {
		return true
	}
	if len(c.seen) >= c.limit {
		return false
	}
	c.seen[v] = true
	return true
}
