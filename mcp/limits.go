package mcp

// The limits of an operator, by their keys in a configuration: errors and
// metrics name a limit by its key.
const (
	LimitHeader         = "max_header"                 // bytes of the header of a request
	LimitBody           = "max_body"                   // bytes of a message
	LimitDepth          = "max_depth"                  // levels of nesting of a message
	LimitBatch          = "max_batch"                  // elements of a batch
	LimitSessions       = "max_sessions"               // sessions
	LimitSessionsOfOne  = "max_sessions_per_principal" // of one principal
	LimitStreams        = "max_streams_per_session"    // streams that are open
	LimitCalls          = "max_calls_per_session"      // calls under way
	LimitQueuedMessages = "max_queued_messages"        // messages that wait for the reader of a stream
	LimitQueuedBytes    = "max_queued_bytes"           // their size
	LimitParked         = "max_parked_calls"           // calls of a conversation that wait for their client
	LimitPooled         = "max_pooled"                 // conversations of stateless clients
	LimitPooledOfOne    = "max_pooled_per_principal"   // of one principal
	LimitConnect        = "connect_timeout"            // to reach the server
	LimitHandshake      = "handshake_timeout"          // for a handshake in all
	LimitRequest        = "request_timeout"            // silence of the server within a request
	LimitSession        = "session_timeout"            // of an idle session
	LimitElicitation    = "elicitation_timeout"        // for a person to answer
	LimitPark           = "park_timeout"               // for a client to come back to a parked call
	LimitPoolIdle       = "pool_idle"                  // of an idle conversation of stateless clients
)

// LimitNames lists the keys of the limits.
func LimitNames() []string {
	return []string{
		LimitHeader, LimitBody, LimitDepth, LimitBatch, LimitSessions, LimitSessionsOfOne, LimitStreams, LimitCalls,
		LimitQueuedMessages, LimitQueuedBytes, LimitParked, LimitPooled, LimitPooledOfOne,
		LimitConnect, LimitHandshake, LimitRequest, LimitSession, LimitElicitation, LimitPark, LimitPoolIdle,
	}
}

// Bounds of what an operator may set: what is read must stay readable, and
// must not cost a reader anything.
const (
	MinDepth = 16
	MaxDepth = 1024   // the default, far above what MCP needs
	MaxBatch = 10_000 // an element takes far more memory than the two bytes that it may be long
)
