// Package negotiate decides which versions the two legs speak: what to answer
// a client that proposes one, what to offer a server, and how to go on when
// the server refuses.
//
// Its plans are state machines without I/O. They know no version by name: the
// versions that the bridge speaks are handed in, oldest first. They refuse to
// guess what a version means.
package negotiate
