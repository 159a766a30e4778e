// Package bridge joins client legs to server legs. It owns conversations:
// which session a message belongs to, which ids and progress tokens name it
// on each leg, which stream carries it, and what happens when a leg fails.
//
// Session and Link are the core: they decide, start no goroutine and read no
// clock. Bridge runs them: it holds the session table, performs the effects
// that the core returns, and keeps time.
//
// The package refuses to know what a revision changed; pipelines from package
// rewrite do the translating.
package bridge
