package route_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/internal/route"
	"github.com/mcpbridge/mcpbridge/mcp"
)

func client(name, version, protocol string, header ...string) route.Client {
	info := mcp.NewObject()
	info.Set("name", mcp.Quote(name))
	info.Set("version", mcp.Quote(version))
	c := route.Client{Peer: mcp.Peer{Version: mcp.Version(protocol), Info: info}, Header: http.Header{}}
	for i := 0; i < len(header); i += 2 {
		c.Header.Add(header[i], header[i+1])
	}
	return c
}

func TestRules(t *testing.T) {
	branches := []route.Branch{
		{Name: "canary", Rule: route.Rule{Header: map[string]mcp.Glob{"X-Canary": "yes*"}}},
		{Name: "old", Rule: route.Rule{ClientMatch: mcp.ClientMatch{Protocol: "<2025-03-26"}}},
		{Name: "cursor", Rule: route.Rule{ClientMatch: mcp.ClientMatch{Name: "cursor*", Version: ">=1.2 <2"}}},
		{Name: "rest", Weight: 1},
		{Name: "closed"},
	}
	for name, tc := range map[string]struct {
		client route.Client
		want   []int
		by     route.By
	}{
		"protocol":        {client("x", "1", "2024-11-05"), []int{1, 3}, route.ByRule},
		"protocol, above": {client("x", "1", "2025-03-26"), []int{3}, route.ByWeight},
		"no date":         {client("x", "1", "draft"), []int{3}, route.ByWeight},
		"name":            {client("cursor-vscode", "1.9", "2025-06-18"), []int{2, 3}, route.ByRule},
		"name, too new":   {client("cursor-vscode", "2.0", "2025-06-18"), []int{3}, route.ByWeight},
		"two rules":       {client("cursor-vscode", "1.2", "2024-11-05"), []int{1, 2, 3}, route.ByRule},
		"header":          {client("x", "1", "2024-11-05", "x-canary", "no", "X-Canary", "yes, please"), []int{0, 1, 3}, route.ByRule},
		"other header":    {client("x", "1", "2025-06-18", "X-Canary", "no"), []int{3}, route.ByWeight},
		"nothing known":   {route.Client{}, []int{3}, route.ByWeight},
	} {
		got, err := route.Choose(branches, tc.client, route.Point{})
		if err != nil || len(got) != len(tc.want) || got[0].By != tc.by {
			t.Errorf("%s: %v %v, want %v by %s", name, got, err, tc.want, tc.by)
			continue
		}
		for i, c := range got {
			if c.Branch != tc.want[i] {
				t.Errorf("%s: %v, want %v", name, got, tc.want)
			}
		}
	}
}

// Who fits nowhere hears which rules there are, but not what a header must be.
func TestNobody(t *testing.T) {
	branches := []route.Branch{
		{Name: "new", Rule: route.Rule{ClientMatch: mcp.ClientMatch{Name: "cursor*", Protocol: ">=2025-06-18"}, Header: map[string]mcp.Glob{"X-Key": "hush"}}},
		{Name: "old"},
	}
	_, err := route.Choose(branches, client(strings.Repeat("n", 100), "3", "2024-11-05"), route.Point{})
	var nobody *route.Nobody
	if !errors.As(err, &nobody) {
		t.Fatalf("the error is %v", err)
	}
	for _, want := range []string{`new wants name "cursor*", protocol ">=2025-06-18", header X-Key; old has weight 0`, `protocol version "2024-11-05"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %s", err, want)
		}
	}
	if strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), strings.Repeat("n", 65)) {
		t.Errorf("%v says too much", err)
	}
}

// points are clients in a fixed order of chance.
func points(seed uint64, n int) []route.Point {
	random := rand.New(rand.NewPCG(seed, 1))
	all := make([]route.Point, n)
	for i := range all {
		for j := 0; j < sha256.Size; j += 8 {
			binary.BigEndian.PutUint64(all[i][j:], random.Uint64())
		}
	}
	return all
}

func weighed(weights ...int) []route.Branch {
	var all []route.Branch
	for i, w := range weights {
		all = append(all, route.Branch{Name: string(rune('a' + i)), Weight: w})
	}
	return all
}

func first(t *testing.T, b []route.Branch, p route.Point) int {
	t.Helper()
	order, err := route.Choose(b, route.Client{}, p)
	if err != nil {
		t.Fatal(err)
	}
	return order[0].Branch
}

// Each branch gets its share: within five standard deviations.
func TestShares(t *testing.T) {
	const n = 20_000
	for seed, weights := range [][]int{{1}, {1, 1}, {90, 10}, {99, 1}, {1, 2, 3, 4}, {0, 5, 5}, {route.MaxWeight, 1}} {
		total := 0
		for _, w := range weights {
			total += w
		}
		count := make([]int, len(weights))
		for _, p := range points(uint64(seed), n) {
			count[first(t, weighed(weights...), p)]++
		}
		for i, w := range weights {
			share := float64(w) / float64(total)
			if off := math.Abs(float64(count[i]) - n*share); off > 1+5*math.Sqrt(n*share*(1-share)) {
				t.Errorf("weights %v: %v of %d", weights, count, n)
			}
		}
	}
}

// When one weight grows nobody leaves that branch, and nobody moves between two
// others; when it shrinks again all are where they were.
func TestGrowthIsMonotone(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 50 {
		before := weighed(random.IntN(100), 1+random.IntN(100), random.IntN(100))
		after := append([]route.Branch{}, before...)
		grows := random.IntN(len(after))
		after[grows].Weight += 1 + random.IntN(100)
		for _, p := range points(random.Uint64(), 200) {
			was, is := first(t, before, p), first(t, after, p)
			if was != is && is != grows {
				t.Fatalf("%v to %v: a client moved from %d to %d", before, after, was, is)
			}
		}
	}
}

// Two weights that change against each other move clients one way only, and the
// order of the list and the choice of units do not matter.
func TestShiftIsMonotone(t *testing.T) {
	for _, p := range points(3, 500) {
		last := 0
		for step := range 101 {
			now := first(t, weighed(100-step, step), p)
			if now < last {
				t.Fatalf("a client that was moved is back at %d percent", step)
			}
			last = now
			turned := []route.Branch{{Name: "b", Weight: 7 * step}, {Name: "a", Weight: 7 * (100 - step)}}
			if got := first(t, turned, p); got != 1-now {
				t.Fatalf("turned round at %d percent the choice is another", step)
			}
		}
		if last != 1 {
			t.Fatal("at 100 percent a client is left behind")
		}
	}
}

// The next to try is who would be chosen without the first.
func TestFalloverOrder(t *testing.T) {
	for _, p := range points(5, 500) {
		order, err := route.Choose(weighed(3, 2, 1), route.Client{}, p)
		if err != nil || len(order) != 3 {
			t.Fatal(order, err)
		}
		without := weighed(3, 2, 1)
		without[order[0].Branch].Weight = 0
		if got := first(t, without, p); got != order[1].Branch {
			t.Fatalf("%v, but without the first %d", order, got)
		}
	}
}
