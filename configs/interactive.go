package configs

// SharedInteractive says whether a process that all sessions share may ask
// their clients something.
type SharedInteractive string

// The choices.
const (
	InteractiveOff       SharedInteractive = "off"       // it may ask nobody
	InteractiveSerialize SharedInteractive = "serialize" // the calls that may ask take turns
)

// SharedInteractives returns the choices, the default first.
func SharedInteractives() []string {
	return []string{string(InteractiveOff), string(InteractiveSerialize)}
}

// Serializes reports whether the calls of a shared process take turns.
func (r Route) Serializes() bool { return r.SharedInteractive == InteractiveSerialize }

func (r Route) checkInteractive(p *Problems) {
	const field = "shared_interactive"
	p.oneOf(field, string(r.SharedInteractive), SharedInteractives())
	if r.Serializes() && r.StdioMode != Shared {
		p.add(field, "only a process that all sessions share needs it; leave it out, or choose the stdio mode %q", Shared)
	}
}
