package negotiate

// Probe says whether and how a server of unknown era is asked what it is
// before a conversation with it opens.
type Probe string

// The choices.
const (
	// ProbeAuto asks over HTTP for every client. A server behind a pipe may end
	// at what it does not know: it is asked only for clients of the stateless
	// revision, in a process or connection of its own.
	ProbeAuto Probe = "auto"
	// ProbeNever asks nothing: a handshake tells, and its refusal.
	ProbeNever Probe = "never"
	// ProbeSibling asks in a conversation of its own, before every kind of
	// client and server.
	ProbeSibling Probe = "sibling"
	// ProbeInline asks in the conversation itself, as the first thing in it. A
	// server that ends at that is started again, once.
	ProbeInline Probe = "inline"
)

// ProbeNames returns the choices a configuration may name, the default first.
func ProbeNames() []string {
	return []string{string(ProbeAuto), string(ProbeNever), string(ProbeSibling), string(ProbeInline)}
}
