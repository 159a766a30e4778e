// Package configs is what an operator chooses: types, defaults, and checks
// whose messages a person understands.
//
// It refuses to read flags, variables or files, to open anything, and to put a
// header value or a credential into an error.
package configs
