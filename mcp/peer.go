package mcp

// Peer is what a handshake told about one side.
type Peer struct {
	Version      Version
	Info         *Object // clientInfo or serverInfo
	Capabilities *Object
	Instructions string
}

// Name returns the peer's own name and version, which are claims for display
// and never ground for a decision about trust.
func (p Peer) Name() (name, version string) {
	return p.Info.Text("name"), p.Info.Text("version")
}

// Declares reports whether the peer declared a capability. A path has the
// capability and optionally a member of it: "elicitation", "sampling/tools".
// Capabilities are objects; another type declares nothing.
func (p Peer) Declares(capability string, member ...string) bool {
	o := p.Capabilities.object(capability)
	for _, m := range member {
		o = o.object(m)
	}
	return o != nil
}

// Side names a leg by who stands at its end.
type Side uint8

// The two sides of a conversation.
const (
	Client Side = iota + 1
	Server
)

// Other returns the opposite side.
func (s Side) Other() Side {
	if s == Client {
		return Server
	}
	return Client
}

// String returns "client" or "server".
func (s Side) String() string {
	if s == Client {
		return "client"
	}
	return "server"
}
