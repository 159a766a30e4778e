package rewrite

import (
	"slices"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// Revision is one rung: a version and what it changed.
type Revision struct {
	Version mcp.Version
	Traits  mcp.Traits
	Changes []Change
}

// Ladder lists revisions, oldest first.
type Ladder []Revision

// Standard returns the revisions that the bridge speaks.
func Standard() Ladder {
	return Ladder{rev20241105(), rev20250326(), rev20250618(), rev20251125(), rev20260728()}
}

// Versions returns the versions of the rungs, oldest first.
func (l Ladder) Versions() []mcp.Version {
	out := make([]mcp.Version, len(l))
	for i := range l {
		out[i] = l[i].Version
	}
	return out
}

// Handshakes returns the rungs whose conversations open with a handshake.
func (l Ladder) Handshakes() Ladder {
	return slices.DeleteFunc(slices.Clone(l), func(r Revision) bool { return r.Traits.Opening != mcp.Initialize })
}

// Speaks reports whether v is a rung.
func (l Ladder) Speaks(v mcp.Version) bool { return l.index(v) >= 0 }

// Traits returns the traits of a version, the zero value for one that is no
// rung.
func (l Ladder) Traits(v mcp.Version) mcp.Traits {
	if i := l.index(v); i >= 0 {
		return l[i].Traits
	}
	return mcp.Traits{}
}

func (l Ladder) index(v mcp.Version) int {
	return slices.IndexFunc(l, func(r Revision) bool { return r.Version == v })
}

// Changes returns the names of all changes, in the order of the ladder.
func (l Ladder) Changes() []string {
	var out []string
	for _, r := range l {
		for _, c := range r.Changes {
			out = append(out, c.Name)
		}
	}
	return out
}
