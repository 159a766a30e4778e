// Package golden plays transcripts through the core of the bridge: what two
// scripted peers send, and what must come out. It is for tests only and opens
// no connection.
//
// A transcript is a txtar archive. Its comment says what it shows; the file
// "setup" has the peers and options, one "key: value" a line; the file
// "transcript" has steps and what each must produce:
//
//	client> JSON        the client POSTs a message; each POST is a turn: 1, 2, ...
//	client> GET         the client opens its standalone stream, the turn "get"
//	client> close T     the client leaves turn T, which cancels
//	client2> JSON       the same from a second client on the same server link
//	server> JSON        the server answers, or sends on its standalone stream
//	server[N]> JSON     the server sends on the stream of the bridge's request N
//	server> GET ok|none the server's answer to a GET of the bridge
//	server> fail N      the exchange of the bridge's request N breaks
//	wait 10m            time passes
//
//	>server JSON        a message to the server, with its headers behind bars
//	>server GET         the bridge opens the server's standalone stream
//	>server abort N     the bridge gives up its exchange N
//	>client[T] JSON     a message to the client on turn T
//	>client[T] end      the turn's stream ends
//	rewrote NAME        a change altered a message
//	lost NAME: WHAT     a change reported a loss
//	fell FEATURE ACTION the bridge answered in place of the client
//
// With -update the outputs are written anew; conservation is checked all the
// same: every request is answered exactly once, and nobody answers what was
// not asked.
package golden
