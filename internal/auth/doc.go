// Package auth finds out who a request of a client speaks for, for upstreams
// that have no authentication of their own: by bearer tokens that the
// operator chose, by JSON Web Tokens of an authorization server, or by client
// certificates.
//
// It answers who someone is, never what they may do, but for the scopes that
// an operator requires. It refuses to issue tokens, to follow what a token
// says about where its keys are, to tell a client why it was refused, and to
// write any part of a credential anywhere.
//
// The cheap checks come first: a request costs a signature only when all that
// its token claims would be right, and signatures take half of the processors
// at most.
package auth
