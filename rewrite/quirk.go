package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Quirk is a repair for known misbehaving peers that must not be made for
// everybody. It acts in conversations with one of its peers; an operator may
// turn it on for others, and off (mcp.Quirks).
type Quirk struct {
	Name   string // verb first; metric label, and the name in a configuration
	Of     mcp.Side
	Doc    string // what the peers do wrong, and what is done about it
	Report string // the public report that it comes from
	// Peers are those for whom it acts unasked. A match that fits every name acts
	// before a server has told its own, too.
	Peers []mcp.ClientMatch
	// Early says that it acts on the handshake, when no server has told its name
	// yet: a rule of an operator's can then name clients only.
	Early bool

	// repair edits messages at the end of the peer; nil for a quirk that whoever
	// carries messages sees to (Facing.Quirk).
	repair func(*Edit)
}

// QuirkNames returns the names of all quirks.
func QuirkNames() []string {
	var names []string
	for _, q := range Quirks() {
		names = append(names, q.Name)
	}
	return names
}

// Quirk reports whether the quirk of that name acts in this conversation. It
// is the caller who counts its use.
func (f Facing) Quirk(name string) bool {
	all := Quirks()
	i := slices.IndexFunc(all, func(q Quirk) bool { return q.Name == name })
	return i >= 0 && all[i].acts(f)
}

func (q Quirk) acts(f Facing) bool {
	if enabled, said := f.Options.Quirks.Decide(q.Name, f.Client, f.Server); said {
		return enabled
	}
	peer := f.Client
	if q.Of == mcp.Server {
		peer = f.Server
	}
	return slices.ContainsFunc(q.Peers, func(m mcp.ClientMatch) bool { return m.Fits(peer) })
}

// quirks returns the repairs at one end of the pipeline.
func (f Facing) quirks(of mcp.Side) step {
	var edits []namedEdit
	for _, q := range Quirks() {
		if q.Of == of && q.repair != nil && q.acts(f) {
			edits = append(edits, namedEdit{q.Name, q.repair})
		}
	}
	return step{toClient: edits, toServer: edits, quirks: true}
}

// ValidQuirk reports what is wrong with a rule as a *mcp.FieldError: its field
// is "name", or of a match as "client.version".
func ValidQuirk(r mcp.QuirkRule) error {
	all := Quirks()
	i := slices.IndexFunc(all, func(q Quirk) bool { return q.Name == r.Quirk })
	if i < 0 {
		return &mcp.FieldError{Field: "name", Problem: fmt.Sprintf("%q is no quirk; those are %s", r.Quirk, strings.Join(QuirkNames(), ", "))}
	}
	if named := r.Server.Name != "" && r.Server.Name != "*" || r.Server.Version != ""; all[i].Early && named {
		return &mcp.FieldError{Field: "server", Problem: fmt.Sprintf("%s acts before a server has told its name; leave server out, on the route of that server", r.Quirk)}
	}
	for _, one := range []struct {
		side  string
		match mcp.ClientMatch
	}{{"client", r.Client}, {"server", r.Server}} {
		if one.match == (mcp.ClientMatch{}) {
			continue
		}
		if wrong, is := one.match.Valid().(*mcp.FieldError); is {
			return &mcp.FieldError{Field: one.side + "." + wrong.Field, Problem: wrong.Problem}
		}
	}
	return nil
}
