package bridge_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// leaver is a server of 2025-11-25 that ends the stream of a call before its
// answer, and gives the answer to whoever comes back for it.
type leaver struct {
	mu     sync.Mutex
	closed time.Time
	back   time.Time
	asked  http.Header
	id     mcp.ID
}

func (l *leaver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, err := mcp.DecodeMessage(body)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case r.Method == http.MethodGet && r.Header.Get(mcp.HeaderLastID) != "":
		l.back, l.asked = time.Now(), r.Header
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "id: e2\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", l.id)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case err == nil && m.Method == mcp.Initialize:
		w.Header().Set(mcp.HeaderSession, "up-1")
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`, m.ID, v4)
	case err == nil && m.Method == mcp.ToolsCall:
		l.closed, l.id = time.Now(), m.ID
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "id: e1\ndata: \n\nretry: 2000\n\n")
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// A server of 2025-11-25 may end a stream on purpose and want to be asked again
// (T70). An older client knows nothing of that: its own request stays open, and is
// answered with the answer alone.
func TestT70PrimedStreamOfAnOlderClient(t *testing.T) {
	l := &leaver{}
	web := httptest.NewServer(l)
	t.Cleanup(web.Close)
	r := newRigBefore(t, nil, web.URL, nil)
	c := r.open(v3, `{}`)
	if got := c.post(toolCall(`7`, "t", `1`)); got.body != `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}` {
		t.Errorf("the client got %d %q", got.status, got.body)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if paused := l.back.Sub(l.closed); paused < 2*time.Second || paused > patience {
		t.Errorf("the bridge came back after %s", paused)
	}
	for name, want := range map[string]string{mcp.HeaderLastID: "e1", mcp.HeaderSession: "up-1", mcp.HeaderVersion: v4} {
		if got := l.asked.Get(name); got != want {
			t.Errorf("the bridge came back with %s: %s, want %s", name, got, want)
		}
	}
}
