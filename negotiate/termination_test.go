package negotiate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mcpbridge/mcpbridge/mcp"
	"github.com/mcpbridge/mcpbridge/negotiate"
)

// stubborn returns an answer that no handshake likes.
func stubborn(r *rand.Rand) answer {
	words := []string{
		"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2024-10-07", "2026-07-28", "9999-99-99",
		"version", "MCP-Protocol-Version", "Bad Request", "header", `\"`, "",
	}
	say := func() string {
		var s []string
		for range r.IntN(5) {
			s = append(s, words[r.IntN(len(words))])
		}
		return strings.Join(s, []string{" ", ",", "-", ""}[r.IntN(4)])
	}
	if r.IntN(2) == 0 {
		return refuses(400, say())
	}
	code := []int{-32602, -32600, -32022, -32603, -32000}[r.IntN(5)]
	return says(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":"version %s","data":{"x":["%s"]}}}`, code, say(), say()))
}

// Whatever a server says, the handshake ends, offers only what it may, and
// nothing twice.
func TestHandshakesTerminate(t *testing.T) {
	longest := 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 0))
		from := r.IntN(4)
		offers := legacy()[from : from+1+r.IntN(4-from)]
		first := []mcp.Version{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2024-10-07", "2026-07-28"}[r.IntN(6)]
		h := negotiate.NewHandshake(first, offers, legacy())
		var made []string
		for offer := h.First(); ; {
			made = append(made, offered(offer))
			checkOffers(t, seed, made, offers)
			v := hear(t, h, stubborn(r))
			if v.Agreed != "" || v.Fault != nil {
				t.Fatalf("seed %d: a refusal ends in %+v", seed, v)
			}
			if v.Next == nil {
				break
			}
			offer = *v.Next
		}
		longest = max(longest, len(made))
	}
	if longest < len(legacy()) {
		t.Errorf("no handshake took more than %d offers: the test says little", longest)
	}
}

// checkOffers looks at the offers made so far, the last one above all.
func checkOffers(t *testing.T, seed uint64, made []string, offers []mcp.Version) {
	t.Helper()
	last := made[len(made)-1]
	version, header := strings.CutSuffix(last, "+header")
	switch {
	case len(made) > len(offers)+2:
		t.Fatalf("seed %d: too many offers: %q", seed, made)
	case !slices.Contains(offers, mcp.Version(version)):
		t.Fatalf("seed %d: %s is not to be offered", seed, version)
	case slices.Index(made, last) != len(made)-1:
		t.Fatalf("seed %d: %s is offered twice: %q", seed, last, made)
	case len(made) == 1 && header:
		t.Fatalf("seed %d: the first offer has a header", seed)
	case len(made) > 1 && !header && strings.HasSuffix(made[len(made)-2], "+header"):
		t.Fatalf("seed %d: the header is gone again: %q", seed, made)
	}
}
