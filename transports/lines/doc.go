// Package lines frames messages as lines of text: one message, one line, as
// the stdio transport does and as an event stream does with its data.
//
// It refuses to know what a line holds, and to hold more of a line than its
// reader was told to take.
package lines
