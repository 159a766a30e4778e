// Package route decides which of a route's upstreams takes a client: by rules,
// in their order, and else by weight. It refuses to draw, to remember and to
// connect: the point of a client is handed in, and the same input always gives
// the same order.
package route

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// By says why an upstream was chosen.
type By string

// The reasons.
const (
	ByRule     By = "rule"     // its rule fits the client
	ByWeight   By = "weight"   // its share
	ByFallover By = "fallover" // the one before it took no conversation
	BySticky   By = "sticky"   // the client was there before
)

// Reasons returns all of them.
func Reasons() []string {
	return []string{string(ByRule), string(ByWeight), string(ByFallover), string(BySticky)}
}

// Bounds of a weight and of the upstreams of a route.
const (
	MaxWeight   = 1_000_000
	MaxBranches = 100
)

// Rule says which clients an upstream is for. What is empty fits all; what a
// client says is a claim, so a rule is no permission.
type Rule struct {
	mcp.ClientMatch
	// Header has patterns for headers of the request that opens the
	// conversation, by name; one value of each must fit.
	Header map[string]mcp.Glob
}

// Given reports whether the rule says anything.
func (r Rule) Given() bool { return r.ClientMatch != (mcp.ClientMatch{}) || len(r.Header) > 0 }

// Fits reports whether a client is meant.
func (r Rule) Fits(c Client) bool {
	for name, want := range r.Header {
		if !slices.ContainsFunc(c.Header.Values(name), want.Match) {
			return false
		}
	}
	return r.ClientMatch.Fits(c.Peer)
}

// String names the rule without the patterns of headers, which may be secrets.
func (r Rule) String() string {
	var parts []string
	for _, one := range []struct{ key, value string }{{"name", string(r.Name)}, {"version", r.Version}, {"protocol", r.Protocol}} {
		if one.value != "" {
			parts = append(parts, fmt.Sprintf("%s %q", one.key, one.value))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		parts = append(parts, "header "+name)
	}
	return strings.Join(parts, ", ")
}

// Branch is an upstream as far as the choice goes.
type Branch struct {
	Name string
	// Weight is its share among the branches without a rule; 0 takes nobody.
	Weight int
	// Rule, if given, reserves the branch for those whom it fits.
	Rule Rule
}

// Client is who is to be served.
type Client struct {
	Peer   mcp.Peer
	Header http.Header
}

// Point is where a client stands among all: a keyed hash of who it is, or a
// random draw.
type Point [sha256.Size]byte

// Choice is an upstream that may take a client, and why.
type Choice struct {
	Branch int // its place in the list
	By     By
}

// Choose returns the upstreams that may take a client, the chosen one first,
// then those to try when it takes no conversation: what fits by rule, in the
// order of the list, then the others in the order of the client's own draw. The
// error is a *Nobody.
//
// The draw is weighted rendezvous hashing: when the weight of one branch grows
// nobody leaves it, and nobody moves between two others.
func Choose(branches []Branch, c Client, at Point) ([]Choice, error) {
	var order []Choice
	type drawn struct {
		Choice
		score float64
	}
	var draw []drawn
	for i, b := range branches {
		switch {
		case b.Rule.Given():
			if b.Rule.Fits(c) {
				order = append(order, Choice{i, ByRule})
			}
		case b.Weight > 0:
			draw = append(draw, drawn{Choice{i, ByWeight}, score(b, at)})
		}
	}
	slices.SortStableFunc(draw, func(a, b drawn) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	for _, d := range draw {
		order = append(order, d.Choice)
	}
	if len(order) == 0 {
		return nil, &Nobody{Client: c.Peer, Branches: branches}
	}
	return order, nil
}

// score is weight / -ln(u), with u in (0,1) from the point and the branch's
// name: the greatest score is a branch's with the probability of its share.
func score(b Branch, at Point) float64 {
	h := sha256.New()
	_, _ = h.Write(at[:]) // never fails (hash.Hash)
	_, _ = h.Write([]byte(b.Name))
	bits := binary.BigEndian.Uint64(h.Sum(nil)) >> 11 // 53, as a float64 holds
	u := (float64(bits) + 0.5) / (1 << 53)
	return float64(b.Weight) / -math.Log(u)
}

// Nobody says that no upstream takes a client.
type Nobody struct {
	Client   mcp.Peer
	Branches []Branch
}

// Error names the rules that do not fit.
func (e *Nobody) Error() string {
	name, version := e.Client.Name()
	parts := make([]string, len(e.Branches))
	for i, b := range e.Branches {
		parts[i] = b.Name + " has weight 0"
		if b.Rule.Given() {
			parts[i] = fmt.Sprintf("%s wants %s", b.Name, b.Rule)
		}
	}
	return fmt.Sprintf("no upstream here takes the client %q version %q with protocol version %q: %s; the operator can add an upstream without match and with a weight, or a match that fits",
		clip(name), clip(version), clip(string(e.Client.Version)), strings.Join(parts, "; "))
}

// clip bounds what a client says of itself.
func clip(s string) string {
	if len(s) > 64 {
		return s[:64]
	}
	return s
}
