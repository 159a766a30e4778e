package metrics_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// value sums a metric over all its series.
func value(t *testing.T, reg *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		for _, s := range f.GetMetric() {
			if f.GetName() == name {
				sum += s.GetCounter().GetValue() + s.GetGauge().GetValue()
			}
		}
	}
	return sum
}

func series(t *testing.T, reg *prometheus.Registry) map[string]int {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := make(map[string]int)
	for _, f := range families {
		n[f.GetName()] = len(f.GetMetric())
	}
	return n
}

func TestHostileValuesStayBounded(t *testing.T) {
	m, reg := newMetrics()
	for i := range 100_000 {
		bad := fmt.Sprintf("x/%d\xff\n\"", i)
		if i%2 == 0 {
			bad = fmt.Sprintf("%d-%s", i, strings.Repeat("long", 50))
		}
		if i%3 == 0 {
			bad = fmt.Sprintf("plain-%d", i)
		}
		version := mcp.Version(bad)
		p := mcp.Pair{Client: version, Server: version, ClientTransport: bad, ServerTransport: "t", ClientName: bad, ServerName: bad}
		m.SessionOpened(p)
		m.SessionClosed(p)
		m.Negotiated(mcp.Client, version, version)
		m.Received(mcp.Client, mcp.Kind(i%256), bad)
		m.Sent(mcp.Side(i%256), mcp.Notification, bad)
		m.Rewritten(bad)
		m.Lost(bad, mcp.Verdict(bad))
		m.FellBack(bad, bad)
		m.Judged(bad, bad)
		m.Reclassified(bad, bad)
		m.Listened(mcp.Side(i%256), bad)
		m.ListenEnded(mcp.Side(i % 256))
		m.Relearned(bad)
		m.Quirked(bad)
		m.Rounds(i)
		m.Batched(mcp.Client, i, true)
		m.Answered(bad, mcp.Kind(i%256), time.Duration(i))
		m.Worked(bad, -time.Duration(i))
		m.Chosen(bad, bad)
		m.Of(bad).Failed(mcp.Server, bad)
		m.Failed(mcp.Server, bad)
	}
	for name, n := range series(t, reg) {
		if n > 500 {
			t.Errorf("%s has %d series", name, n)
		}
	}
	if got := value(t, reg, "mcpbridge_rewrites_total"); got != 100_000 {
		t.Errorf("rewrites = %v: a value outside the set must be counted too", got)
	}
	if got := value(t, reg, "mcpbridge_listens_open"); got != 0 {
		t.Errorf("open listens = %v after all were closed", got)
	}
	if got := value(t, reg, "mcpbridge_sessions_active"); got != 0 {
		t.Errorf("active sessions = %v after all were closed", got)
	}
}

// The first constants of names.go are the methods; each has a series of its
// own.
func TestEveryMethodHasASeries(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../mcp/names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	m, reg := newMetrics()
	names := 0
	for _, spec := range file.Decls[0].(*ast.GenDecl).Specs {
		for _, v := range spec.(*ast.ValueSpec).Values {
			name, err := strconv.Unquote(v.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			m.Received(mcp.Client, mcp.Request, name)
			names++
			if !strings.Contains(exposition(reg), fmt.Sprintf("method=%q", name)) {
				t.Errorf("%s is counted as other", name)
			}
		}
	}
	if got := series(t, reg)["mcpbridge_messages_total"]; got != names || names == 0 {
		t.Errorf("%d series for %d methods", got, names)
	}
}
