package bridge_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
	"github.com/mcpbridge/mcpbridge/transports/detect"
	"github.com/mcpbridge/mcpbridge/transports/sse"
	"github.com/mcpbridge/mcpbridge/transports/transporttest"
)

// older is a server of HTTP+SSE: its stream is opened by GET, and names where
// messages go.
type older struct {
	*httptest.Server
	status   int    // of a POST where the stream is
	endpoint string // that the stream names; the session follows

	mu      sync.Mutex
	streams []chan string
	asked   []string
}

func newOlder(t *testing.T) *older {
	t.Helper()
	o := &older{status: http.StatusMethodNotAllowed, endpoint: "/messages?s="}
	o.Server = httptest.NewServer(o)
	t.Cleanup(func() {
		o.CloseClientConnections()
		o.Close()
	})
	return o
}

// ServeHTTP implements http.Handler.
func (o *older) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a break shows as an unreadable message
	m, err := mcp.DecodeMessage(body)
	what := r.Method
	if err == nil {
		what = m.Method
	}
	o.mu.Lock()
	o.asked = append(o.asked, what)
	o.mu.Unlock()
	switch {
	case r.Method == http.MethodGet:
		o.stream(w, r)
	case r.URL.Path != "/messages":
		w.WriteHeader(o.status)
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusAccepted)
		o.answer(r.URL.Query().Get("s"), m)
	}
}

func (o *older) stream(w http.ResponseWriter, r *http.Request) {
	answers := make(chan string, 8)
	o.mu.Lock()
	n := len(o.streams)
	o.streams = append(o.streams, answers)
	o.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "event: endpoint\ndata: %s%d\n\n", o.endpoint, n)
	for {
		_ = http.NewResponseController(w).Flush()
		select {
		case text := <-answers:
			_, _ = io.WriteString(w, "event: message\ndata: "+text+"\n\n")
		case <-r.Context().Done():
			return
		}
	}
}

func (o *older) answer(session string, m *mcp.Message) {
	text := ""
	switch {
	case m.Kind != mcp.Request:
		return
	case m.Method == mcp.Initialize:
		text = `{"protocolVersion":"` + v1 + `","capabilities":{"tools":{}},"serverInfo":{"name":"older","version":"1"}}`
	case m.Method == mcp.ToolsCall:
		arguments, _ := m.Body.Get("arguments")
		text = `{"content":[{"type":"text","text":` + string(mcp.Quote(string(arguments))) + `}]}`
	default:
		text = `{}`
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	_, _ = fmt.Sscan(session, &n) // 0 otherwise, which is somebody's
	o.streams[n] <- `{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":` + text + `}`
}

// names lists what came.
func (o *older) names() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.asked)
}

// newOlderRig is a rig whose upstream may speak either transport.
func newOlderRig(t *testing.T, o *older) *rig {
	t.Helper()
	either, err := detect.NewClient(o.URL+"/sse", sse.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(either.CloseIdleConnections)
	return newRigBefore(t, nil, o.URL, func(s *rigging) {
		s.Era, s.Dial = negotiate.Unknown, either.Conversation
	})
}

// A server of HTTP+SSE is found although the first that it is asked is which
// era it speaks (G-73).
func TestProbeComesBeforeTheTransport(t *testing.T) {
	for _, status := range []int{http.StatusMethodNotAllowed, http.StatusNotFound, http.StatusBadRequest} {
		for _, modern := range []bool{true, false} {
			t.Run(fmt.Sprint(status, modern), func(t *testing.T) {
				transporttest.Goroutines(t)
				o := newOlder(t)
				o.status = status
				r := newOlderRig(t, o)
				if modern {
					if got, err := r.client().modernCall(`1`); err != nil || !got.served() {
						t.Errorf("a stateless client is answered %d %s %v", got.status, got.body, err)
					}
				} else {
					r.open(v4, `{}`).echoes(1)
				}
				want := "server/discover initialize GET initialize notifications/initialized tools/call"
				if got := strings.Join(o.names(), " "); !strings.HasPrefix(got, want) {
					t.Errorf("the server was asked %s", got)
				}
				r.open(v1, `{}`).echoes(2)
				if n := strings.Count(strings.Join(o.names(), " "), mcp.Discover); n != 1 {
					t.Errorf("the server was probed %d times", n)
				}
			})
		}
	}
}

// A stream that sends messages to another origin is refused (G-73).
func TestEndpointOfAnotherOrigin(t *testing.T) {
	transporttest.Goroutines(t)
	other := newOlder(t)
	o := newOlder(t)
	o.endpoint = other.URL + "/messages?s="
	r := newOlderRig(t, o)
	if got := r.client().post(initializeWith("1", v4, `{}`)); !strings.Contains(got.body, `"id":1,"error":{"code":-32603`) {
		t.Errorf("answered %d %s", got.status, got.body)
	}
	if got := other.names(); len(got) != 0 {
		t.Errorf("the other was asked %v", got)
	}
}
