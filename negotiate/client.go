package negotiate

import (
	"slices"

	"github.com/mcpbridge/mcpbridge/mcp"
)

// ForClient chooses the version a client is answered with. speaks lists the
// versions served downstream, oldest first; it must not be empty.
//
// A client gets the version it asks for when that is served (basic/lifecycle
// "Version Negotiation": MUST). Otherwise a date before all that are served
// gets the oldest, since such a client understands nothing newer, and so does
// a client that names none; everything else gets the newest.
func ForClient(requested mcp.Version, speaks []mcp.Version) mcp.Version {
	if slices.Contains(speaks, requested) {
		return requested
	}
	oldest, newest := speaks[0], speaks[len(speaks)-1]
	if requested == "" || requested.IsDate() && requested < oldest {
		return oldest
	}
	return newest
}

// Header reports whether a version header of a request inside a session may
// be served. A missing header says nothing; a version that is spoken is
// accepted even when another one was negotiated, because real clients pin
// one; anything else must be refused with status 400 (basic/transports
// "Protocol Version Header").
func Header(value string, speaks []mcp.Version) bool {
	return value == "" || slices.Contains(speaks, mcp.Version(value))
}

// Unsupported is the error for a conversation that has no common version.
func Unsupported(requested mcp.Version, speaks []mcp.Version) *mcp.Error {
	names := make([]string, len(speaks))
	for i, v := range speaks {
		names[i] = string(v)
	}
	data := mcp.NewObject()
	data.Set("supported", mcp.Strings(names))
	data.Set("requested", mcp.Quote(string(requested)))
	return &mcp.Error{Code: mcp.CodeInvalidParams, Message: "Unsupported protocol version", Data: data.Raw()}
}
