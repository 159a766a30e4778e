// Package mcp is the vocabulary of the Model Context Protocol as a middlebox
// needs it: messages whose bodies stay the bytes their sender wrote, ids that
// keep their JSON type, and the names, codes, traits and policies the other
// packages agree on.
//
// It refuses to know what any protocol revision changed, to do I/O, and to
// decode a payload into Go values: numbers, escapes, member order and unknown
// members must reach the other side as they were.
package mcp
