// Package eventstream frames messages as server-sent events and reads such
// streams as the WHATWG HTML standard, section "Server-sent events", says.
//
// It refuses to know what an event holds: whoever reads decides which types
// matter. It refuses to reconnect, and to hold more than one event in memory.
package eventstream
