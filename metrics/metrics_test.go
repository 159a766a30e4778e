package metrics_test

import (
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mcpbridge/mcpbridge/bridge"
	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/metrics"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var _ bridge.Observer = (*metrics.Metrics)(nil)

var (
	known = []mcp.Version{"2024-11-05", "2025-03-26"}
	build = metrics.BuildInfo{Version: "v1.2.3", Revision: "abc", GoVersion: "go1.26"}
	pair  = mcp.Pair{
		Client: "2025-03-26", Server: "2024-11-05", ClientTransport: "streamable-http",
		ServerTransport: "streamable-http", ClientName: "a client", ServerName: "a server",
	}
)

func newMetrics() (*metrics.Metrics, *prometheus.Registry) {
	reg := prometheus.NewRegistry()
	metrics.Announce(reg, build)
	return metrics.New(reg, known), reg
}

func exposition(reg *prometheus.Registry) string {
	w := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// share says what is counted for one of several upstreams.
func share(all *metrics.Metrics) {
	all.Chosen("new", "rule")
	all.Chosen("new", "fallover")
	all.Chosen("new", "whim")
	all.Unopened("old")
	s := all.Of("new")
	s.SessionOpened(pair)
	s.SessionOpened(pair)
	s.SessionClosed(pair)
	s.Answered(mcp.ToolsCall, mcp.Result, 20*time.Millisecond)
	s.Answered(mcp.ToolsCall, mcp.Failure, 3*time.Second)
	s.Failed(mcp.Server, "unreachable")
	s.Failed(mcp.Client, "not upstream's")
}

// observe says everything an observer can hear once.
func observe(m bridge.Observer) {
	m.SessionOpened(pair)
	m.SessionOpened(pair)
	m.SessionClosed(pair)
	m.Negotiated(mcp.Client, "2025-03-26", "2025-03-26")
	m.Negotiated(mcp.Server, "1999-01-01", "")
	m.Received(mcp.Client, mcp.Request, mcp.ToolsCall)
	m.Sent(mcp.Server, mcp.Request, mcp.ToolsCall)
	m.Received(mcp.Server, mcp.Result, mcp.ToolsCall)
	m.Sent(mcp.Client, mcp.Failure, "x/unheard-of")
	m.Received(mcp.Client, mcp.Result, "")
	m.Rewritten("add-text")
	m.Lost("drop-audio", mcp.Passed)
	m.Lost("drop-audio", mcp.Refused)
	m.Lost("drop-audio", "perhaps")
	m.Probed("modern")
	m.Judged("legacy", "fallback")
	m.Judged("modern", "guess")
	m.Reclassified("legacy", "modern")
	m.Rounds(1)
	m.Rounds(8)
	m.Listened(mcp.Client, "honoured")
	m.Listened(mcp.Client, "empty")
	m.ListenEnded(mcp.Client)
	m.Listened(mcp.Server, "refused")
	m.Relearned("mismatch")
	m.Quirked("split-type-lists")
	m.Limited(mcp.LimitCalls)
	m.Limited("max_typos")
	m.Parked()
	m.Parked()
	m.Unparked("resumed", 3*time.Second)
	m.FellBack("elicitation", "explain")
	m.Batched(mcp.Client, 3, true)
	m.Batched(mcp.Client, 1000, false)
	m.Answered(mcp.ToolsCall, mcp.Result, 30*time.Millisecond)
	m.Worked(mcp.ToolsCall, 40*time.Microsecond)
	m.Answered(mcp.ToolsCall, mcp.Failure, time.Second)
	m.Worked(mcp.ToolsCall, time.Millisecond)
	m.Failed(mcp.Server, "unreachable")
}

func TestExposition(t *testing.T) {
	m, reg := newMetrics()
	m.WatchPool(func() map[string]int { return map[string]int{"busy": 2, "idle": 1, "odd": 7} })
	observe(m)
	share(m)
	got := exposition(reg)
	golden := filepath.Join("testdata", "exposition.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("exposition differs from %s (run with -update to accept):\n%s", golden, got)
	}
}

func TestConcurrentUse(t *testing.T) {
	m, reg := newMetrics()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 200 {
				observe(m)
				exposition(reg)
			}
		})
	}
	wg.Wait()
	want := 16 * 200
	if got := value(t, reg, "mcpbridge_rewrites_total"); got != float64(want) {
		t.Errorf("rewrites = %v, want %d", got, want)
	}
	if got := value(t, reg, "mcpbridge_sessions_active"); got != float64(want) {
		t.Errorf("active sessions = %v, want %d", got, want)
	}
}

func BenchmarkReceived(b *testing.B) {
	m, _ := newMetrics()
	b.ReportAllocs()
	for b.Loop() {
		m.Received(mcp.Client, mcp.Request, mcp.ToolsCall)
	}
}
