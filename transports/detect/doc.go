// Package detect finds out whether a server speaks Streamable HTTP or the
// older HTTP+SSE, as the specification tells clients to (basic "Transports",
// Backwards Compatibility), and then talks to it so.
//
// It refuses to guess: the older transport is spoken only to a server whose
// event stream has named a message endpoint, and in every other case the
// answer to the first attempt stands.
package detect
